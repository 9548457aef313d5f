// SPDX-License-Identifier: Apache-2.0
// corridor_fit: fits the constants of the time model to the shipped tables of measured points.
//
//   corridor_fit operations [--class NAME] [--points FILE]… [--data DIR] [--rows FILE] [--write DIR]
//   corridor_fit judge      the same without a fit: the published constants against the points
//   corridor_fit engines    [--data DIR] [--only NAME] [--write yes]: what engines add, and the width of intervals
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "corridor/base/assets.h"
#include "engines.h"
#include "operations.h"

namespace corridor::fit {
namespace {

struct Options {
  OperationOptions operations;
  std::optional<std::string> data;
};

Result<Options> read_options(const std::vector<std::string>& words) {
  const std::string usage =
      "corridor_fit operations|judge [--class NAME] [--points FILE]... [--data DIR] [--rows FILE] [--write DIR]";
  if (words.empty() || (words[0] != "operations" && words[0] != "judge")) return fail("say what to fit", "", usage);
  Options out;
  out.operations.judge = words[0] == "judge";
  for (std::size_t i = 1; i < words.size(); i += 2) {
    const std::string& flag = words[i];
    if (i + 1 == words.size()) return fail(flag + " has no value", "", usage);
    const std::string& value = words[i + 1];
    if (flag == "--points") {
      out.operations.files.push_back(value);
    } else if (flag == "--data") {
      out.data = value;
    } else if (flag == "--write") {
      out.operations.write_to = value;
    } else if (flag == "--rows") {
      out.operations.rows = value;
    } else if (flag == "--class") {
      out.operations.only_class = value;
    } else {
      return fail("unknown option " + flag, "", usage);
    }
  }
  return out;
}

Result<int> run_engines(const std::vector<std::string>& words) {
  EngineFitOptions options;
  options.data = "data";
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    const std::string& flag = words[i];
    if (flag == "--data") {
      options.data = words[i + 1];
    } else if (flag == "--only") {
      options.only = words[i + 1];
    } else if (flag == "--write") {
      options.write = words[i + 1] == "yes";
    } else {
      return fail("unknown option " + flag, "", "corridor_fit engines [--data DIR] [--only NAME] [--write yes]");
    }
  }
  const Result<Assets> assets = Assets::open(options.data);
  if (!assets) return tl::unexpected(assets.error());
  return fit_engines(*assets, options);
}

Result<int> run(const std::vector<std::string>& words) {
  if (!words.empty() && words[0] == "engines") return run_engines(words);
  const Result<Options> options = read_options(words);
  if (!options) return tl::unexpected(options.error());
  const Result<Assets> assets = Assets::open(options->data);
  if (!assets) return tl::unexpected(assets.error());
  return fit_operations(*assets, options->operations);
}

}  // namespace
}  // namespace corridor::fit

int main(int argc, char** argv) {
  const corridor::Result<int> done = corridor::fit::run({argv + 1, argv + argc});
  if (done) return *done;
  fmt::print(stderr, "{}\n", done.error().line());
  return 2;
}
