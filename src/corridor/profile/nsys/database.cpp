// SPDX-License-Identifier: Apache-2.0
// SQLite over bytes in memory, with every door closed that a file could open.
#include "corridor/profile/nsys/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

namespace corridor::profile::nsys {
namespace {

constexpr std::string_view sqlite_magic{"SQLite format 3\0", 16};
constexpr std::size_t header_bytes = 100;  // what every SQLite file begins with

// Steps of SQLite's machine that a file may cost: a row of twenty columns needs some sixty and stands in at least as
// many bytes, so honest files stay far below.
constexpr std::int64_t steps_a_byte = 8, steps_at_least = 20'000'000;
constexpr int steps_between_looks = 10'000;

struct Limit {
  int id, value;
};
constexpr Limit limits[] = {
    {SQLITE_LIMIT_LENGTH, 1 << 24},    {SQLITE_LIMIT_SQL_LENGTH, 1 << 20}, {SQLITE_LIMIT_COLUMN, 2000},
    {SQLITE_LIMIT_EXPR_DEPTH, 64},     {SQLITE_LIMIT_COMPOUND_SELECT, 2},  {SQLITE_LIMIT_VDBE_OP, 100'000},
    {SQLITE_LIMIT_FUNCTION_ARG, 8},    {SQLITE_LIMIT_ATTACHED, 0},         {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 8}, {SQLITE_LIMIT_TRIGGER_DEPTH, 1},    {SQLITE_LIMIT_WORKER_THREADS, 0}};

struct Statement {
  sqlite3_stmt* handle = nullptr;
  Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(handle); }
};

/// A whole number of `length` bytes, the highest first, as the head of the file holds them.
std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t length) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < length; ++i) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Size of the file by its head; 0 where the head does not tell, as old writers left it.
std::uint64_t size_told(std::string_view bytes) {
  constexpr std::size_t page_size_at = 16, change_at = 24, pages_at = 28, valid_for_at = 92;
  if (number_at(bytes, change_at, 4) != number_at(bytes, valid_for_at, 4)) return 0;
  const std::uint32_t page = number_at(bytes, page_size_at, 2);
  return std::uint64_t{page == 1 ? 65536 : page} * number_at(bytes, pages_at, 4);
}

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    out += c;
    if (c == '"') out += c;
  }
  return out + '"';
}

}  // namespace

struct Database::State {
  sqlite3* handle = nullptr;
  std::string patched;  ///< a copy, where the header had to be changed
  std::string file;
  std::set<std::string> tables;
  std::int64_t steps_left = 0;
  bool cut_off = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { sqlite3_close(handle); }

  [[nodiscard]] std::string message() const {
    std::string text = sqlite3_errmsg(handle);
    if (sqlite3_errcode(handle) == SQLITE_INTERRUPT) text = "asks for more work than its size explains";
    return text;
  }

  bool attach(std::string_view bytes) {
    // A database in write-ahead mode cannot be opened from memory: it is marked as a plain one in a copy.
    constexpr std::size_t write_version = 18, read_version = 19;
    if (bytes[write_version] == 2 || bytes[read_version] == 2) {
      patched.assign(bytes);
      patched[write_version] = patched[read_version] = 1;
      bytes = patched;
    }
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(":memory:", &handle, flags, nullptr) != SQLITE_OK) return false;
    for (const Limit& limit : limits) sqlite3_limit(handle, limit.id, limit.value);
    for (const int off : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW})
      sqlite3_db_config(handle, off, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    // The flag keeps SQLite from writing to or freeing the bytes; its C face asks for them without const.
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    if (sqlite3_deserialize(handle, "main", data, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) return false;
    steps_left = steps_at_least + steps_a_byte * size;
    sqlite3_progress_handler(
        handle, steps_between_looks,
        [](void* self) {
          auto& left = static_cast<State*>(self)->steps_left;
          left -= steps_between_looks;
          return left < 0 ? 1 : 0;
        },
        this);
    sqlite3_set_authorizer(
        handle,
        [](void*, int action, const char*, const char*, const char*, const char*) {
          const bool reads =
              action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_PRAGMA || action == SQLITE_FUNCTION;
          return reads ? SQLITE_OK : SQLITE_DENY;
        },
        nullptr);
    return true;
  }

  bool list_tables() {
    Statement statement;
    constexpr const char* sql =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND rootpage > 0";
    if (sqlite3_prepare_v2(handle, sql, -1, &statement.handle, nullptr) != SQLITE_OK) return false;
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement.handle)) == SQLITE_ROW) {
      const auto* const name = sqlite3_column_text(statement.handle, 0);
      if (name != nullptr) tables.insert(reinterpret_cast<const char*>(name));
    }
    return code == SQLITE_DONE || !tables.empty();
  }
};

