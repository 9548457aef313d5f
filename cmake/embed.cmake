# corridor_embed_data(TARGET): compiles every file under data/ into TARGET as one sorted table of (path, text).
function(corridor_embed_data target)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/data
       ${CMAKE_SOURCE_DIR}/data/*.toml ${CMAKE_SOURCE_DIR}/data/*.json ${CMAKE_SOURCE_DIR}/data/*.csv
       ${CMAKE_SOURCE_DIR}/data/*.cu ${CMAKE_SOURCE_DIR}/data/*.ptx)
  list(SORT files)
  set(out ${CMAKE_BINARY_DIR}/embedded_data.cpp)
  list(TRANSFORM files PREPEND ${CMAKE_SOURCE_DIR}/data/ OUTPUT_VARIABLE paths)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DROOT=${CMAKE_SOURCE_DIR}/data "-DFILES=${files}"
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake VERBATIM)
  add_library(${target} STATIC ${out})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
endfunction()
