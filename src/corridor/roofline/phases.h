// SPDX-License-Identifier: Apache-2.0
// The two phases of generation: a decode step (with its share of prompt tokens) and the way to the first token.
#pragma once

#include "corridor/roofline/predict.h"

namespace corridor::roofline {

/// Arithmetic of the model's matrix products (of the experts in a mixture, else of attention and MLP).
[[nodiscard]] Result<Arithmetic> product_arithmetic(const PredictInput& input);

/// The layout as the engine runs it: one that gives each device some of the layers turns tensor parallel ranks into
/// stages.
[[nodiscard]] graph::Parallelism layout_run(const PredictInput& input);

[[nodiscard]] Result<DecodePrediction> predict_decode(const PredictInput& input, const MemoryFit& memory, bool graphs);
/// `decode` of the same input: under `concurrency` requests wait as long as others hold their places.
[[nodiscard]] Result<PrefillPrediction> predict_prefill(const PredictInput& input, const MemoryFit& memory, bool graphs,
                                                        const DecodePrediction& decode);

}  // namespace corridor::roofline
