// SPDX-License-Identifier: Apache-2.0
// From words to ranked levers: the flags a lever names give the gain it promised, and bad hints are refused.
#include "corridor/app/levers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corridor::app {
namespace {

const Assets& assets() {
  static const Assets all = Assets::open().value();
  return all;
}

PredictRequest request(const std::string& model, const std::string& device) {
  PredictRequest r;
  r.model = model;
  r.device = device;
  return r;
}

const lever::LeverResult& find(const LeversAnswer& answer, const std::string& id) {
  for (const lever::LeverResult& r : answer.levers) {
    if (r.id == id) return r;
  }
  ADD_FAILURE() << id << " is missing";
  return answer.levers.front();
}

double all_users(const PredictAnswer& a) {
  const roofline::DecodePrediction& d = a.prediction.decode;
  return d.sequences * static_cast<double>(a.scenario.parallelism.dp) / d.tpot_s(d.expected.mid);
}

TEST(Levers, TheFlagsOfALeverGiveWhatItPromised) {
  PredictRequest r = request("meta-llama/Llama-3.1-8B", "h100-sxm");
  const LeversAnswer answer = levers(assets(), r, {}).value();
  const lever::LeverResult& weights = find(answer, "weights_8bit");
  ASSERT_EQ(weights.change, "--weights fp8");
  r.weights = "fp8";
  EXPECT_NEAR(all_users(predict(assets(), r).value()) / all_users(answer.base), weights.gain.mid, 1e-9);

  const lever::LeverResult& guesses = find(answer, "speculation");
  ASSERT_TRUE(guesses.changed && guesses.changed->scenario && guesses.changed->draft);
  r.weights.clear();
  r.spec_tokens = guesses.changed->scenario->speculation.draft_tokens;
  r.spec_acceptance = guesses.changed->scenario->speculation.acceptance;
  r.spec_draft = guesses.change.substr(guesses.change.rfind(' ') + 1);
  EXPECT_NEAR(all_users(predict(assets(), r).value()) / all_users(answer.base), guesses.gain.mid, 1e-6);
}

TEST(Levers, LookAtOtherDevicesOfTheSameMaker) {
  const LeversAnswer answer = levers(assets(), request("meta-llama/Llama-3.1-8B", "h100-sxm"), {}).value();
  const lever::LeverResult& other = find(answer, "other_device");
  ASSERT_TRUE(other.applies);
  ASSERT_TRUE(other.changed->device.has_value());
  EXPECT_EQ(other.changed->device->vendor, answer.base.device.vendor);
  EXPECT_GT(other.changed->device->memory_bandwidth->value, answer.base.device.memory_bandwidth->value);
}

TEST(Levers, AnAcceptanceAloneIsAHint) {
  PredictRequest r = request("meta-llama/Llama-3.1-8B", "h100-sxm");
  r.spec_acceptance = 0.9;
  const LeversAnswer answer = levers(assets(), r, {}).value();
  EXPECT_EQ(answer.base.scenario.speculation.draft_tokens, 0);
  EXPECT_THAT(find(answer, "speculation").change, testing::HasSubstr("--spec-acceptance 0.9"));
}

TEST(Levers, RefuseHintsOutOfRange) {
  const PredictRequest r = request("meta-llama/Llama-3.1-8B", "h100-sxm");
  EXPECT_EQ(levers(assets(), r, {{10, 0}, {}}).error().where, "--output-lengths");
  EXPECT_EQ(levers(assets(), r, {{}, 1.5}).error().where, "--spec-acceptance");
}

}  // namespace
}  // namespace corridor::app
