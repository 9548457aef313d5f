// SPDX-License-Identifier: Apache-2.0
// Table by table into a database of its own; texts are kept by rules of their table and column.
#include "corridor/profile/nsys/redact.h"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace corridor::profile {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using OpenDatabase = std::unique_ptr<sqlite3, CloseDatabase>;
using OpenStatement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

std::string quoted_identifier(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

OpenStatement prepared(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  return OpenStatement(statement);
}

std::string_view text_at(sqlite3_stmt* row, int column) {
  const unsigned char* text = sqlite3_column_text(row, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

bool is_copied(std::string_view table) {
  for (const std::string_view start : {"CUPTI_ACTIVITY_KIND_", "ENUM_"}) {
    if (table.starts_with(start)) return true;
  }
  for (const std::string_view whole : {"StringIds", "TARGET_INFO_GPU", "META_DATA_EXPORT", "EXPORT_META_DATA",
                                       "NVTX_EVENTS", "GPU_METRICS", "TARGET_INFO_GPU_METRICS"}) {
    if (table == whole) return true;
  }
  return false;
}

/// Columns that name a string which the tool or a compiler made, not a user.
bool names_kept_string(std::string_view table, std::string_view column) {
  if (!table.starts_with("CUPTI_ACTIVITY_KIND_")) return false;
  return column == "demangledName" || column == "shortName" || column == "mangledName" || column == "nameId";
}

class NsysCopier {
 public:
  NsysCopier(sqlite3* from, sqlite3* to, Redaction& told) : from_(from), to_(to), told_(told) {}

  /// False when no table of the tool is there, or the copy could not be made.
  bool run() {
    std::vector<std::string> tables;
    const OpenStatement list =
        prepared(from_, "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'");
    while (list && sqlite3_step(list.get()) == SQLITE_ROW) {
      const std::string table(text_at(list.get(), 0));
      if (is_copied(table)) {
        tables.push_back(table);
      } else {
        told_.stats.drop("tables that may name people, machines or files", Severity::note, table);
      }
    }
    for (const std::string& table : tables) collect_kept_strings(table);
    sqlite3_exec(to_, "BEGIN", nullptr, nullptr, nullptr);
    bool whole = !tables.empty();
    for (const std::string& table : tables) whole = copy(table) && whole;
    return sqlite3_exec(to_, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK && whole;
  }

 private:
  struct Column {
    std::string name, type;
  };

  std::vector<Column> columns_of(const std::string& table) {
    std::vector<Column> columns;
    const OpenStatement info = prepared(from_, "PRAGMA table_info(" + quoted_identifier(table) + ")");
    while (info && sqlite3_step(info.get()) == SQLITE_ROW) {
      const std::string_view type = text_at(info.get(), 2);
      columns.push_back({std::string(text_at(info.get(), 1)), all_of_charset(type, "") ? std::string(type) : ""});
    }
    return columns;
  }

  void collect_kept_strings(const std::string& table) {
    for (const Column& column : columns_of(table)) {
      if (!names_kept_string(table, column.name)) continue;
      const OpenStatement ids =
          prepared(from_, "SELECT DISTINCT " + quoted_identifier(column.name) + " FROM " + quoted_identifier(table));
      while (ids && sqlite3_step(ids.get()) == SQLITE_ROW) kept_strings_.insert(sqlite3_column_int64(ids.get(), 0));
    }
  }

  bool copy(const std::string& table) {
    const std::vector<Column> columns = columns_of(table);
    if (columns.empty()) return false;
    std::string made, read, places;
    for (const Column& column : columns) {
      const std::string separator = made.empty() ? "" : ", ";
      made += separator + quoted_identifier(column.name) + " " + column.type;
      read += separator + quoted_identifier(column.name);
      places += separator + "?";
    }
    const std::string name = quoted_identifier(table);
    if (sqlite3_exec(to_, ("CREATE TABLE " + name + " (" + made + ")").c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      return false;
    const OpenStatement rows = prepared(from_, "SELECT " + read + " FROM " + name);
    const OpenStatement add = prepared(to_, "INSERT INTO " + name + " VALUES (" + places + ")");
    if (!rows || !add) return false;
    int state = SQLITE_ROW;
    while ((state = sqlite3_step(rows.get())) == SQLITE_ROW) {
      for (std::size_t i = 0; i < columns.size(); ++i)
        copy_value(table, columns, static_cast<int>(i), rows.get(), add.get());
      if (sqlite3_step(add.get()) != SQLITE_DONE || sqlite3_reset(add.get()) != SQLITE_OK) return false;
    }
    if (state != SQLITE_DONE) {
      told_.stats.drop("rows behind damage in a table", Severity::loss, table + ": " + sqlite3_errmsg(from_));
    }
    return true;
  }

  void copy_value(const std::string& table, const std::vector<Column>& columns, int i, sqlite3_stmt* row,
                  sqlite3_stmt* add) {
    const int kind = sqlite3_column_type(row, i);
    if (kind == SQLITE_INTEGER || kind == SQLITE_FLOAT) {
      sqlite3_bind_value(add, i + 1, sqlite3_column_value(row, i));
      return;
    }
    if (kind != SQLITE_TEXT) {
      told_.removed += kind == SQLITE_BLOB ? 1 : 0;
      sqlite3_bind_null(add, i + 1);
      return;
    }
    const std::string_view text = text_at(row, i);
    if (table == "TARGET_INFO_GPU" && columns[static_cast<std::size_t>(i)].name == "uuid") {
      // Rows of one GPU repeat and are told apart by this.
      const std::string other = "GPU-" + std::to_string(gpus_.emplace(text, gpus_.size() + 1).first->second);
      ++told_.removed;
      sqlite3_bind_text64(add, i + 1, other.data(), other.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    } else if (keeps(table, columns, i, row, text)) {
      sqlite3_bind_text64(add, i + 1, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    } else {
      ++told_.removed;
      sqlite3_bind_text(add, i + 1, "removed", -1, SQLITE_STATIC);
    }
  }

  [[nodiscard]] bool keeps(const std::string& table, const std::vector<Column>& columns, int i, sqlite3_stmt* row,
                           std::string_view text) const {
    const std::string& column = columns[static_cast<std::size_t>(i)].name;
    if (table == "StringIds") {
      const auto id = std::find_if(columns.begin(), columns.end(), [](const Column& c) { return c.name == "id"; });
      if (id == columns.end()) return false;
      const std::int64_t value = sqlite3_column_int64(row, static_cast<int>(id - columns.begin()));
      return is_step_name(text) || (kept_strings_.contains(value) && !looks_private(text));
    }
    if (table == "NVTX_EVENTS") return is_step_name(text);
    if (table.starts_with("ENUM_") || table == "TARGET_INFO_GPU_METRICS") return !looks_private(text);
    if (table == "TARGET_INFO_GPU") return (column == "name" || column == "chipName") && !looks_private(text);
    if (table == "META_DATA_EXPORT" || table == "EXPORT_META_DATA") {
      return column == "name" ? all_of_charset(text, "_")
                              : all_of_charset(text, "._-") &&
                                    std::isdigit(static_cast<unsigned char>(text.empty() ? ' ' : text[0])) != 0;
    }
    return is_plain_value(text);
  }

  sqlite3* from_;
  sqlite3* to_;
  Redaction& told_;
  std::set<std::int64_t> kept_strings_;
  std::map<std::string, std::size_t> gpus_;
};

OpenDatabase in_memory() {
  sqlite3* database = nullptr;
  sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  return OpenDatabase(database);
}

/// Nothing that the file defines may run, and reading stops when it goes on for longer than the file is large.
bool open_guarded(sqlite3* database, std::string_view bytes, std::int64_t& steps_left) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  constexpr int instructions = 1000;  // between two looks at what is left
  sqlite3_progress_handler(
      database, instructions, [](void* left) { return --*static_cast<std::int64_t*>(left) < 0 ? 1 : 0; }, &steps_left);
  auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));  // SQLite's C face; read-only below
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  return sqlite3_deserialize(database, "main", data, size, size, SQLITE_DESERIALIZE_READONLY) == SQLITE_OK;
}

}  // namespace

Result<Redaction> redact_nsys_sqlite(std::string_view bytes, const ByteSink& sink, const std::string& file) {
  const OpenDatabase from = in_memory(), to = in_memory();
  if (!from || !to) return fail("no memory to copy", file);
  std::int64_t steps_left = static_cast<std::int64_t>(bytes.size()) / 50 + 100'000;  // of 1000 instructions each
  if (!open_guarded(from.get(), bytes, steps_left)) return fail("is no SQLite database", file);
  Redaction done;
  if (!NsysCopier(from.get(), to.get(), done).run()) {
    return fail("is no SQLite export of Nsight Systems that can be copied", file,
                "make it with: nsys export --type sqlite");
  }
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> copy(sqlite3_serialize(to.get(), "main", &size, 0),
                                                             sqlite3_free);
  if (!copy || size <= 0) return fail("no memory to copy", file);
  const Result<int> kept = sink({reinterpret_cast<const char*>(copy.get()), static_cast<std::size_t>(size)});
  if (!kept) return tl::unexpected(kept.error());
  return done;
}

}  // namespace corridor::profile
