// SPDX-License-Identifier: Apache-2.0
// One pass over the text; a field is a view unless a doubled quote must be made single.
#include "corridor/profile/points/csv.h"

#include <algorithm>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The separator the first line has most of, outside quotes; the comma at a draw.
char separator_of(std::string_view text) {
  std::size_t commas = 0;
  std::size_t semicolons = 0;
  std::size_t tabs = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || c == '\r') {
      if (commas + semicolons + tabs > 0) break;
      continue;
    }
    commas += c == ',' ? 1 : 0;
    semicolons += c == ';' ? 1 : 0;
    tabs += c == '\t' ? 1 : 0;
  }
  if (tabs > commas && tabs >= semicolons) return '\t';
  return semicolons > commas ? ';' : ',';
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::size_t fields) : text_(text), fields_(fields) {
  if (text_.substr(0, byte_order_mark.size()) == byte_order_mark) text_.remove_prefix(byte_order_mark.size());
  separator_ = separator_of(text_);
}

bool CsvReader::next(CsvRow& row) {
  while (at_ < text_.size() && open_quote_line_ == 0) {
    row.fields.clear();
    row.joined.clear();
    row.line = line_;
    read_row(row);
    if (open_quote_line_ != 0) return false;
    const bool blank = std::all_of(row.fields.begin(), row.fields.end(), [](std::string_view f) { return f.empty(); });
    if (!blank) return true;
  }
  return false;
}

void CsvReader::read_row(CsvRow& row) {
  while (true) {
    if (quote_ahead()) {
      quoted_field(row);
      if (open_quote_line_ != 0) return;
    } else {
      plain_field(row);
    }
    if (at_ < text_.size() && text_[at_] == separator_) {
      ++at_;
      continue;
    }
    end_line();
    return;
  }
}

/// True when the field begins with a quote, blanks allowed before it.
bool CsvReader::quote_ahead() const {
  std::size_t at = at_;
  while (at < text_.size() && (text_[at] == ' ' || (text_[at] == '\t' && separator_ != '\t'))) ++at;
  return at < text_.size() && text_[at] == '"';
}

void CsvReader::keep(CsvRow& row, std::string_view field) const {
  if (row.fields.size() < fields_) row.fields.push_back(field);
}

void CsvReader::plain_field(CsvRow& row) {
  const char* const begin = text_.data() + at_;
  const char* const end = text_.data() + text_.size();
  const char* here = begin;
  while (here != end && *here != separator_ && *here != '\n' && *here != '\r') ++here;
  const auto length = static_cast<std::size_t>(here - begin);
  keep(row, trim(text_.substr(at_, length)));
  at_ += length;
}

void CsvReader::quoted_field(CsvRow& row) {
  const int opened = line_;
  at_ = text_.find('"', at_) + 1;
  std::size_t begin = at_;
  std::string* joined = nullptr;
  while (true) {
    const std::size_t quote = text_.find('"', at_);
    if (quote == std::string_view::npos) {
      open_quote_line_ = opened;
      return;
    }
    line_ += static_cast<int>(std::count(text_.data() + at_, text_.data() + quote, '\n'));
    at_ = quote + 1;
    const bool doubled = at_ < text_.size() && text_[at_] == '"';
    if ((doubled || joined != nullptr) && row.fields.size() < fields_) {
      if (joined == nullptr) joined = &row.joined.emplace_back();
      joined->append(text_.substr(begin, quote - begin + (doubled ? 1 : 0)));
    }
    if (!doubled) {
      keep(row, joined != nullptr ? std::string_view(*joined) : text_.substr(begin, quote - begin));
      break;
    }
    begin = ++at_;
  }
  while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
}

void CsvReader::end_line() {
  if (at_ < text_.size() && text_[at_] == '\r') ++at_;
  if (at_ < text_.size() && text_[at_] == '\n') ++at_;
  ++line_;
}

}  // namespace corridor::profile
