// SPDX-License-Identifier: Apache-2.0
// Files that are none: pipes, devices and folders are refused at once, for reading and for writing.
#include "corridor/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "corridor/base/file_writer.h"

namespace corridor {
namespace {

class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "corridor-file-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

TEST_F(File, IsReadBackAsWritten) {
  ASSERT_TRUE(write_text_file(path("a"), "first, longer"));
  ASSERT_TRUE(write_text_file(path("a"), "second"));
  EXPECT_EQ(read_text_file(path("a")).value_or(""), "second");
  EXPECT_FALSE(read_text_file(path("a"), 3));
  EXPECT_FALSE(read_text_file(path("absent")));
  EXPECT_TRUE(exists(path("a")));
  EXPECT_FALSE(exists(path("absent")));
}

TEST_F(File, RefusesPipesDevicesAndFoldersWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  ASSERT_TRUE(std::filesystem::create_directory(path("folder")));
  for (const std::string& name : {path("pipe"), path("folder"), std::string("/dev/zero"), std::string("/dev/null")}) {
    const auto text = read_text_file(name);
    ASSERT_FALSE(text) << name;
    EXPECT_EQ(text.error().what, "not a regular file") << name;
  }
  for (const std::string& name : {path("pipe"), path("folder"), std::string("/dev/zero")}) {
    const auto written = write_text_file(name, "x");
    ASSERT_FALSE(written) << name;
    EXPECT_EQ(written.error().what, "not a regular file") << name;
  }
}

TEST_F(File, AppearsOnlyWhenItIsWhole) {
  ASSERT_TRUE(write_text_file(path("a"), "as before"));
  const Result<MappedFile> before = MappedFile::open(path("a"));
  ASSERT_TRUE(before);
  {
    Result<FileWriter> given_up = FileWriter::open(path("a"));
    ASSERT_TRUE(given_up);
    ASSERT_TRUE(given_up->write("half"));
  }
  EXPECT_EQ(folder_entries(path("")), (std::vector<std::string>{"a"}));
  Result<FileWriter> writer = FileWriter::open(path("a"));
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->write("one, "));
  EXPECT_EQ(read_text_file(path("a")).value_or(""), "as before");
  ASSERT_TRUE(writer->write("two"));
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(read_text_file(path("a")).value_or(""), "one, two");
  EXPECT_EQ(before->text(), "as before");  // a mapping of the file that was replaced stays readable
  EXPECT_FALSE(FileWriter::open(path("")));
  EXPECT_FALSE(FileWriter::open(path("absent/b")));
}

}  // namespace
}  // namespace corridor
