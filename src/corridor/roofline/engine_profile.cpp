// SPDX-License-Identifier: Apache-2.0
// Reads engine profiles; every key is required, of the profile or of the one it is based on, so that an engine never
// runs on another's silent default.
#include "corridor/roofline/engine_profile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "corridor/roofline/constant_file.h"

namespace corridor::roofline {

namespace {

constexpr int deepest_base = 4;  // a profile based on itself must end

Result<EngineProfile> fill_engine(const std::string& id, const ConstantFile& file) {
  EngineProfile engine;
  engine.id = id;
  double graphs = 1;
  double fused_norms = 1;
  double fused_quantise = 0;
  double in_turn = 0;
  double prefill_eager = 0;
  double reserves_whole = 1;
  double flash_attention = 1;
  const std::array<std::pair<const char*, double*>, 24> keys = {{
      {"host_per_step_s", &engine.host_per_step_s},
      {"host_per_request_s", &engine.host_per_request_s},
      {"sampler_s", &engine.sampler_s},
      {"launch_gap_graph_s", &engine.launch_gap_graph_s},
      {"launch_gap_eager_s", &engine.launch_gap_eager_s},
      {"old_host_factor", &engine.old_host_factor},
      {"graphs_default", &graphs},
      {"max_batched_tokens", &engine.max_batched_tokens},
      {"kv_pool_fraction", &engine.kv_pool_fraction},
      {"reserve_bytes", &engine.reserve_bytes},
      {"request_overhead_s", &engine.request_overhead_s},
      {"prefill_interference", &engine.prefill_interference},
      {"fused_norms", &fused_norms},
      {"fused_quantise", &fused_quantise},
      {"layers_in_turn", &in_turn},
      {"prefill_eager", &prefill_eager},
      {"flash_attention", &flash_attention},
      {"wide_fraction", &engine.wide_fraction},
      {"quantised_fraction", &engine.quantised_fraction},
      {"speculation_round_s", &engine.speculation_round_s},
      {"turn_overlap", &engine.turn_overlap},
      {"reserves_whole", &reserves_whole},
      {"queue_meeting", &engine.queue_meeting},
      {"queue_wave", &engine.queue_wave},
  }};
  for (const auto& [key, target] : keys) {
    const Result<double> value = file.number(key);
    if (!value) return tl::unexpected(value.error());
    *target = *value;
  }
  engine.graphs_default = graphs != 0;
  engine.fused_norms = fused_norms != 0;
  engine.fused_quantise = fused_quantise != 0;
  engine.layers_in_turn = in_turn != 0;
  engine.prefill_eager = prefill_eager != 0;
  engine.reserves_whole = reserves_whole != 0;
  engine.flash_attention = flash_attention != 0;
  engine.attention_decode_t0_s = file.number("attention_decode_t0_s").value_or(0);
  const auto text = [&](const char* key) {
    const auto found = file.texts.find(key);
    return found == file.texts.end() ? std::string() : found->second;
  };
  engine.fused_all_reduce = text("all_reduce_kernel") == "fused";
  engine.interval_class = text("interval_class");
  std::set<std::string> sources;
  for (const auto& [key, constant] : file.values) sources.insert(constant.source);
  engine.sources.assign(sources.begin(), sources.end());
  return engine;
}

/// A profile's own values over those of the profile it is based on.
Result<ConstantFile> read_profile(const Assets& assets, const std::string& id, int depth) {
  const std::string path = "engines/" + id + ".toml";
  const Result<std::string_view> text = assets.read(path);
  if (!text) return tl::unexpected(text.error());
  Result<ConstantFile> own = parse_constants(*text, assets.describe(path));
  if (!own) return own;
  const auto base = own->texts.find("based_on");
  if (base == own->texts.end()) return own;
  if (depth >= deepest_base) {
    return fail("profiles are based on each other in a circle", assets.describe(path), "correct based_on");
  }
  Result<ConstantFile> whole = read_profile(assets, base->second, depth + 1);
  if (!whole) return whole;
  whole->overlay(*own);
  for (const auto& [key, value] : own->texts) whole->texts[key] = value;
  return whole;
}

/// What stands before a file's first constant: who it applies to.
Result<ConstantFile> read_head(const Assets& assets, const std::string& path) {
  const Result<std::string_view> text = assets.read(path);
  if (!text) return tl::unexpected(text.error());
  const std::string_view before = text->substr(0, text->find("= {"));
  const std::size_t end = before.rfind('\n');
  return parse_constants(before.substr(0, end == std::string_view::npos ? 0 : end + 1), assets.describe(path));
}

/// Lower case, words parted by one space: "TensorRT-LLM (2023)" → " tensorrt llm 2023 ".
std::string words_of(std::string_view text) {
  std::string out = " ";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      out += static_cast<char>(std::tolower(byte));
    } else if (out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.back() != ' ') out += ' ';
  return out;
}

/// Numbers in a version or a date, in order: "v0.6.1" → {0, 6, 1}, "b3265" → {3265}, "2024-05" → {2024, 5}.
std::vector<double> numbers_of(std::string_view text) {
  std::vector<double> numbers;
  bool inside = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit) {
      if (!inside) numbers.push_back(0);
      numbers.back() = std::min(1e15, numbers.back() * 10 + (c - '0'));
    }
    inside = digit;
  }
  return numbers;
}

