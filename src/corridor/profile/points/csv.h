// SPDX-License-Identifier: Apache-2.0
// Comma-separated text by rows (RFC 4180), without copying: quotes, line ends of every system, a byte order mark.
//
//   CsvReader reader(text);
//   CsvRow row;
//   while (reader.next(row)) use(row.fields, row.line);
//   if (reader.open_quote_line() != 0) ...            // a quote is never closed
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::profile {

/// Fields point into the text, or into `joined` where a quoted field holds doubled quotes. Valid until the next row.
struct CsvRow {
  int line = 0;  ///< of the row's first character, from 1
  std::vector<std::string_view> fields;
  std::deque<std::string> joined;
};

class CsvReader {
 public:
  /// Skips a byte order mark. The separator is the comma, or the semicolon or tab when the first line has more of them.
  /// A row keeps `fields` fields; what follows them is passed over.
  explicit CsvReader(std::string_view text, std::size_t fields = most_fields);

  static constexpr std::size_t most_fields = 1001;

  /// The next row that is not blank; false at the end and at a quote that is never closed. Blanks around an unquoted
  /// field are dropped; text between a closing quote and the separator is dropped too.
  [[nodiscard]] bool next(CsvRow& row);

  /// Line of a quote that is never closed; 0 when there is none.
  [[nodiscard]] int open_quote_line() const { return open_quote_line_; }

 private:
  void read_row(CsvRow& row);
  [[nodiscard]] bool quote_ahead() const;
  void keep(CsvRow& row, std::string_view field) const;
  void plain_field(CsvRow& row);
  void quoted_field(CsvRow& row);
  void end_line();

  std::string_view text_;
  std::size_t fields_;
  std::size_t at_ = 0;
  int line_ = 1;
  char separator_ = ',';
  int open_quote_line_ = 0;
};

}  // namespace corridor::profile
