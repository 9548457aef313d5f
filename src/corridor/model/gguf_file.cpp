// SPDX-License-Identifier: Apache-2.0
// Parses the header of a GGUF file (versions 2 and 3, little endian).
#include "corridor/model/gguf_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace corridor::model {
namespace {

constexpr std::uint64_t longest_key = 65'535;
constexpr std::uint64_t kept_list = 20'000;  // entries of a number list worth keeping (one a layer)
constexpr int deepest_list = 3;
constexpr double most_elements = 1e15;

struct BlockType {
  std::uint32_t id;
  std::string_view name;
  std::uint32_t weights;
  std::uint32_t bytes;
};
constexpr std::array<BlockType, 32> block_types{{
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
}};

enum Kind : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, list, u64, i64, f64 };

/// Bytes of a fixed-size kind; 0 for strings, lists and unknown kinds.
std::uint64_t fixed_size(std::uint32_t kind) {
  constexpr std::array<std::uint64_t, 13> sizes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kind < sizes.size() ? sizes[kind] : 0;
}

class GgufReader {
 public:
  GgufReader(std::string_view file, const std::string& where) : file_(file), where_(where) {}
  Result<GgufFile> read();

 private:
  template <class T>
  T take() {
    T value{};
    if (left() < sizeof(T)) {
      cut_ = true;
      at_ = file_.size();
      return value;
    }
    std::memcpy(&value, file_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::string take_string(std::uint64_t longest);
  void skip(std::uint64_t bytes);
  [[nodiscard]] std::size_t left() const { return file_.size() - at_; }

  void read_pair();
  GgufValue take_number(std::uint32_t kind);
  void read_list(const std::string& key, int depth);
  void read_tensor();
  void place_tensors(std::uint64_t alignment);
  void bad(std::string what) {
    // A binary file that went through a text tool has this sequence where bytes were lost.
    const bool as_text = file_.substr(0, 4096).find("\xEF\xBF\xBD") != std::string_view::npos;
    const char* fix = as_text ? "the file was copied as text, which destroyed it; fetch it again as binary"
                              : "the file is damaged; fetch it again";
    if (!error_) error_ = Error{std::move(what), where_, fix};
  }
  [[nodiscard]] bool stopped() const { return cut_ || error_.has_value(); }

  std::string_view file_;
  std::string where_;
  std::size_t at_ = 0;
  bool cut_ = false;
  std::optional<Error> error_;
  GgufFile out_;
  std::vector<std::uint64_t> offsets_;
};

std::string GgufReader::take_string(std::uint64_t longest) {
  const auto length = take<std::uint64_t>();
  if (cut_) return {};
  if (length > longest && longest > 0) {
    bad(fmt::format("a name of {} bytes at byte {}", length, at_));
    return {};
  }
  if (length > left()) {
    cut_ = true;
    return {};
  }
  std::string text(file_.substr(at_, static_cast<std::size_t>(length)));
  at_ += static_cast<std::size_t>(length);
  return text;
}

void GgufReader::skip(std::uint64_t bytes) {
  if (bytes > left()) {
    cut_ = true;
    return;
  }
  at_ += static_cast<std::size_t>(bytes);
}

GgufValue GgufReader::take_number(std::uint32_t kind) {
  switch (kind) {
    case u8:
      return std::int64_t{take<std::uint8_t>()};
    case i8:
      return std::int64_t{take<std::int8_t>()};
    case u16:
      return std::int64_t{take<std::uint16_t>()};
    case i16:
      return std::int64_t{take<std::int16_t>()};
    case u32:
      return std::int64_t{take<std::uint32_t>()};
    case i32:
      return std::int64_t{take<std::int32_t>()};
    case f32:
      return static_cast<double>(take<float>());
    case boolean:
      return take<std::uint8_t>() != 0;
    case i64:
      return take<std::int64_t>();
    case f64:
      return take<double>();
    default: {
      const auto value = take<std::uint64_t>();
      return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
    }
  }
}

void GgufReader::read_list(const std::string& key, int depth) {
  const auto kind = take<std::uint32_t>();
  const auto count = take<std::uint64_t>();
  if (stopped()) return;
  if (depth == 0) out_.list_sizes[key] = count;
  if (kind == list) {
    if (depth >= deepest_list) return bad(fmt::format("{} holds lists in lists", key));
    for (std::uint64_t i = 0; i < count && !stopped(); ++i) read_list(key, depth + 1);
    return;
  }
  if (kind == string) {
    for (std::uint64_t i = 0; i < count && !stopped(); ++i) skip(take<std::uint64_t>());
    return;
  }
  const std::uint64_t size = fixed_size(kind);
  if (size == 0) return bad(fmt::format("{} is a list of unknown kind {}", key, kind));
  if (count > left() / size) {
    cut_ = true;
    return;
  }
  if (depth > 0 || count > kept_list) return skip(count * size);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    values.push_back(std::visit(
        [](const auto& value) -> double {
          using V = std::decay_t<decltype(value)>;
          if constexpr (std::is_arithmetic_v<V>) return static_cast<double>(value);
          return 0;
        },
        take_number(kind)));
  }
  out_.metadata[key] = std::move(values);
}

void GgufReader::read_pair() {
  const std::string key = take_string(longest_key);
  const auto kind = take<std::uint32_t>();
  if (stopped()) return;
  if (out_.metadata.count(key) != 0 || out_.list_sizes.count(key) != 0) {
    return bad(fmt::format("key {} occurs twice", key.substr(0, 80)));
  }
  if (kind == list) return read_list(key, 0);
  if (kind == string) {
    out_.metadata[key] = take_string(0);
  } else if (fixed_size(kind) > 0) {
    out_.metadata[key] = take_number(kind);
  } else {
    bad(fmt::format("key {} has unknown kind {}", key.substr(0, 80), kind));
  }
}

void GgufReader::read_tensor() {
  StoredTensor tensor;
  tensor.name = take_string(longest_key);
  const auto dimensions = take<std::uint32_t>();
  if (stopped()) return;
  const std::string shown = tensor.name.substr(0, 80);
  if (dimensions > 8) return bad(fmt::format("tensor {} has {} dimensions", shown, dimensions));
  tensor.elements = 1;
  for (std::uint32_t i = 0; i < dimensions && !stopped(); ++i) {
    const auto size = take<std::uint64_t>();
    if (static_cast<double>(size) > most_elements) return bad(fmt::format("tensor {} has a size of {}", shown, size));
    tensor.shape.push_back(static_cast<std::int64_t>(size));
    tensor.elements *= static_cast<double>(size);
  }
  const auto type = take<std::uint32_t>();
  const auto offset = take<std::uint64_t>();
  if (stopped()) return;
  if (!(tensor.elements <= most_elements)) return bad(fmt::format("tensor {} has more than 1e15 elements", shown));
  const auto* known =
      std::find_if(block_types.begin(), block_types.end(), [&](const BlockType& block) { return block.id == type; });
  if (known == block_types.end()) {
    error_ = Error{fmt::format("tensor {} has type {}, which is not known", shown, type), where_,
                   "convert the file with a current tool to one of the usual types"};
    return;
  }
  if (!tensor.shape.empty() && tensor.shape.front() % known->weights != 0) {
    return bad(fmt::format("tensor {} has rows of {}, no multiple of its block of {}", shown, tensor.shape.front(),
                           known->weights));
  }
  tensor.type = std::string(known->name);
  tensor.bytes = tensor.elements / known->weights * known->bytes;
  out_.tensors.push_back(std::move(tensor));
  offsets_.push_back(offset);
}

/// Checks that tensors neither overlap nor lie off the alignment, and finds where the data ends.
void GgufReader::place_tensors(std::uint64_t alignment) {
  const std::uint64_t blocks = (at_ + alignment - 1) / alignment;
  out_.data_begin = static_cast<double>(blocks * alignment);
  std::vector<std::size_t> order(offsets_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return offsets_[a] < offsets_[b]; });
  double last = 0;
  for (const std::size_t i : order) {
    const StoredTensor& tensor = out_.tensors[i];
    const auto begin = static_cast<double>(offsets_[i]);
    if (offsets_[i] % alignment != 0) return bad(fmt::format("tensor {} is not aligned", tensor.name.substr(0, 80)));
    if (begin < last) return bad(fmt::format("tensor {} overlaps another", tensor.name.substr(0, 80)));
    last = begin + tensor.bytes;
  }
  out_.data_end = offsets_.empty() ? static_cast<double>(at_) : out_.data_begin + last;
}

