// SPDX-License-Identifier: Apache-2.0
// Records of a result file, one after another, each known by its own fields.
#include "corridor/profile/paste/result_file.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "corridor/profile/paste/json_scan.h"
#include "corridor/profile/paste/recorder.h"
#include "corridor/profile/paste/result_fields.h"
#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/csv.h"

namespace corridor::profile {
namespace {

constexpr std::size_t piece_bytes = 1U << 20U;
/// A record of results has its summary; beyond so many bytes of lists there is nothing to learn.
constexpr std::size_t most_result_bytes = std::size_t{1} << 30U;
constexpr std::size_t most_table_bytes = 16U << 20U;  // of CSV and SQL: a run writes a few hundred bytes

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

bool has_all(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::all_of(parts.begin(), parts.end(), [&](std::string_view part) { return contains(text, part); });
}

enum class ResultForm { json, csv, sql, other };

ResultForm form_of(std::string_view head) {
  const std::string_view text = without_blanks(head);
  if (text.starts_with("{") || text.starts_with("[")) return ResultForm::json;
  const std::string_view line = text.substr(0, text.find('\n'));
  if (has_all(line, {"build_commit", "avg_ts"})) return ResultForm::csv;
  if ((text.starts_with("CREATE TABLE") || text.starts_with("INSERT INTO")) && contains(text, "avg_ts"))
    return ResultForm::sql;
  return ResultForm::other;
}

/// What the records of one file have in common: where results go, and what was lost.
class RecordTaker {
 public:
  explicit RecordTaker(Recorder& recorder) : recorder_(recorder) {}

  bool take(const RecordFields& fields, std::size_t line) {
    ResultBlock block;
    block.line = line;
    if (!read_result_fields(fields, block)) {
      ++other_records_;
      return false;
    }
    if (fields.left_out > 0)
      recorder_.note(fmt::format("{} values of the record at line {} are left out", fields.left_out, line));
    if (block.kind != ResultKind::llama_bench && !lists_told_) {
      if (std::string lists = describe_lists(fields); !lists.empty()) {
        recorder_.note(std::move(lists));
        lists_told_ = true;
      }
    }
    ++results_;
    recorder_.result(std::move(block));
    return true;
  }

  std::size_t broken = 0;  ///< records that are not well formed
  [[nodiscard]] std::size_t results() const { return results_; }
  [[nodiscard]] std::size_t other_records() const { return other_records_; }

 private:
  Recorder& recorder_;
  std::size_t results_ = 0, other_records_ = 0;
  bool lists_told_ = false;
};

/// Objects in a stream of bytes; what stands between them is passed over.
class JsonRecords {
 public:
  explicit JsonRecords(RecordTaker& taker) : taker_(taker) {}

  void feed(std::string_view piece) {
    while (!piece.empty()) {
      if (!scan_) {
        const std::size_t brace = skip_to_line_ ? after_line_end(piece) : piece.find('{');
        const std::size_t length = std::min(brace, piece.size());
        if (!skip_to_line_) look_for_field(piece.substr(0, length));
        count_lines(piece.substr(0, length));
        piece.remove_prefix(length);
        if (piece.empty()) return;
        if (std::exchange(skip_to_line_, false)) continue;
        scan_.emplace();
        field_outside_ = false;
        first_line_ = line_;
      }
      const std::size_t taken = scan_->feed(piece);
      count_lines(piece.substr(0, taken));
      piece.remove_prefix(taken);
      if (scan_->state() == JsonScan::State::closed) {
        taker_.take(scan_->fields(), first_line_);
        scan_.reset();
      } else if (scan_->state() == JsonScan::State::broken) {
        ++taker_.broken;
        scan_.reset();
        // A brace that broke it begins the next record; else the next line does.
        skip_to_line_ = !piece.starts_with("{");
      }
    }
  }

  /// The record that the end of the file cuts off: what was read of it.
  void finish(Recorder& recorder) {
    if (!scan_) return;
    const std::size_t fields = scan_->fields().size();
    const bool used = taker_.take(scan_->fields(), first_line_);
    recorder.note(fmt::format("the file ends inside the record at line {}: {} of its fields were read, {}", first_line_,
                              fields, used ? "the rest is lost" : "too few to know the result"));
  }

 private:
  static std::size_t after_line_end(std::string_view piece) {
    const std::size_t end = piece.find('\n');
    return end == std::string_view::npos ? piece.size() : end + 1;
  }
  /// A field outside of all records is of one whose brace is damaged.
  void look_for_field(std::string_view between) {
    if (field_outside_ || between.find("\":") == std::string_view::npos) return;
    field_outside_ = true;
    ++taker_.broken;
  }
  void count_lines(std::string_view part) {
    line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
  }

