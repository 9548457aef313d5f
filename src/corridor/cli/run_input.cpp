// SPDX-License-Identifier: Apache-2.0
// Opens what the words name and sorts it by content.
#include "corridor/cli/run_input.h"

#include <iostream>

#include "corridor/cli/fetch_metrics.h"
#include "corridor/units/text.h"

namespace corridor::cli {
namespace {

using profile::FileKind;

// More on standard input than this is a trace that should be a file: a pipe cannot be mapped.
constexpr std::size_t most_piped_bytes = std::size_t{1} << 30U;

/// Endings of files that a model reader takes.
bool is_named_as_model(const std::string& word) {
  for (const char* ending : {".json", ".safetensors", ".gguf"}) {
    if (word.ends_with(ending)) return true;
  }
  return false;
}

class InputReader {
 public:
  InputReader(std::optional<FileKind> forced, std::optional<double> pause_s) : forced_(forced), pause_s_(pause_s) {}

  Result<int> take(const std::string& word) {
    if (word == "-") return take_piped();
    if (is_url(word)) return take_url(word);
    if (!is_file(word)) return take_model(word);
    Result<MappedFile> file = MappedFile::open(word);
    if (!file) return take_model(word);  // the reader of a model says why
    input_.mapped.push_back(std::move(*file));
    const app::RunFile named{word, input_.mapped.back().text()};
    const Result<FileKind> kind = app::kind_of_file(named);
    if (!kind) return tl::unexpected(kind.error());
    if (*kind == FileKind::model || (*kind == FileKind::text && !forced_ && is_named_as_model(word)))
      return take_model(word);
    app::sort_file(named, forced_.value_or(*kind), input_.files);
    return 0;
  }

  Result<RunInput> finish() {
    const std::size_t pages = input_.files.metrics.size();
    if (pause_s_ && !input_.metrics_seconds) {
      if (pages < 2)
        return fail("has no effect without two metrics pages", "--for",
                    "give a server's address, as http://127.0.0.1:8000/metrics, or two pages");
      input_.metrics_seconds = pause_s_;
    }
    return std::move(input_);
  }

 private:
  Result<int> take_model(const std::string& word) {
    if (!input_.model.empty()) {
      return fail("no such file, and the model is " + input_.model + " already", word,
                  "give one model and any number of files of a run");
    }
    input_.model = word;
    return 0;
  }

  Result<int> take_piped() {
    std::string text;
    std::vector<char> piece(std::size_t{1} << 20U);
    while (text.size() < most_piped_bytes) {
      std::cin.read(piece.data(), static_cast<std::streamsize>(piece.size()));
      if (std::cin.gcount() <= 0) break;
      text.append(piece.data(), static_cast<std::size_t>(std::cin.gcount()));
    }
    return take_owned("standard input", std::move(text));
  }

  Result<int> take_url(const std::string& url) {
    Result<FetchedPages> pages = fetch_metrics(url, pause_s_);
    if (!pages) return tl::unexpected(pages.error());
    if (pages->seconds) input_.metrics_seconds = pages->seconds;
    for (std::string* page : {&pages->first, pages->second ? &*pages->second : nullptr}) {
      if (page == nullptr) continue;
      input_.owned.push_back(std::move(*page));
      app::sort_file({url, input_.owned.back()}, FileKind::metrics, input_.files);
    }
    return 0;
  }

  Result<int> take_owned(const std::string& name, std::string text) {
    input_.owned.push_back(std::move(text));
    const app::RunFile file{name, input_.owned.back()};
    const Result<FileKind> kind = app::kind_of_file(file);
    if (!kind) return tl::unexpected(kind.error());
    app::sort_file(file, forced_.value_or(*kind), input_.files);
    return 0;
  }

  std::optional<FileKind> forced_;
  std::optional<double> pause_s_;
  RunInput input_;
};

}  // namespace

Result<RunInput> read_run_input(const std::vector<std::string>& words, const std::string& format,
                                const std::string& duration) {
  std::optional<FileKind> forced;
  if (!format.empty()) {
    forced = profile::file_kind_from(format);
    if (!forced) return fail("unknown kind of file", "--format " + format, "choose " + profile::file_kind_words());
  }
  std::optional<double> pause_s;
  if (!duration.empty()) {
    const Result<units::Seconds> given = units::parse_seconds(duration);
    if (!given) return fail(given.error().what, "--for " + duration, given.error().fix);
    constexpr double least_pause_s = 0.01, most_pause_s = 86400;
    if (!(given->value() >= least_pause_s && given->value() <= most_pause_s))
      return fail("is no time to watch a server", "--for " + duration, "give 10ms to 24h");
    pause_s = given->value();
  }
  InputReader reader(forced, pause_s);
  for (const std::string& word : words) {
    if (Result<int> ok = reader.take(word); !ok) return tl::unexpected(ok.error());
  }
  return reader.finish();
}

}  // namespace corridor::cli
