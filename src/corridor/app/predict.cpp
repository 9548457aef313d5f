// SPDX-License-Identifier: Apache-2.0
// Prepares the case, then predicts it.
#include "corridor/app/predict.h"

#include "corridor/app/case_loader.h"

namespace corridor::app {

Result<PredictAnswer> predict(const Assets& assets, const PredictRequest& request) {
  CaseLoader loader(assets);
  return predict(loader, request);
}

Result<PredictAnswer> predict(CaseLoader& loader, const PredictRequest& request) {
  Result<PredictAnswer> answer = loader.prepare(request);
  if (!answer) return answer;
  Result<roofline::Prediction> prediction = predict_case(*answer, answer->scenario);
  if (!prediction) return tl::unexpected(prediction.error());
  answer->prediction = std::move(*prediction);
  return answer;
}

}  // namespace corridor::app
