# One translation unit a header, which includes only that header (twice): every face compiles alone.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/src/corridor/*.h)
set(units)
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER ${header} unit)
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/headers_alone/${unit}.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n#include \"${header}\"\n" @ONLY)
  list(APPEND units ${unit})
endforeach()
if(CORRIDOR_SANITIZE)
  return()  # one build of these is enough
endif()
add_library(headers_alone OBJECT ${units})
target_link_libraries(headers_alone PRIVATE corridor_views CLI11::CLI11 corridor_options corridor_light)
set_target_properties(headers_alone PROPERTIES CXX_CLANG_TIDY "")
set_source_files_properties(${units} PROPERTIES COMPILE_OPTIONS "-O0")  # nobody runs them
