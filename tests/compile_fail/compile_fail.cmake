# Wrong units must not compile: each case is one run of the compiler, judged by its diagnostic.
set(compile_case ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -Wno-unused-function -I${CMAKE_SOURCE_DIR}/src
    ${CMAKE_CURRENT_LIST_DIR}/wrong_units.cpp)
add_test(NAME compile_fail.control_compiles COMMAND ${compile_case} -DCASE=0)

set(names bytes_over_flop_rate bytes_plus_flops number_to_bytes seconds_to_number bytes_against_flops number_added)
set(case 0)
foreach(name IN LISTS names)
  math(EXPR case "${case} + 1")
  add_test(NAME compile_fail.${name} COMMAND ${compile_case} -DCASE=${case})
  set_tests_properties(compile_fail.${name} PROPERTIES PASS_REGULAR_EXPRESSION
    "wrong_units.cpp:[0-9]+:[0-9]+: error: .*(convert|conversion|no match for|invalid operands)")
endforeach()
