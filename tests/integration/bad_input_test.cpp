// SPDX-License-Identifier: Apache-2.0
// Bad input through the real program: exit code 2, nothing on standard output, exactly one line on standard error.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/golden.h"
#include "support/process.h"

namespace corridor::test {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// A complete small Llama configuration with one key replaced.
std::string config(const std::string& layers, const std::string& heads = "8") {
  return R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 512, "vocab_size": 1000,
"intermediate_size": 1024, "num_attention_heads": )" +
         heads + R"(, "num_key_value_heads": 8, "torch_dtype": "bfloat16", "num_hidden_layers": )" + layers + "}";
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

void write_inputs(const fs::path& folder) {
  for (const char* name : {"empty.json", "empty.gguf", "empty.safetensors", "empty.toml"}) {
    write_file(folder / name, "");
  }
  fs::create_directories(folder / "empty_folder");
  write_file(folder / "not_json/config.json", "this is no JSON");
  write_file(folder / "truncated/config.json", config("4").substr(0, 120));
  write_file(folder / "list/config.json", "[1, 2, 3]");
  write_file(folder / "wrong_type/config.json", config("\"many\""));
  write_file(folder / "negative/config.json", config("-3"));
  write_file(folder / "huge/config.json", config("100000000000000000000"));
  write_file(folder / "fraction/config.json", config("3.5"));
  write_file(folder / "no_heads/config.json", config("4", "0"));
  write_file(folder / "deep/config.json", repeated("{\"a\":", 100000));
  const std::string version_3 = std::string("GGUF") + std::string("\x03\0\0\0", 4);
  write_file(folder / "truncated.gguf", version_3 + std::string("\x01\0\0\0", 4));
  write_file(folder / "huge_count.gguf", version_3 + std::string(16, '\xff'));
  write_file(folder / "header_beyond_end.safetensors", std::string(8, '\x7f') + "{}");
  write_file(folder / "not_toml.toml", "= = =");
  write_file(folder / "deep_header.toml", "[a" + repeated(".a", 50000) + "]\n");
  write_file(folder / "deep_list.toml", "a = " + repeated("[", 50000));
  write_file(folder / "deep_table.toml", "a = " + repeated("{a=", 50000));
  write_file(
      folder / "wrong_engine.toml",
      "id = \"x\"\nname = \"X\"\nvendor = \"Y\"\nkind = \"gpu\"\nmemory_type = \"HBM\"\ndefault_engine = \"vlm\"\n");
  for (const char* name : {"pipe.toml", "pipe.gguf", "pipe.html", "data/devices/h100-sxm.toml"}) {
    fs::create_directories((folder / name).parent_path());
    ::mkfifo((folder / name).c_str(), 0600);
  }
  write_file(folder / "no_bandwidth.toml", "id = \"x\"\nname = \"X\"\n");
}

/// Removes its folder at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "corridor-bad-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string with_folder(std::string line, const fs::path& folder) {
  constexpr std::string_view mark = "{generated}";
  for (std::size_t at = line.find(mark); at != std::string::npos; at = line.find(mark, at)) {
    line.replace(at, mark.size(), folder.string());
  }
  return line;
}

void expect_refused(const std::string& line, const std::string& wanted) {
  std::optional<CommandLine> command = split_command_line(line);
  ASSERT_TRUE(command && !command->arguments.empty());
  ASSERT_EQ(command->arguments.front(), "corridor");
  command->arguments.front() = CORRIDOR_PROGRAM;
  const ProcessResult result = run_process(*command, {.time_limit = std::chrono::seconds(20)});
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(split_lines(result.errors).size(), 1U) << result.errors.substr(0, 2000);
  EXPECT_NE(result.errors.find(wanted), std::string::npos) << "no '" << wanted << "' in: " << result.errors;
}

TEST(BadInput, IsRefusedInOneLine) {
  const TemporaryFolder folder;
  ASSERT_FALSE(folder.path().empty());
  write_inputs(folder.path());
  std::ifstream in(CORRIDOR_SOURCE_DIR "/tests/integration/bad_inputs.txt", std::ios::binary);
  int cases = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    SCOPED_TRACE("$ " + line);
    constexpr std::string_view arrow = " => ";
    const std::size_t at = line.find(arrow);
    const std::string wanted = at == std::string::npos ? "" : line.substr(at + arrow.size());
    expect_refused(with_folder(line.substr(0, at), folder.path()), wanted);
    ++cases;
  }
  EXPECT_GT(cases, 10);
}

std::size_t columns_of(const std::string& line) {
  const auto first_bytes = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), first_bytes));
}

TEST(Help, OfEveryCommandFitsEightyColumns) {
  for (const std::string words :
       {"--help", "help", "predict --help", "sweep --help", "levers --help", "diagnose --help", "op --help",
        "op matmul --help", "op attention --help", "op elementwise --help", "block --help", "devices --help",
        "models --help", "help sweep"}) {
    SCOPED_TRACE(words);
    std::optional<CommandLine> command = split_command_line("corridor " + words);
    ASSERT_TRUE(command);
    command->arguments.front() = CORRIDOR_PROGRAM;
    const ProcessResult result = run_process(*command);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.errors, "");
    const std::vector<std::string> lines = split_lines(result.output);
    EXPECT_GT(lines.size(), 5U);
    for (const std::string& line : lines) EXPECT_LE(columns_of(line), 80U) << line;
  }
}

}  // namespace
}  // namespace corridor::test
