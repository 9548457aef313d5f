// SPDX-License-Identifier: Apache-2.0
// The header of a GGUF file: metadata and tensor list, every length checked against the bytes that are there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/model/readers.h"

namespace corridor::model {

/// A metadata value. Long lists of strings are kept as their count only.
using GgufValue = std::variant<std::int64_t, double, bool, std::string, std::vector<double>>;

struct GgufFile {
  std::map<std::string, GgufValue> metadata;
  std::map<std::string, std::uint64_t> list_sizes;  ///< entries of every list, also of those not kept
  std::vector<StoredTensor> tensors;
  double data_begin = 0;  ///< byte at which tensor data starts
  double data_end = 0;    ///< last byte a tensor needs, from the start of the file

  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& key) const;
  [[nodiscard]] std::string text(const std::string& key) const;
  [[nodiscard]] const std::vector<double>* list(const std::string& key) const;
};

[[nodiscard]] Result<GgufFile> read_gguf_file(std::string_view file, const std::string& where);

/// The spec of a model from its parts (one for a single file).
[[nodiscard]] Result<ModelSpec> gguf_model(const std::vector<GgufFile>& parts, const std::string& where);

}  // namespace corridor::model
