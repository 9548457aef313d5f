// SPDX-License-Identifier: Apache-2.0
// Words, quotes, comments and continuation lines of a pasted command.
#include "corridor/profile/paste/shell_words.h"

#include <algorithm>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

constexpr std::size_t longest_command = 64U << 10U;
constexpr std::size_t most_lines = 200;
constexpr std::size_t most_quoted_lines = 40;  // a JSON value over several lines is shorter
constexpr std::size_t most_words = 1000;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

/// True when the line ends with a shell's continuation mark.
bool continues(std::string_view line) {
  line = trim(line);
  if (line.empty()) return false;
  if (line.back() == '\\' || line.back() == '^') return true;
  // PowerShell writes a back-tick, Markdown closes inline code with one: only a lone one continues.
  return line.back() == '`' && std::count(line.begin(), line.end(), '`') == 1;
}

bool begins_with_flag(std::string_view line) {
  line = trim(line);
  return line.size() > 3 && line.starts_with("--") && is_letter(line[2]);
}

/// Follows quotes through `line`; `quote` is the open one, or 0.
void follow_quotes(std::string_view line, char& quote) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if ((c == '\'' || c == '"') && (i == 0 || is_blank(line[i - 1]) || line[i - 1] == '=')) {
      quote = c;  // an apostrophe inside a word opens nothing
    }
  }
}

/// Reads one word after another.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<Word> split() {
    while (at_ < text_.size() && words_.size() < most_words) step();
    close();
    return std::move(words_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (is_blank(c)) {
      close();
      ++at_;
    } else if (c == '\\' || c == '^' || (c == '`' && ends_line())) {
      continuation_or_character(c);
    } else if (c == '#' && !open_) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\'' || c == '"') {
      quoted(c);
    } else if (c == '|' || c == ';' || c == '&' || c == '>' || c == '<' || c == '`') {
      end_mark();
    } else {
      append(c);
    }
  }

  /// A back-tick before a line end is PowerShell's continuation mark.
  [[nodiscard]] bool ends_line() const {
    const std::size_t next = text_.find_first_not_of(" \t", at_ + 1);
    return next != std::string_view::npos && text_[next] == '\n';
  }

  void append(char c) {
    word_.text += c;
    open_ = true;
    ++at_;
  }

  void continuation_or_character(char c) {
    std::size_t next = at_ + 1;
    while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\t')) ++next;
    const bool line_end = next >= text_.size() || text_[next] == '\n';
    const char following = at_ + 1 < text_.size() ? text_[at_ + 1] : '\n';
    if (line_end) {
      close();
      at_ = std::min(next + 1, text_.size());
    } else if (c == '\\' && (is_blank(following) || following == '\'' || following == '"' || following == '|')) {
      ++at_;
      append(following);
    } else {
      append(c);  // a Windows path, a regular expression
    }
  }

  void quoted(char quote) {
    bool& hopeless = quote == '"' ? no_double_ : no_single_;
    if (hopeless) return append(quote);
    std::string inside;
    std::size_t i = at_ + 1;
    while (i < text_.size() && text_[i] != quote) {
      if (quote == '"' && text_[i] == '\\' && i + 1 < text_.size() && (text_[i + 1] == '"' || text_[i + 1] == '\\'))
        ++i;
      inside += text_[i++];
      if (inside.size() > longest_quote) break;
    }
    if (i >= text_.size() || text_[i] != quote) {
      hopeless = true;  // look for its end once only
      return append(quote);
    }
    word_.text += inside;
    word_.quoted = true;
    open_ = true;
    at_ = i + 1;
  }

  void end_mark() {
    close();
    words_.push_back({"", false, true});
    ++at_;
  }

  void close() {
    if (open_) words_.push_back(std::move(word_));
    word_ = Word{};
    open_ = false;
  }

  static constexpr std::size_t longest_quote = 4096;

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Word> words_;
  Word word_;
  bool open_ = false;
  bool no_single_ = false;
  bool no_double_ = false;
};

}  // namespace

LogicalLine logical_line(const PasteLines& lines, std::size_t at) {
  const std::string_view first = lines[at].text.substr(0, longest_command);
  LogicalLine out{std::string(first), 1};
  char quote = 0;
  follow_quotes(first, quote);
  std::string_view last = first;
  // The longest form in which no quote is open.
  std::size_t closed_lines = 1;
  std::size_t closed_size = out.text.size();
  std::size_t quoted_lines = 0;
  while (at + out.lines < lines.size() && out.lines < most_lines) {
    const std::size_t next = at + out.lines;
    const bool inside_quote = quote != 0 && ++quoted_lines <= most_quoted_lines;
    const bool below = lines.adjacent(next) && (continues(last) || begins_with_flag(lines[next].text));
    if (!inside_quote && !below) break;
    last = lines[next].text;
    if (out.text.size() + last.size() > longest_command) break;
    out.text += '\n';
    out.text += last;
    ++out.lines;
    follow_quotes(last, quote);
    if (quote == 0) {
      closed_lines = out.lines;
      closed_size = out.text.size();
      quoted_lines = 0;
    }
  }
  out.text.resize(closed_size);
  out.lines = closed_lines;
  return out;
}

std::vector<Word> shell_words(std::string_view text) {
  return Splitter(text).split();
}

}  // namespace corridor::profile