bool below(const std::vector<double>& value, const std::vector<double>& limit) {
  return std::lexicographical_compare(value.begin(), value.end(), limit.begin(), limit.end());
}

/// One profile as a candidate for an engine word.
struct Candidate {
  std::string id;
  std::size_t matched = 0;                             ///< letters of the longest of its words found
  std::optional<std::vector<double>> versions, dates;  ///< it holds below these
};

std::optional<Candidate> candidate(const Assets& assets, const std::string& id, const std::string& words) {
  const Result<ConstantFile> head = read_head(assets, "engines/" + id + ".toml");
  if (!head) return std::nullopt;  // load_engine tells what is wrong with it
  Candidate found{id, 0, std::nullopt, std::nullopt};
  const auto list = head->lists.find("engine_words");
  if (list == head->lists.end()) return std::nullopt;
  for (const std::string& each : list->second) {
    const std::string word = words_of(each);
    if (words.find(word) != std::string::npos) found.matched = std::max(found.matched, word.size());
  }
  if (found.matched == 0) return std::nullopt;
  const auto methods = head->lists.find("method_words");
  if (methods != head->lists.end()) {
    const auto named = std::find_if(methods->second.begin(), methods->second.end(), [&](const std::string& each) {
      return words.find(words_of(each)) != std::string::npos;
    });
    if (named == methods->second.end()) return std::nullopt;
    found.matched += named->size();
  }
  const auto limit = [&](const char* key) -> std::optional<std::vector<double>> {
    const auto text = head->texts.find(key);
    if (text == head->texts.end()) return std::nullopt;
    return numbers_of(text->second);
  };
  found.versions = limit("versions_below");
  found.dates = limit("dates_below");
  return found;
}

}  // namespace

std::vector<std::string> engine_ids(const Assets& assets) {
  std::vector<std::string> ids;
  for (const std::string& path : assets.list("engines")) {
    if (path.ends_with(".toml")) ids.push_back(path.substr(8, path.size() - 8 - 5));  // engines/ID.toml
  }
  return ids;
}

std::string engine_for(const Assets& assets, std::string_view engine_word, std::string_view version,
                       std::string_view date) {
  const std::string words = words_of(engine_word);
  const std::vector<double> release = numbers_of(version);
  const std::vector<double> day = numbers_of(date);
  std::optional<Candidate> best;
  const auto narrower = [](const Candidate& a, const Candidate& b) {  // whether a holds for less than b
    if (a.versions.has_value() != b.versions.has_value()) return a.versions.has_value();
    return a.versions && below(*a.versions, *b.versions);
  };
  for (const std::string& id : engine_ids(assets)) {
    const std::optional<Candidate> one = candidate(assets, id, words);
    if (!one) continue;
    if (one->versions || one->dates) {
      const bool by_version = !release.empty() && one->versions.has_value();
      const bool applies = by_version ? below(release, *one->versions)
                                      : release.empty() && !day.empty() && one->dates && below(day, *one->dates);
      if (!applies) continue;
    }
    if (!best || one->matched > best->matched || (one->matched == best->matched && narrower(*one, *best))) best = one;
  }
  return best ? best->id : std::string();
}

Result<EngineProfile> load_engine(const Assets& assets, std::string_view name) {
  const std::vector<std::string> ids = engine_ids(assets);
  if (std::find(ids.begin(), ids.end(), name) == ids.end()) {
    std::string known;
    for (const std::string& id : ids) known += (known.empty() ? "" : ", ") + id;
    return fail("unknown engine \"" + std::string(name) + "\"", "--engine", "choose one of " + known);
  }
  const Result<ConstantFile> file = read_profile(assets, std::string(name), 0);
  if (!file) return tl::unexpected(file.error());
  Result<EngineProfile> engine = fill_engine(std::string(name), *file);
  if (!engine) return engine;
  Result<IntervalTable> intervals = IntervalTable::load(assets);
  if (!intervals) return tl::unexpected(intervals.error());
  engine->intervals = std::make_shared<const IntervalTable>(std::move(*intervals));
  return engine;
}

}  // namespace corridor::roofline
