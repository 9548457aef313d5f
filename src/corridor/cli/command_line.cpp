// SPDX-License-Identifier: Apache-2.0
// Words the errors of the command line and lays out its help.
#include "corridor/cli/command_line.h"

#include <algorithm>

#include "corridor/base/nearest.h"

namespace corridor::cli {
namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t help_column = 26;  // where descriptions begin

/// Columns of a text of single-width characters.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// One line over as many as it needs; further ones start below its description, or at the margin.
void wrap_line(const std::string& line, std::string& out) {
  if (width_of(line) <= columns) {
    out += line + "\n";
    return;
  }
  const std::string indent(line.front() == ' ' ? help_column : 0, ' ');
  const std::size_t first_word = std::min(line.find_first_not_of(' '), line.size());
  std::string current = line.substr(0, first_word);
  bool empty = true;
  for (std::size_t at = first_word; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::size_t next = std::min(line.find_first_not_of(' ', end), line.size());
    const std::string word = line.substr(at, end - at);
    if (!empty && width_of(current) + width_of(word) > columns) {
      while (!current.empty() && current.back() == ' ') current.pop_back();
      out += current + "\n";
      current = indent;
    }
    current += word + std::string(next - end, ' ');
    empty = false;
    at = next;
  }
  out += current + "\n";
}

class NarrowFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string out;
    const std::string wide = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = 0; at < wide.size();) {
      const std::size_t end = std::min(wide.find('\n', at), wide.size());
      wrap_line(wide.substr(at, end - at), out);
      at = end + 1;
    }
    return out;
  }
};

bool is_flag(const std::string& word) {
  return word.size() > 1 && word.front() == '-' && !(word[1] >= '0' && word[1] <= '9');
}

/// The command that was being read, and its name as typed ("op matmul").
const CLI::App* innermost(const CLI::App& app, std::string& name) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().back();
    name += (name.empty() ? "" : " ") + at->get_name();
  }
  return at;
}

std::string unknown(const std::string& word, const char* kind, const std::vector<std::string>& known,
                    const std::string& help) {
  const std::vector<std::string> near = nearest_words(word, known, 1);
  return shown_word(word) + ": unknown " + kind + "; " +
         (near.empty() ? help + " lists them" : "did you mean " + near.front() + "?");
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_name().empty()) names.push_back(sub->get_name());
  }
  return names;
}

/// "--device NVIDIA H100 80GB HBM3" without quotes: the words after the flag as one name; empty when there is one.
std::string unquoted_device(const std::vector<std::string>& words) {
  const auto flag = std::find(words.begin(), words.end(), "--device");
  std::string name;
  std::size_t count = 0;
  for (auto word = flag == words.end() ? flag : flag + 1; word != words.end() && !is_flag(*word); ++word) {
    name += (name.empty() ? "" : " ") + *word;
    ++count;
  }
  return count > 1 ? name : "";
}

/// The parser's own message with what to give instead of what failed: "Could not convert: --request-rate = abc".
std::string conversion_fault(const std::string& message) {
  const std::string_view start = "Could not convert: ";
  const std::size_t equals = message.find(" = ");
  if (message.rfind(start, 0) != 0 || equals == std::string::npos) return message;
  return message.substr(start.size(), equals - start.size()) + " " + shown_word(message.substr(equals + 3), 40) +
         ": is not a number; give one such as 2.5";
}

}  // namespace

std::shared_ptr<CLI::Formatter> narrow_formatter() {
  auto formatter = std::make_shared<NarrowFormatter>();
  formatter->column_width(help_column);
  formatter->label("SUBCOMMAND", "COMMAND");
  return formatter;
}

std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

std::string word_fault(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.empty()) {
      const bool after_flag = i > 0 && is_flag(words[i - 1]);
      return (after_flag ? shown_word(words[i - 1]) : "argument " + std::to_string(i + 1)) +
             ": the value is empty; give one, or leave it out";
    }
    if (is_flag(word) && word.back() == '=') {
      return shown_word(word.substr(0, word.size() - 1)) + ": the value is empty; give one, or leave the flag out";
    }
  }
  return "";
}

std::string parse_fault(const CLI::App& app, const std::vector<std::string>& words, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return error.what();
  std::string name;
  const CLI::App& command = *innermost(app, name);
  const std::string help = "corridor " + name + (name.empty() ? "" : " ") + "--help";
  const std::vector<std::string> rest = app.remaining(true);
  const bool commands_left = !commands_of(command).empty();
  if (commands_left && !rest.empty() && !is_flag(rest.front())) {
    return unknown(rest.front(), name.empty() ? "command" : "operation", commands_of(command), help);
  }
  const auto flag = std::find_if(rest.begin(), rest.end(), is_flag);
  if (flag != rest.end()) return unknown(flag->substr(0, flag->find('=')), "flag", flags_of(command), help);
  if (!rest.empty()) {
    if (const std::string device = unquoted_device(words); !device.empty()) {
      return "--device " + shown_word(device) + ": a name with spaces needs quotes; write --device \"" +
             shown_word(device) + "\"";
    }
    return shown_word(rest.front()) + ": was not expected here; " + help + " shows what the command takes";
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) return conversion_fault(error.what());
  return std::string(error.what()) + "; run " + help;
}

}  // namespace corridor::cli
