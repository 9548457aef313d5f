// SPDX-License-Identifier: Apache-2.0
// Reads PTX text: the level of the module.
#include "corridor/ptx/syntax/parse.h"

#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "corridor/ptx/syntax/body_reader.h"
#include "corridor/ptx/syntax/variable.h"

namespace corridor::ptx {
namespace {

constexpr std::size_t largest_text = std::size_t{1} << 30;

/// What stands before a function or variable.
struct Linkage {
  bool is_extern = false;
};

class ModuleReader {
 public:
  ModuleReader(Module& module, std::string_view text) : module_(module), reader_(text, module.name) {}
  bool read();
  [[nodiscard]] const std::optional<Error>& failure() const { return reader_.failure(); }

 private:
  bool head();
  bool directive();
  bool heading_directive(std::string_view word, bool& is_one);
  bool target();
  bool file();
  bool section();
  bool alias();
  bool variables(Space space);
  bool function(bool is_entry);
  bool function_head(Function& function);
  bool keep(Function function, std::string_view name);
  Module& module_;
  TokenReader reader_;
  ModuleNames names_;
  std::unordered_map<std::string_view, std::size_t> functions_;  ///< by name: index
  Linkage linkage_;
};

bool ModuleReader::read() {
  if (!head()) return false;
  while (reader_.token().kind != Token::Kind::end) {
    if (reader_.take(';')) continue;
    if (reader_.token().is('#')) {
      reader_.skip_line();
      continue;
    }
    if (reader_.token().is('@')) {  // @@DWARF of old compilers
      reader_.skip_line();
      continue;
    }
    if (reader_.token().kind != Token::Kind::dot) return reader_.expected("a directive");
    if (!directive()) return false;
  }
  return true;
}

/// The first directive tells PTX from other text.
bool ModuleReader::head() {
  while (reader_.token().is('#')) reader_.skip_line();
  const Token& token = reader_.token();
  if (token.kind == Token::Kind::dot && token.text == "version") return true;
  if (token.kind == Token::Kind::bad && token.text.substr(0, 9) == "a comment") return reader_.expected("");
  return reader_.error("not PTX text: it does not begin with .version",
                       "give the output of nvcc -ptx; of a cubin or executable, what cuobjdump -ptx prints");
}

bool ModuleReader::directive() {
  const std::string_view word = reader_.token().text;
  reader_.advance();
  if (word == "visible" || word == "weak" || word == "common") return true;
  if (word == "extern") {
    linkage_.is_extern = true;
    return true;
  }
  if (word == "entry" || word == "func") return function(word == "entry");
  if (const auto space = space_from(word)) return variables(*space);
  bool is_one = false;
  if (!heading_directive(word, is_one)) return false;
  if (is_one) return true;
  return reader_.error(fmt::format("unknown directive '.{}'", word.substr(0, 60)), "see the PTX grammar");
}

bool ModuleReader::heading_directive(std::string_view word, bool& is_one) {
  is_one = true;
  if (word == "version") {
    if (!module_.version.empty()) {
      return reader_.error("a second .version: two modules in one text", "split the file, one module each");
    }
    if (reader_.token().kind != Token::Kind::number) return reader_.expected("a version number");
    module_.version = reader_.token().text;
    reader_.advance();
    return true;
  }
  if (word == "target") return target();
  if (word == "address_size") return reader_.expect_count(module_.address_bits, "the address size");
  if (word == "file") return file();
  if (word == "section") return section();
  if (word == "alias") return alias();
  if (word == "pragma") return skip_pragma(reader_);
  SourceLine ignored;
  if (word == "loc") return read_location(reader_, ignored);
  is_one = false;
  return true;
}

/// ".target sm_90a, debug": the first word is kept.
bool ModuleReader::target() {
  std::string_view word;
  if (!reader_.expect_word(word, "an architecture such as sm_90")) return false;
  module_.target = word;
  while (reader_.take(',')) {
    if (!reader_.expect_word(word, "an option of .target")) return false;
  }
  return true;
}

/// After .file: number "name" [, time, size].
bool ModuleReader::file() {
  std::uint32_t number = 0;
  if (!reader_.expect_count(number, "a file number")) return false;
  if (reader_.token().kind != Token::Kind::string) return reader_.expected("the name of a file");
  module_.files[number] = std::string(reader_.token().text);
  reader_.advance();
  std::uint64_t ignored = 0;
  while (reader_.take(',')) {
    if (!reader_.integer(ignored, "time or size of a file")) return false;
  }
  return true;
}

/// After .section: ".debug_info { … }", passed over.
bool ModuleReader::section() {
  if (reader_.token().kind != Token::Kind::dot && reader_.token().kind != Token::Kind::word) {
    return reader_.expected("the name of a section");
  }
  reader_.advance();
  return reader_.skip_block();
}

bool ModuleReader::alias() {
  std::string_view name;
  std::string_view function;
  if (!reader_.expect_word(name, "a name") || !reader_.expect(',') || !reader_.expect_word(function, "a function")) {
    return false;
  }
  module_.aliases[std::string(name)] = std::string(function);
  names_.insert(name);
  return reader_.expect(';');
}

bool ModuleReader::variables(Space space) {
  std::vector<std::string_view> declared;
  const bool is_extern = std::exchange(linkage_, {}).is_extern;
  if (space == Space::reg || space == Space::param) {
    return reader_.error("registers and parameters at module level", "declare them in a function");
  }
  if (!read_variables(reader_, space, is_extern, module_.variables, declared)) return false;
  names_.insert(declared.begin(), declared.end());
  return true;
}

/// After .entry or .func, up to the body or ';'.
bool ModuleReader::function_head(Function& function) {
  while (reader_.token().kind == Token::Kind::dot) {
    bool is_one = false;
    if (!read_performance_directive(reader_, function, is_one)) return false;
  }
  if (reader_.take('(') && !read_parameters(reader_, function.results)) return false;
  std::string_view name;
  function.line = reader_.token().line;
  if (!reader_.expect_word(name, "the name of a function")) return false;
  function.name = name;
  names_.insert(name);
  if (reader_.take('(') && !read_parameters(reader_, function.parameters)) return false;
  bool is_one = true;
  while (is_one) {
    if (!read_performance_directive(reader_, function, is_one)) return false;
  }
  return true;
}

bool ModuleReader::function(bool is_entry) {
  linkage_ = {};
  Function function;
  function.is_entry = is_entry;
  if (!function_head(function)) return false;
  const auto name = names_.find(function.name);
  const std::string_view key = *name;
  if (reader_.take(';')) {
    function.is_declaration = true;
    return keep(std::move(function), key);
  }
  if (!reader_.expect('{') || !BodyReader(reader_, names_, function).read()) return false;
  return keep(std::move(function), key);
}

/// A definition takes the place of its declaration; a declaration that comes after it says nothing new.
bool ModuleReader::keep(Function function, std::string_view name) {
  const auto [found, is_new] = functions_.try_emplace(name, module_.functions.size());
  if (is_new) {
    module_.functions.push_back(std::move(function));
    return true;
  }
  Function& known = module_.functions[found->second];
  if (function.is_declaration) return true;
  if (!known.is_declaration) {
    return reader_.error(fmt::format("function {} is defined twice (also at line {})", function.name, known.line),
                         "rename one", function.line);
  }
  known = std::move(function);
  return true;
}

}  // namespace

Result<Module> parse_module(std::string text, std::string name) {
  if (text.size() > largest_text) {
    return fail(fmt::format("{} bytes of text are more than {}", text.size(), largest_text), name, "split the file");
  }
  Module module;
  module.text = std::make_shared<const std::string>(std::move(text));
  module.name = std::move(name);
  ModuleReader reader(module, *module.text);
  if (reader.read()) return module;
  return tl::unexpected<Error>(*reader.failure());
}

}  // namespace corridor::ptx
