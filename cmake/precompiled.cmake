# Precompiled headers: what nearly every file includes, for the modules, for those that are compiled with little
# optimisation, and for tests.
# tests/headers_alone.cmake compiles every header without them, so they hide no missing include of a header.
if(NOT CORRIDOR_PCH)
  function(corridor_precompiled)
  endfunction()
  return()
endif()

set(often_included <algorithm> <array> <cmath> <cstdint> <map> <memory> <optional> <set> <span> <string> <string_view>
    <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "// A target needs a source file.\n" @ONLY)

# corridor_precompiled_set(KIND LIBS … HEADERS …): precompiles HEADERS as the target corridor_precompiled_KIND.
function(corridor_precompiled_set kind)
  cmake_parse_arguments(arg "" "" "LIBS;HEADERS" ${ARGN})
  add_library(corridor_precompiled_${kind} OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(corridor_precompiled_${kind} PRIVATE fmt::fmt tl::expected corridor_options ${arg_LIBS})
  target_precompile_headers(corridor_precompiled_${kind} PRIVATE ${arg_HEADERS})
endfunction()

corridor_precompiled_set(module HEADERS ${often_included})
corridor_precompiled_set(light LIBS corridor_light HEADERS ${often_included})
if(CORRIDOR_TESTS)
  corridor_precompiled_set(test LIBS corridor_light GTest::gmock
                           HEADERS ${often_included} <gmock/gmock.h> <gtest/gtest.h>)
endif()

# corridor_precompiled(TARGET KIND): TARGET, which has the compiler flags of that set, uses its headers.
function(corridor_precompiled target kind)
  target_precompile_headers(${target} REUSE_FROM corridor_precompiled_${kind})
endfunction()
