# With CORRIDOR_TOGETHER the sources of a module are compiled a group at a time: a third of the time for a fresh build.
file(STRINGS ${CMAKE_SOURCE_DIR}/cmake/together.txt together_lines REGEX "^[0-9]")
function(corridor_together target sources)
  if(NOT CORRIDOR_TOGETHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP 1)
  foreach(line IN LISTS together_lines)
    string(REGEX MATCH "^([0-9]+) (.+)$" line "${line}")
    if(CMAKE_MATCH_1 EQUAL 0)
      set_source_files_properties(${CMAKE_SOURCE_DIR}/${CMAKE_MATCH_2} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    else()
      set_source_files_properties(${CMAKE_SOURCE_DIR}/${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_1})
    endif()
  endforeach()
endfunction()

# Their code only turns results into text, and the recorded commands run all of it with the sanitizers too: with a
# sanitizer their own tests are left out, for the time they cost to compile.
set(modules_of_text report views)

# The readers carry what libFuzzer steers by (its -fsanitize=fuzzer-no-link cannot be mixed with precompiled headers); the
# rest does without, because it nearly doubles the time of the tests.
set(modules_fuzzed base units hardware model profile ptx)
set(fuzzer_hooks -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)

# They read small files once, turn results into text, or wait for what they time (the timed loops have options of their
# own): the time to compile them counts for more.
set(modules_light hardware model measure report app views)

# corridor_module(NAME LIBS …): library corridor_NAME from src/corridor/NAME/*.cpp, and NAME_test from its *_test.cpp.
function(corridor_module name)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  set(folder ${CMAKE_SOURCE_DIR}/src/corridor/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(sources)
    add_library(corridor_${name} STATIC ${sources})
    target_link_libraries(corridor_${name} PUBLIC ${arg_LIBS} corridor_options)
    corridor_together(corridor_${name} "${sources}")
    if(name IN_LIST modules_light)
      target_link_libraries(corridor_${name} PRIVATE corridor_light)
      corridor_precompiled(corridor_${name} light)
    else()
      corridor_precompiled(corridor_${name} module)
    endif()
    if(CORRIDOR_FUZZ AND name IN_LIST modules_fuzzed)
      target_compile_options(corridor_${name} PRIVATE ${fuzzer_hooks})
    endif()
  else()
    add_library(corridor_${name} INTERFACE)
    target_link_libraries(corridor_${name} INTERFACE ${arg_LIBS} corridor_options)
  endif()
  if(CORRIDOR_SANITIZE AND name IN_LIST modules_of_text)
    return()
  endif()
  if(CORRIDOR_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE corridor_${name} corridor_light
                          rapidcheck GTest::gmock GTest::gtest_main)
    corridor_precompiled(${name}_test test)
    target_compile_definitions(${name}_test PRIVATE CORRIDOR_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
