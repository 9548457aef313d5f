// SPDX-License-Identifier: Apache-2.0
// Gathers what the levers need: the case, its prediction, and the other devices of the same maker.
#include "corridor/app/levers.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "corridor/hardware/catalogue.h"

namespace corridor::app {
namespace {

constexpr std::size_t most_choices = 4;  // predicted; three are named
constexpr double longest_answer = 1e8;   // tokens
constexpr std::size_t most_lengths = 1'000'000;

/// What a device file says of these few things, found without parsing it: parsing a whole catalogue takes longer than
/// all predictions together. A file written in another way than the shipped ones is passed over.
struct Glance {
  std::string path;
  std::string memory_kind;
  double bandwidth = 0, peak = 0;
};

/// The text in quotes of `key` in the head of the file; empty when there is none.
std::string_view head_text(std::string_view file, const std::string& key) {
  const std::string_view head = file.substr(0, file.find("\n["));
  const std::string mark = "\n" + key + " = \"";
  const std::size_t at = head.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = head.substr(at + mark.size());
  return rest.substr(0, rest.find('"'));
}

/// The value of `key` in `table`; 0 when it is not there.
double table_number(std::string_view file, const std::string& table, const std::string& key) {
  const std::size_t start = file.find("\n[" + table + "]");
  if (start == std::string_view::npos) return 0;
  const std::string_view rows = file.substr(start + 1, file.find("\n[", start + 1) - start - 1);
  const std::string mark = "\n" + key + " = { value = ";
  const std::size_t at = rows.find(mark);
  if (at == std::string_view::npos) return 0;
  const std::string_view digits = rows.substr(at + mark.size());
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// "HBM", "GDDR", "LPDDR": who has a card of one kind seldom has a use for another kind.
std::string memory_kind(std::string_view memory_type) {
  return std::string(memory_type.substr(0, memory_type.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ")));
}

/// Devices of the same maker and kind with more bandwidth or a higher peak, those with most bandwidth first.
std::vector<Glance> larger_devices(const Assets& assets, const PredictAnswer& base) {
  const hardware::Device& present = base.device;
  const hardware::ComputeType type = base.prediction.arithmetic.type;
  const std::string peak_key = std::string(hardware::name(type)) + "_flop_per_s";
  const double present_peak = present.peak(type) ? present.peak(type)->value.value() : 0;
  std::vector<Glance> found;
  for (const std::string& path : assets.list("devices")) {
    const Result<std::string_view> text = assets.read(path);
    if (!text || head_text(*text, "vendor") != present.vendor || head_text(*text, "id") == present.id) continue;
    if (head_text(*text, "kind") != hardware::name(present.kind)) continue;
    Glance glance{path, memory_kind(head_text(*text, "memory_type")),
                  table_number(*text, "memory", "bandwidth_bytes_per_s"), table_number(*text, "peaks", peak_key)};
    const bool larger = glance.bandwidth > present.memory_bandwidth->value.value() || glance.peak > present_peak;
    if (larger) found.push_back(std::move(glance));
  }
  const std::string kind = memory_kind(present.memory_type);
  const auto alike = [&](const Glance& glance) { return glance.memory_kind == kind; };
  if (std::any_of(found.begin(), found.end(), alike)) {
    std::erase_if(found, [&](const Glance& glance) { return !alike(glance); });
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Glance& a, const Glance& b) { return a.bandwidth > b.bandwidth; });
  if (found.size() > most_choices) found.erase(found.begin() + most_choices, found.end());
  return found;
}

std::vector<lever::DeviceChoice> device_choices(CaseLoader& loader, const PredictAnswer& base) {
  std::vector<lever::DeviceChoice> choices;
  if (base.device.vendor.empty()) return choices;
  for (const Glance& glance : larger_devices(loader.assets(), base)) {
    const Result<std::string_view> text = loader.assets().read(glance.path);
    if (!text) continue;
    Result<hardware::Device> device = hardware::parse_device(*text, glance.path);
    if (!device || !device->memory_bandwidth) continue;
    Result<roofline::KernelConstants> constants = loader.constants().constants(*device);
    if (constants) choices.push_back({std::move(*device), std::move(*constants)});
  }
  return choices;
}

Result<int> check_hints(const LeverHints& hints) {
  if (hints.output_lengths.size() > most_lengths) {
    return fail(fmt::format("{} lengths", hints.output_lengths.size()), "--output-lengths",
                fmt::format("give at most {}", most_lengths));
  }
  for (const double length : hints.output_lengths) {
    if (!(length >= 1 && length <= longest_answer)) {
      return fail(fmt::format("{} is not a length", length), "--output-lengths", "give tokens, 1 or more each");
    }
  }
  if (hints.acceptance && !(*hints.acceptance >= 0 && *hints.acceptance <= 1)) {
    return fail(fmt::format("{} is not between 0 and 1", *hints.acceptance), "--spec-acceptance",
                "give the share of guesses that are accepted");
  }
  return 0;
}

}  // namespace

std::vector<lever::LeverResult> rank_levers(CaseLoader& loader, const PredictAnswer& base, const LeverHints& hints) {
  const std::vector<lever::DeviceChoice> choices = device_choices(loader, base);
  const roofline::PredictInput input{base.model,  base.device,    base.scenario,
                                     base.engine, base.constants, base.draft ? &*base.draft : nullptr};
  return lever::rank_levers({input, base.prediction, hints.output_lengths, hints.acceptance, &choices});
}

Result<LeversAnswer> levers(const Assets& assets, PredictRequest request, LeverHints hints) {
  if (request.spec_acceptance && !request.spec_tokens && request.spec_draft.empty()) {
    hints.acceptance = std::exchange(request.spec_acceptance, std::nullopt);
  }
  if (Result<int> ok = check_hints(hints); !ok) return tl::unexpected(ok.error());
  CaseLoader loader(assets);
  Result<PredictAnswer> base = predict(loader, request);
  if (!base) return tl::unexpected(base.error());
  LeversAnswer answer{std::move(*base), {}};
  answer.levers = rank_levers(loader, answer.base, hints);
  return answer;
}

}  // namespace corridor::app
