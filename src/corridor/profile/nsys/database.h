// SPDX-License-Identifier: Apache-2.0
// A SQLite file from anyone, read where it lies in memory: tables only, no view, trigger or function of the file runs,
// and the work it may ask for is bounded by its size.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"

namespace corridor::profile::nsys {

/// One row of the columns that were asked for; a column that the table lacks is null. Valid during the call only.
class Row {
 public:
  explicit Row(void* statement, const std::vector<int>& places) : statement_(statement), places_(places) {}
  /// A whole number; empty for null and for values of other types.
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t column) const;
  /// Text as stored; empty for null and for other types.
  [[nodiscard]] std::string_view text(std::size_t column) const;
  [[nodiscard]] bool is_null(std::size_t column) const;

 private:
  void* statement_;
  const std::vector<int>& places_;
};

class Database {
 public:
  /// `bytes` must outlive the database. Fails when they are no SQLite file, or one whose list of tables is damaged.
  [[nodiscard]] static Result<Database> open(std::string_view bytes, const std::string& file);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Whether the file is shorter than its own head says: what stood on the last pages is lost.
  [[nodiscard]] bool is_cut_off() const;
  [[nodiscard]] bool has(std::string_view table) const;
  /// The first of these tables that is there; empty when none is.
  [[nodiscard]] std::string first_of(std::initializer_list<std::string_view> tables) const;
  [[nodiscard]] std::set<std::string> columns(const std::string& table) const;
  [[nodiscard]] std::optional<std::int64_t> row_count(const std::string& table) const;

  /// Calls `take` for each row. Fails, after the rows that could be read, at damage and at the bound of work.
  [[nodiscard]] Result<int> each(const std::string& table, const std::vector<std::string>& columns,
                                 const std::function<void(const Row&)>& take) const;

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace corridor::profile::nsys
