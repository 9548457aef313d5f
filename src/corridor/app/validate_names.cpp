// SPDX-License-Identifier: Apache-2.0
// Tries a name as written, then cleaned, then by the table of spellings; keeps every answer, failures too.
#include "corridor/app/validate_names.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "corridor/app/scenario_builder.h"
#include "corridor/base/nearest.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/model/readers.h"
#include "corridor/profile/points/words.h"

namespace corridor::app {
namespace {

constexpr const char* spellings_file = "validation/model_names.csv";
constexpr std::size_t longest_shown = 60;

/// Letters and digits only, lower case: "LLaMA 70B" and "llama-70b" are one name.
std::string squash(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

/// "written,model" lines; those that start with '#' and the head are skipped.
std::map<std::string, std::string> read_spellings(const Assets& assets) {
  std::map<std::string, std::string> out;
  const Result<std::string_view> text = assets.read(spellings_file);
  std::string_view rest = text ? *text : std::string_view{};
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t comma = line.rfind(',');
    if (comma == std::string_view::npos || line.front() == '#') continue;
    out.emplace(squash(line.substr(0, comma)), line.substr(comma + 1));
  }
  return out;
}

/// A table names models, never files of this machine.
bool is_path(const std::string& name) {
  return name.front() == '/' || name.front() == '.' || name.front() == '~' || name.front() == '\\';
}

template <class T>
Result<const T*> seen(const Result<std::unique_ptr<T>>& known) {
  if (!known) return tl::unexpected(known.error());
  return known->get();
}

}  // namespace

PointNames::PointNames(const Assets& assets, std::string default_device)
    : assets_(assets),
      constants_(assets),
      default_device_(std::move(default_device)),
      spellings_(read_spellings(assets)) {}

PointNames::Known<PointDevice> PointNames::load_device(const std::string& written) {
  if (written.empty()) return fail("the row names no device and --device gives none");
  const bool named_file = written == default_device_;  // only the user may point at a file
  if (!named_file && is_path(written)) return fail("the device is not in the catalogue");
  Result<hardware::ResolvedDevice> found = hardware::find_device(assets_, written);
  for (const std::string& word : {profile::device_word(written), profile::short_device_word(written)}) {
    if (!found && !word.empty() && word != written && !is_path(word)) found = hardware::find_device(assets_, word);
  }
  if (!found && named_file) return tl::unexpected(found.error());
  if (!found) return fail("the device is not in the catalogue: " + shown_word(written, longest_shown));
  if (!named_file) {
    // Software lists each die of a board of two as one device, and tables count what software lists.
    const std::string die = found->device.id + "-gcd";
    Result<hardware::ResolvedDevice> one = hardware::find_device(assets_, die);
    if (one && one->device.id == die) found = std::move(one);
  }
  Result<roofline::KernelConstants> constants = constants_.constants(found->device);
  if (!constants) return tl::unexpected(constants.error());
  return std::make_unique<PointDevice>(PointDevice{std::move(found->device), std::move(*constants)});
}

Result<const PointDevice*> PointNames::device(const std::string& written) {
  const std::string& name = written.empty() ? default_device_ : written;
  auto known = devices_.find(name);
  if (known == devices_.end()) known = devices_.emplace(name, load_device(name)).first;
  return seen(known->second);
}

Result<model::ModelSpec> PointNames::load_spec(const profile::MeasuredPoint& point, bool& shapes_known) const {
  if (!point.model.empty() && !is_path(point.model)) {
    const auto spelling = spellings_.find(squash(point.model));
    Result<model::ResolvedModel> found =
        model::find_model(assets_, spelling != spellings_.end() ? spelling->second : point.model);
    if (found) return std::move(found->model);
  }
  if (point.parameters) {
    Result<model::ModelSpec> plain = model::plain_dense_model(*point.parameters);
    if (plain) {
      shapes_known = false;
      return plain;
    }
  }
  if (point.model.empty()) return fail("the row names no model");
  return fail("the model is not known and no number of parameters is given: " + shown_word(point.model, longest_shown));
}

PointNames::Known<PointModel> PointNames::load_model(const profile::MeasuredPoint& point) const {
  bool shapes_known = true;
  Result<model::ModelSpec> spec = load_spec(point, shapes_known);
  if (!spec) return tl::unexpected(spec.error());
  if (!point.weights.empty()) {
    const std::string word = profile::weight_format_word(point.weights);
    if (word.empty() || !format_weights(*spec, word)) {
      return fail("the weight format is not known: " + shown_word(point.weights, longest_shown));
    }
  }
  roofline::ModelFacts facts(*spec);
  PointModel out{std::move(*spec), std::move(facts), shapes_known, false};
  for (const model::LayerGroup& group : out.spec.layers) out.routed = out.routed || group.feed_forward.experts > 0;
  return std::make_unique<PointModel>(std::move(out));
}

Result<const PointModel*> PointNames::model(const profile::MeasuredPoint& point) {
  std::string key = point.model + '\n' + point.weights;
  if (point.parameters) key += fmt::format("\n{}", *point.parameters);
  auto known = models_.find(key);
  if (known == models_.end()) known = models_.emplace(std::move(key), load_model(point)).first;
  return seen(known->second);
}

PointNames::Known<PointEngine> PointNames::load_engine(const profile::MeasuredPoint& point,
                                                       const std::string& usual) const {
  const std::string word = profile::engine_word(point.engine);
  std::string id =
      word.empty() ? std::string() : roofline::engine_for(assets_, word, profile::version_of(point.engine), point.date);
  const bool known = !id.empty();
  if (!known) id = usual;
  Result<roofline::EngineProfile> profile = roofline::load_engine(assets_, id);
  if (!profile) return tl::unexpected(profile.error());
  profile->known = known;
  return std::make_unique<PointEngine>(PointEngine{std::move(*profile), known});
}

Result<const PointEngine*> PointNames::engine(const profile::MeasuredPoint& point, const hardware::Device& device) {
  const std::string usual = device.default_engine.empty() ? "vllm" : device.default_engine;
  std::string key = point.engine + '\n' + point.date + '\n' + usual;
  auto known = engines_.find(key);
  if (known == engines_.end()) known = engines_.emplace(std::move(key), load_engine(point, usual)).first;
  return seen(known->second);
}

}  // namespace corridor::app
