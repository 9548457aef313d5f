# Compiler flags shared by everything in the project, on one interface target.
add_library(corridor_options INTERFACE)
target_include_directories(corridor_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(corridor_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # All report std::optional and std::string of the library of g++ 12, not our code.
  target_compile_options(corridor_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Whether a loop of the simulated lanes was vectorised says nothing about its result.
  target_compile_options(corridor_options INTERFACE -Wno-pass-failed)
  if(CORRIDOR_TOGETHER)  # a local name against the private constant of another file of its group
    target_compile_options(corridor_options INTERFACE -Wno-shadow)
  endif()
endif()
if(CORRIDOR_WERROR)
  target_compile_options(corridor_options INTERFACE -Werror)
endif()
if(CORRIDOR_SANITIZE)
  # Left out, for the time they cost to compile: a null or wrong object is an address error already when it is used.
  target_compile_options(corridor_options INTERFACE -fsanitize=${CORRIDOR_SANITIZE} -fno-sanitize=vptr,null,object-size
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(corridor_options INTERFACE -fsanitize=${CORRIDOR_SANITIZE})
endif()

# Code that runs once, where the time to compile counts for more: the command line, some modules and the tests themselves.
add_library(corridor_light INTERFACE)
target_compile_options(corridor_light INTERFACE $<$<CONFIG:Release>:-O1>)