  RecordTaker& taker_;
  std::optional<JsonScan> scan_;
  std::size_t line_ = 1, first_line_ = 1;
  bool skip_to_line_ = false, field_outside_ = false;
};

/// A cell of a table as a JSON reader would have kept it.
void add_cell(RecordFields& fields, const std::string& column, const std::string& cell) {
  if (cell == "true" || cell == "false") fields.truths[column] = cell == "true";
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  const bool whole = !cell.empty() && end == cell.c_str() + cell.size();
  if (whole && value >= 0 && value <= 1e18) fields.numbers[column] = value;
  constexpr std::size_t longest_cell = 300;
  fields.texts[column] = printable(cell.substr(0, longest_cell));
}

void read_llama_csv(std::string_view text, RecordTaker& taker) {
  CsvReader reader(text);
  CsvRow row;
  std::vector<std::string> columns;
  while (reader.next(row)) {
    if (columns.empty() || (row.fields.size() == columns.size() && row.fields[0] == columns[0])) {
      columns.assign(row.fields.begin(), row.fields.end());  // also the head of a file appended to this one
      continue;
    }
    if (row.fields.size() != columns.size()) {
      ++taker.broken;
      continue;
    }
    RecordFields fields;
    for (std::size_t i = 0; i < columns.size(); ++i) add_cell(fields, columns[i], std::string(row.fields[i]));
    taker.take(fields, static_cast<std::size_t>(row.line));
  }
  if (reader.open_quote_line() != 0) ++taker.broken;
}

/// "(a, b, …)" behind `at`: its parts, quotes taken off; `at` moves behind it. Empty when it is not closed.
std::vector<std::string> sql_list(std::string_view text, std::size_t& at) {
  std::vector<std::string> parts(1);
  const std::size_t open = text.find('(', at);
  bool quoted = false;
  for (std::size_t i = open == std::string_view::npos ? text.size() : open + 1; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\'' && i + 1 < text.size() && text[i + 1] == '\'') {
        parts.back() += c;
        ++i;
      } else if (c == '\'') {
        quoted = false;
      } else {
        parts.back() += c;
      }
    } else if (c == '\'') {
      quoted = true;
    } else if (c == ')') {
      at = i + 1;
      return parts;
    } else if (c == ',') {
      parts.emplace_back();
    } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
      parts.back() += c;
    }
  }
  at = text.size();
  return {};
}

void read_llama_sql(std::string_view text, RecordTaker& taker) {
  for (std::size_t at = text.find("INSERT INTO"); at != std::string_view::npos; at = text.find("INSERT INTO", at)) {
    const std::size_t begin = at;
    const std::vector<std::string> columns = sql_list(text, at);
    const std::vector<std::string> values = sql_list(text, at);
    if (columns.empty() || columns.size() != values.size()) {
      ++taker.broken;
      at = std::max(at, begin + 1);
      continue;
    }
    RecordFields fields;
    for (std::size_t i = 0; i < columns.size(); ++i) add_cell(fields, columns[i], values[i]);
    taker.take(fields, 1 + static_cast<std::size_t>(
                               std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n')));
  }
}

/// All bytes of a small file; a note when there are more.
std::string small_text(ByteSource& source, std::string first, Recorder& recorder) {
  while (first.size() < most_table_bytes) {
    const Result<std::string_view> piece = source.next(most_table_bytes - first.size());
    if (!piece) {
      recorder.note(piece.error().line() + "; what stood before it was read");
      break;
    }
    if (piece->empty()) return first;
    first += *piece;
  }
  if (first.size() >= most_table_bytes) recorder.note("only the first 16 MiB of the table were read");
  return first;
}

void read_json_records(ByteSource& source, std::string_view first, RecordTaker& taker, Recorder& recorder) {
  JsonRecords records(taker);
  records.feed(first);
  std::size_t seen = first.size();
  while (seen < most_result_bytes) {
    const Result<std::string_view> piece = source.next(piece_bytes);
    if (!piece) {
      recorder.note(piece.error().line() + "; what stood before it was read");
      break;
    }
    if (piece->empty()) break;
    seen += piece->size();
    records.feed(*piece);
  }
  if (seen >= most_result_bytes) recorder.note("only the first 1 GiB of the file were read");
  records.finish(recorder);
}

}  // namespace

bool looks_like_results(std::string_view head) {
  const ResultForm form = form_of(head);
  if (form != ResultForm::json) return form != ResultForm::other;
  for (const std::initializer_list<std::string_view>& keys :
       {std::initializer_list<std::string_view>{"\"avg_ts\"", "\"n_gen\""},
        {"\"speed_tg\"", "\"pl\""},
        {"\"request_throughput\"", "\"duration\""},
        {"\"output_throughput\"", "\"duration\""},
        {"\"total_output_tokens_retokenized\""},
        {"\"tokens_per_second\"", "\"total_num_tokens\""},
        {"\"avg_latency\"", "\"latencies\""},
        {"\"performance\"", "\"request_throughput_req_s\""},
        {"\"time_to_first_token\"", "\"unit\""},
        {"\"request_latency\"", "\"unit\""}}) {
    if (has_all(head, keys)) return true;
  }
  return false;
}

Result<PastedRun> read_result_file(ByteSource& source, const std::string& file) {
  PastedRun run;
  Recorder recorder(run);
  RecordTaker taker(recorder);
  const Result<std::string_view> piece = source.next(piece_bytes);
  if (!piece) return tl::unexpected(piece.error());
  std::string first(*piece);
  switch (form_of(first)) {
    case ResultForm::csv:
      read_llama_csv(small_text(source, std::move(first), recorder), taker);
      break;
    case ResultForm::sql:
      read_llama_sql(small_text(source, std::move(first), recorder), taker);
      break;
    case ResultForm::json:
    case ResultForm::other:
      read_json_records(source, first, taker, recorder);
      break;
  }
  if (taker.results() == 0) {
    return fail(fmt::format("no result of a benchmark tool in {} {}", taker.other_records() + taker.broken,
                            taker.other_records() + taker.broken == 1 ? "record" : "records"),
                file, "give a file that a benchmark client saved, or paste the block it printed");
  }
  if (taker.broken > 0) recorder.note(fmt::format("{} damaged records are left out", taker.broken));
  if (taker.other_records() > 0)
    recorder.note(fmt::format("{} records are no results and are left out", taker.other_records()));
  recorder.finish();
  return run;
}

}  // namespace corridor::profile
