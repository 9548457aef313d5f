// SPDX-License-Identifier: Apache-2.0
// Lever: speculative decoding. One pass checks several guesses, so the weights are read once for several tokens.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"
#include "corridor/model/matrices.h"
#include "corridor/model/readers.h"
#include "corridor/units/text.h"

namespace corridor::lever {
namespace {

using roofline::Prediction;

// Nobody can know the acceptance before measuring: drafts of the same family are right for about this share of guesses.
constexpr double assumed_acceptance = 0.7;
// Guesses looked up in the text so far are right less often; half is a rule of thumb for chat, measure your own.
constexpr double ngram_share = 0.5;
constexpr double draft_share = 1.0 / 40;  // size of the draft ÷ size of the model, as 1.7B for 70B
constexpr double smallest_draft = 1e6;
constexpr std::int64_t most_guesses = 8;

/// The best number of guesses a round for one way of drafting.
struct Best {
  std::int64_t guesses = 0;
  double tokens_per_s = 0;  ///< per user
  Change change;
  Prediction after;
};

/// `draft` empty: guesses cost nothing (n-gram, prediction layers of the model's own).
Result<Best> best_of(const Situation& s, double acceptance, const std::optional<model::ModelSpec>& draft) {
  const roofline::PredictInput base{s.input.model,  s.input.device,    s.input.scenario,
                                    s.input.engine, s.input.constants, nullptr};
  const Situation without{base, s.now, {}, {}, nullptr};
  Best best;
  for (std::int64_t k = 1; k <= most_guesses; ++k) {
    Change change;
    change.scenario = s.input.scenario;
    change.scenario->speculation = {k, acceptance, draft ? draft->id : ""};
    change.draft = draft;
    Result<Prediction> after = predict_change(without, change, Metric::per_user);
    if (!after) return tl::unexpected(after.error());
    const double rate = metric_value(*after, *change.scenario, Metric::per_user);
    if (rate > best.tokens_per_s) best = {k, rate, std::move(change), std::move(*after)};
  }
  return best;
}

/// Tokens a second without speculation.
Result<double> plain_rate(const Situation& s) {
  if (s.input.scenario.speculation.draft_tokens == 0) return metric_value(s.now, s.input.scenario, Metric::per_user);
  Change off;
  off.scenario = s.input.scenario;
  off.scenario->speculation = {};
  const Result<Prediction> plain = predict_change(s, off, Metric::per_user);
  if (!plain) return tl::unexpected(plain.error());
  return metric_value(*plain, *off.scenario, Metric::per_user);
}

/// The acceptance at which a round of `best` is as fast as no speculation: the tokens a round must yield are the length
/// of the round in plain steps.
std::string break_even(const Best& best, double plain_tokens_per_s) {
  const double needed = best.after.decode.expected.mid.value() * plain_tokens_per_s;
  if (needed > static_cast<double>(best.guesses + 1)) return "at no acceptance";
  const double acceptance = graph::acceptance_for(best.guesses, std::max(1.0, needed));
  if (acceptance < 0.005) return "at any acceptance";
  return fmt::format("above an acceptance of {:.2f}", acceptance);
}

/// The draft to reckon with: the user's, else a plain model of 1/40 of the size.
Result<model::ModelSpec> draft_of(const Situation& s, std::string& size) {
  if (s.input.draft != nullptr) {
    size = s.input.draft->name;
    return *s.input.draft;
  }
  // Rounded as printed, so that the flags give the same draft again.
  const double parameters = std::max(smallest_draft, model::active_parameter_count(s.input.model) * draft_share);
  size = units::print_count(parameters);
  const Result<double> rounded = units::parse_count(size);
  return model::plain_dense_model(rounded ? *rounded : parameters);
}

}  // namespace

LeverResult speculation(const Situation& s) {
  LeverResult result = unavailable("speculation", "speculative decoding", Metric::per_user, "");
  const graph::Speculation& present = s.input.scenario.speculation;
  const bool running = present.draft_tokens > 0;
  const double acceptance = s.acceptance ? *s.acceptance : running ? present.acceptance : assumed_acceptance;
  std::string size;
  Result<model::ModelSpec> draft = draft_of(s, size);
  const Result<double> plain = plain_rate(s);
  const bool keeps_free = running && s.input.draft == nullptr;  // the user's guesses cost nothing
  const double free_acceptance = keeps_free ? acceptance : acceptance * ngram_share;
  Result<Best> free = best_of(s, free_acceptance, std::nullopt);
  if (!draft || !plain || !free) {
    const Error& error = !draft ? draft.error() : !plain ? plain.error() : free.error();
    return unavailable(result.id, result.name, result.metric, error.line());
  }
  Result<Best> drafted = best_of(s, acceptance, *draft);
  if (!drafted) return unavailable(result.id, result.name, result.metric, drafted.error().line());

  const bool takes_free = keeps_free || free->tokens_per_s > drafted->tokens_per_s;
  Best& best = takes_free ? *free : *drafted;
  const double taken_acceptance = takes_free ? free_acceptance : acceptance;
  result.note =
      fmt::format("{} draft pays {} at this batch, n-gram guesses {}; {} {}; acceptance {:.2f}{}{}", size,
                  break_even(*drafted, *plain), break_even(*free, *plain),
                  takes_free ? "the draft would give" : "n-gram guesses would give",
                  times((takes_free ? drafted : free)->tokens_per_s / *plain), acceptance,
                  s.acceptance || running ? "" : " (assumed)", keeps_free ? "" : ", and half of it for n-gram guesses");
  if (running && best.guesses == present.draft_tokens && taken_acceptance == present.acceptance) {
    result.note = fmt::format("{} guesses a round are already the best number; {}", best.guesses, result.note);
    return result;
  }
  const double bound = bound_with_overhead(s, best.change, best.after, result.metric);
  result.change = fmt::format("--spec-tokens {} --spec-acceptance {:g} --spec-draft {}", best.guesses, taken_acceptance,
                              takes_free                 ? "ngram"
                              : s.input.draft != nullptr ? s.input.draft->id
                                                         : size);
  take_gain(s, std::move(best.change), best.after, bound, result);
  result.cost = takes_free ? "none in memory; rejected guesses cost arithmetic"
                           : "memory and time of the draft; rejected guesses cost arithmetic";
  result.stops_at =
      fmt::format("{} guesses a round; and at batches where checking {} tokens a sequence is arithmetic-bound",
                  best.guesses, best.guesses + 1);
  return result;
}

}  // namespace corridor::lever
