// SPDX-License-Identifier: Apache-2.0
// From names to a case: model, device, engine and constants, each read once however many cases are made of them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "corridor/app/predict.h"

namespace corridor::app {

/// `assets` must outlive the loader.
class CaseLoader {
 public:
  explicit CaseLoader(const Assets& assets) : assets_(assets), constants_(assets) {}

  /// All that `predict` answers but the prediction itself: names resolved, defaults chosen and written down.
  [[nodiscard]] Result<PredictAnswer> prepare(const PredictRequest& request);
  [[nodiscard]] const Assets& assets() const { return assets_; }
  [[nodiscard]] roofline::ConstantFiles& constants() { return constants_; }

 private:
  template <class T>
  struct Loaded {
    T value;
    std::vector<std::string> notes;
  };
  [[nodiscard]] Result<int> take_model(const PredictRequest& request, PredictAnswer& answer);
  [[nodiscard]] Result<int> take_device(const std::string& name, PredictAnswer& answer);
  [[nodiscard]] Result<int> take_draft(const PredictRequest& request, PredictAnswer& answer);

  const Assets& assets_;
  std::map<std::pair<std::string, std::string>, Loaded<model::ModelSpec>> models_;  ///< by name and --params
  std::map<std::string, Loaded<hardware::Device>> devices_;
  roofline::ConstantFiles constants_;
};

/// As app::predict, with what the loader has read already.
[[nodiscard]] Result<PredictAnswer> predict(CaseLoader& loader, const PredictRequest& request);

/// The prediction of a prepared case for one scenario of it. With `facts` of its model, kept for many scenarios, the
/// tables of operations are left out.
[[nodiscard]] Result<roofline::Prediction> predict_case(const PredictAnswer& prepared, const graph::Scenario& scenario,
                                                        const roofline::ModelFacts* facts = nullptr);

}  // namespace corridor::app
