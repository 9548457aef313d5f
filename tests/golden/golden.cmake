# One ctest entry for each golden file and each document with recorded commands. To accept new output:
#   build/release/golden_runner --corridor build/release/corridor --update FILE…   (from the repository root)
add_executable(golden_runner golden/golden_runner.cpp)
target_link_libraries(golden_runner PRIVATE corridor_test_support)

function(corridor_recorded prefix file)
  file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${file})
  get_filename_component(name ${file} NAME_WLE)
  add_test(NAME ${prefix}.${name} COMMAND golden_runner --corridor $<TARGET_FILE:corridor> ${relative}
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${prefix}.${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

file(GLOB golden_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/golden/*.test)
foreach(file IN LISTS golden_files)
  corridor_recorded(golden ${file})
endforeach()

file(GLOB documents CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/*.md ${CMAKE_SOURCE_DIR}/docs/*.md ${CMAKE_SOURCE_DIR}/docs/design/*.md)
foreach(file IN LISTS documents)
  file(STRINGS ${file} commands REGEX "^\\$ [^ ]*corridor( |$)")
  if(commands)
    corridor_recorded(docs ${file})
  endif()
endforeach()
