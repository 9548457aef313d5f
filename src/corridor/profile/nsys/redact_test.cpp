// SPDX-License-Identifier: Apache-2.0
// The copy of an Nsight Systems export: which tables and texts come along, and what damage costs.
#include "corridor/profile/nsys/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace corridor::profile {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string database_of(const std::string& sql) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(database);
  return out;
}

/// All rows of a query, cells joined by "|", rows by ";".
std::string answer_of(std::string bytes, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_open(":memory:", &database);
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  sqlite3_deserialize(database, "main", reinterpret_cast<unsigned char*>(bytes.data()), size, size, 0);
  std::string out;
  sqlite3_exec(
      database, sql.c_str(),
      [](void* to, int columns, char** cells, char**) {
        for (int i = 0; i < columns; ++i) {
          *static_cast<std::string*>(to) += (i > 0 ? "|" : "") + std::string(cells[i] != nullptr ? cells[i] : "NULL");
        }
        *static_cast<std::string*>(to) += ";";
        return 0;
      },
      &out, nullptr);
  sqlite3_close(database);
  return out;
}

Result<Redaction> redact(const std::string& bytes, std::string& out) {
  return redact_nsys_sqlite(
      bytes,
      [&](std::string_view piece) -> Result<int> {
        out += piece;
        return 0;
      },
      "r.sqlite");
}

std::string small_export() {
  return database_of(R"(
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1, 'void gemm<float>(int)'), (2, 'cudaLaunchKernel_v7000'), (3, '/home/secret/serve.py'),
      (4, 'secret range'), (5, 'ProfilerStep#3'), (6, '/home/secret/kernel'), (7, 'gemm');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, correlationId INTEGER, demangledName INTEGER, shortName INTEGER, label TEXT);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 5, 1, 7, 'secret'), (30, 40, 6, 6, 7, NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, correlationId INTEGER, nameId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (5, 6, 5, 2);
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, textId INTEGER, jsonText TEXT, binaryData BLOB);
    INSERT INTO NVTX_EVENTS VALUES (1, 2, 'secret prompt', 4, '{"secret": 1}', x'736563726574'),
      (1, 2, 'execute_context_0(0)_generation_4(4)', 5, NULL, NULL);
    CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT, memoryBandwidth INTEGER, pwGpuId TEXT);
    INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100', 'secret-a', 3350000000000, 'secret'), (0, 'NVIDIA H100', 'secret-b', 1, ''), (0, 'NVIDIA H100', 'secret-a', 1, '');
    CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
    INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.17.2'), ('EXPORT_PARAM_OUTPUT', '/home/secret/out');
    CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
    INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'secret'), ('ProcessEnvironment', 'TOKEN=secret');
    CREATE TABLE PROCESSES (globalPid INTEGER, name TEXT);
    INSERT INTO PROCESSES VALUES (1, 'secret');
    CREATE VIEW secret_view AS SELECT value FROM StringIds;
    CREATE TRIGGER secret_trigger AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END;
    CREATE TABLE gone (text TEXT); INSERT INTO gone VALUES ('secret of a deleted row'); DELETE FROM gone;)");
}

TEST(RedactNsys, OnlyKnownTablesAndHarmlessTextsComeAlong) {
  const std::string bytes = small_export();
  ASSERT_THAT(bytes, HasSubstr("secret"));
  std::string copy;
  const Result<Redaction> done = redact(bytes, copy);
  ASSERT_TRUE(done) << done.error().line();
  EXPECT_THAT(copy, Not(HasSubstr("secret")));
  EXPECT_EQ(answer_of(copy, "SELECT group_concat(value, '|') FROM StringIds"),
            "void gemm<float>(int)|cudaLaunchKernel_v7000|removed|removed|ProfilerStep#3|removed|gemm;");
  EXPECT_EQ(answer_of(copy, "SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL"), "10|20|5|1|7|removed;30|40|6|6|7|NULL;");
  EXPECT_EQ(answer_of(copy, "SELECT text FROM NVTX_EVENTS"), "removed;execute_context_0(0)_generation_4(4);");
  EXPECT_EQ(answer_of(copy, "SELECT name, uuid, memoryBandwidth FROM TARGET_INFO_GPU"),
            "NVIDIA H100|GPU-1|3350000000000;NVIDIA H100|GPU-2|1;NVIDIA H100|GPU-1|1;");
  EXPECT_EQ(answer_of(copy, "SELECT value FROM META_DATA_EXPORT"), "3.17.2;removed;");
  EXPECT_EQ(
      answer_of(copy, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'TARGET_INFO_SYSTEM%' OR type <> 'table'"),
      "0;");
  EXPECT_EQ(done->stats.dropped_count(), 3U);  // environment, processes, and a table that is not known
  EXPECT_GE(done->removed, 9U);
}

TEST(RedactNsys, DamageAndForeignFilesAreAnswered) {
  const std::string bytes = small_export();
  std::string copy;
  EXPECT_FALSE(redact("", copy));
  EXPECT_FALSE(redact("SQLite format 3", copy));
  EXPECT_THAT(redact(database_of("CREATE TABLE x (y TEXT)"), copy).error().line(),
              HasSubstr("r.sqlite: is no SQLite export"));
  for (std::size_t cut = 0; cut < bytes.size(); cut += 509) {
    copy.clear();
    if (redact(bytes.substr(0, cut), copy)) {
      EXPECT_THAT(copy, Not(HasSubstr("secret"))) << cut;
    }
    std::string damaged = bytes;
    for (std::size_t i = cut; i < std::min(cut + 64, bytes.size()); ++i) damaged[i] = static_cast<char>(~damaged[i]);
    copy.clear();
    if (redact(damaged, copy)) {
      EXPECT_THAT(copy, Not(HasSubstr("secret prompt"))) << cut;
    }
  }
}

}  // namespace
}  // namespace corridor::profile
