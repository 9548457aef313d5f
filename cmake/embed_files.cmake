# Script: writes OUT, a C++ file with the text of each of FILES (relative to ROOT) as a raw string, sorted by path.
set(text "// Generated from data/ by cmake/embed_files.cmake; do not edit.\n#include \"corridor/base/embedded.h\"\n\nnamespace corridor {\nnamespace {\nusing namespace std::string_view_literals;  // lengths known without counting\n")
string(APPEND text "constexpr EmbeddedFile files[] = {\n")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} body)
  string(APPEND text "  {\"${file}\", R\"CORRIDOR(${body})CORRIDOR\"sv},\n")
endforeach()
string(APPEND text "};\n}  // namespace\nstd::span<const EmbeddedFile> embedded_files() { return files; }\n}  // namespace corridor\n")
file(WRITE ${OUT} "${text}")