std::optional<std::int64_t> Row::integer(std::size_t column) const {
  auto* const statement = static_cast<sqlite3_stmt*>(statement_);
  const int place = places_[column];
  if (place < 0 || sqlite3_column_type(statement, place) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement, place);
}

std::string_view Row::text(std::size_t column) const {
  auto* const statement = static_cast<sqlite3_stmt*>(statement_);
  const int place = places_[column];
  if (place < 0 || sqlite3_column_type(statement, place) != SQLITE_TEXT) return {};
  const auto* const text = sqlite3_column_text(statement, place);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement, place))};
}

bool Row::is_null(std::size_t column) const {
  const int place = places_[column];
  return place < 0 || sqlite3_column_type(static_cast<sqlite3_stmt*>(statement_), place) == SQLITE_NULL;
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(std::string_view bytes, const std::string& file) {
  if (bytes.size() < header_bytes || bytes.substr(0, sqlite_magic.size()) != sqlite_magic) {
    return fail("is no SQLite database", file, "make one with: nsys export --type sqlite report.nsys-rep");
  }
  auto state = std::make_unique<State>();
  state->file = file;
  state->cut_off = bytes.size() < size_told(bytes);
  if (!state->attach(bytes) || !state->list_tables()) {
    return fail("the SQLite database is damaged: " + state->message(), file, "export the report again");
  }
  return Database(std::move(state));
}

bool Database::is_cut_off() const {
  return state_->cut_off;
}

bool Database::has(std::string_view table) const {
  return state_->tables.count(std::string(table)) > 0;
}

std::string Database::first_of(std::initializer_list<std::string_view> tables) const {
  for (const std::string_view table : tables) {
    if (has(table)) return std::string(table);
  }
  return {};
}

std::set<std::string> Database::columns(const std::string& table) const {
  std::set<std::string> names;
  Statement statement;
  const std::string sql = "PRAGMA table_info(" + quoted_name(table) + ")";
  if (sqlite3_prepare_v2(state_->handle, sql.c_str(), -1, &statement.handle, nullptr) != SQLITE_OK) return names;
  constexpr int name_column = 1;
  while (sqlite3_step(statement.handle) == SQLITE_ROW) {
    const auto* const name = sqlite3_column_text(statement.handle, name_column);
    if (name != nullptr) names.insert(reinterpret_cast<const char*>(name));
  }
  return names;
}

std::optional<std::int64_t> Database::row_count(const std::string& table) const {
  std::int64_t rows = 0;
  const Result<int> read = each(table, {}, [&](const Row&) { ++rows; });
  if (!read && rows == 0) return std::nullopt;
  return rows;
}

Result<int> Database::each(const std::string& table, const std::vector<std::string>& columns,
                           const std::function<void(const Row&)>& take) const {
  const std::set<std::string> known = this->columns(table);
  std::vector<int> places;
  std::string list;
  int place = 0;
  for (const std::string& column : columns) {
    const bool there = known.count(column) > 0;
    places.push_back(there ? place++ : -1);
    if (there) list += (list.empty() ? "" : ", ") + quoted_name(column);
  }
  if (list.empty()) list = "1";
  Statement statement;
  const std::string sql = "SELECT " + list + " FROM " + quoted_name(table);
  const auto broken = [&] { return fail("table " + table + ": " + state_->message(), state_->file); };
  if (sqlite3_prepare_v2(state_->handle, sql.c_str(), -1, &statement.handle, nullptr) != SQLITE_OK) return broken();
  const Row row(statement.handle, places);
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement.handle)) == SQLITE_ROW) take(row);
  if (code != SQLITE_DONE) return broken();
  return 0;
}

}  // namespace corridor::profile::nsys
