// SPDX-License-Identifier: Apache-2.0
// The positional words of `corridor diagnose`: a model, files of a run, standard input, the address of a server.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "corridor/app/run_files.h"
#include "corridor/base/file.h"
#include "corridor/base/result.h"

namespace corridor::cli {

/// A deque: the bytes of a file stay where they are.
struct RunInput {
  std::deque<MappedFile> mapped;
  std::deque<std::string> owned;  ///< standard input and fetched pages
  app::RunFiles files;
  std::string model;                      ///< the one word that is no file of a run; empty = none
  std::optional<double> metrics_seconds;  ///< between two pages of a server
};

/// `format`: what all files of a run are taken as; empty = by content. `duration`: with a server's address, the time
/// between its two pages; with two files, the time that lay between them.
[[nodiscard]] Result<RunInput> read_run_input(const std::vector<std::string>& words, const std::string& format,
                                              const std::string& duration);

}  // namespace corridor::cli