Result<GgufFile> GgufReader::read() {
  if (file_.substr(0, 4) != "GGUF") return fail("no GGUF file", where_, "its first four bytes must be GGUF");
  at_ = 4;
  const auto version = take<std::uint32_t>();
  if (!cut_ && (version < 2 || version > 3)) {
    const bool swapped = (version & 0xFFFFU) == 0 && version != 0;
    return fail(swapped ? std::string("a big-endian GGUF file") : fmt::format("GGUF version {}", version), where_,
                "versions 2 and 3, little endian, are read; convert the file");
  }
  const auto tensors = take<std::uint64_t>();
  const auto pairs = take<std::uint64_t>();
  // A tensor entry takes at least 24 bytes, a pair at least 13: larger counts cannot be true.
  if (!cut_ && (tensors > left() / 24 || pairs > left() / 13)) {
    return fail(fmt::format("claims {} tensors and {} metadata entries in {} bytes", tensors, pairs, file_.size()),
                where_, "the file is damaged or cut short; fetch it again");
  }
  for (std::uint64_t i = 0; i < pairs && !stopped(); ++i) read_pair();
  for (std::uint64_t i = 0; i < tensors && !stopped(); ++i) read_tensor();
  if (cut_ && !error_) return fail("the header is cut short", where_, "fetch the file again");
  if (!error_) {
    const std::int64_t alignment = out_.integer("general.alignment").value_or(32);
    if (alignment < 1 || alignment > (1 << 20)) bad(fmt::format("general.alignment is {}", alignment));
    if (!error_) place_tensors(static_cast<std::uint64_t>(alignment));
  }
  if (error_) return tl::unexpected<Error>(*error_);
  return std::move(out_);
}

}  // namespace

std::optional<std::int64_t> GgufFile::integer(const std::string& key) const {
  const auto it = metadata.find(key);
  if (it == metadata.end()) return std::nullopt;
  if (const auto* value = std::get_if<std::int64_t>(&it->second)) return *value;
  return std::nullopt;
}

std::string GgufFile::text(const std::string& key) const {
  const auto it = metadata.find(key);
  if (it == metadata.end()) return {};
  if (const auto* value = std::get_if<std::string>(&it->second)) return *value;
  return {};
}

const std::vector<double>* GgufFile::list(const std::string& key) const {
  const auto it = metadata.find(key);
  return it == metadata.end() ? nullptr : std::get_if<std::vector<double>>(&it->second);
}

Result<GgufFile> read_gguf_file(std::string_view file, const std::string& where) {
  return GgufReader(file, where).read();
}

}  // namespace corridor::model
