// SPDX-License-Identifier: Apache-2.0
// C = Aᵀ · B with 32-bit accumulation (the layout that 8-bit types need), n × n × n, by the library's own choice of
// algorithm.
#include "corridor/measure/cuda/blas_product.h"

#include <fmt/format.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "corridor/measure/cuda/passes.h"

namespace corridor::measure::cuda {
namespace {

using hardware::ComputeType;

// Numbers of cudaDataType_t, cublasComputeType_t and cublasLt…Attributes_t.
constexpr int real_32f = 0, real_16f = 2, real_8i = 3, real_32i = 10, real_16bf = 14, real_8e4m3 = 28;
constexpr int compute_32f = 68, compute_32i = 72, compute_32f_tf32 = 77;
constexpr int transpose_a = 3, most_workspace = 1;
constexpr std::size_t workspace_bytes = 32U << 20U;  // what NVIDIA advises for Hopper

struct Product {
  ComputeType type;
  int in, out, compute, scale;
  double in_bytes, out_bytes;
  std::uint32_t mask, exponent;  ///< of a word of operands, see Traffic::fill
  int from;                      ///< compute capability
};
constexpr Product products[] = {
    {ComputeType::tf32, real_32f, real_32f, compute_32f_tf32, real_32f, 4, 4, 0x807fe000, 0x3f000000, 80},
    {ComputeType::fp16, real_16f, real_16f, compute_32f, real_32f, 2, 2, 0x83ff83ff, 0x38003800, 70},
    {ComputeType::bf16, real_16bf, real_16bf, compute_32f, real_32f, 2, 2, 0x807f807f, 0x3f003f00, 80},
    {ComputeType::fp8, real_8e4m3, real_16bf, compute_32f, real_32f, 1, 2, 0x87878787, 0x30303030, 89},
    {ComputeType::int8, real_8i, real_32i, compute_32i, real_32i, 1, 4, 0xffffffff, 0, 75},
};

/// An object of the library with the call that ends it.
class Part {
 public:
  explicit Part(Status (*destroy)(BlasObjectHandle)) : destroy_(destroy) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() {
    if (handle_ != nullptr) destroy_(handle_);
  }
  BlasObjectHandle* place() { return &handle_; }
  [[nodiscard]] BlasObjectHandle get() const { return handle_; }

 private:
  Status (*destroy_)(BlasObjectHandle);
  BlasObjectHandle handle_ = nullptr;
};

/// One product, ready to run; `status` is that of the first call that failed.
class Plan {
 public:
  Plan(const BlasApi& api, BlasHandle handle, const Product& product, std::uint64_t n)
      : api_(api), handle_(handle), desc_(api.desc_destroy), in_(api.layout_destroy), out_(api.layout_destroy) {
    integer_ = product.scale == real_32i;
    const std::int32_t transposed = 1;
    Part preference(api.preference_destroy);
    const auto leading = static_cast<std::int64_t>(n);
    step(api.desc_create(desc_.place(), product.compute, product.scale));
    if (ok()) step(api.desc_set(desc_.get(), transpose_a, &transposed, sizeof(transposed)));
    if (ok()) step(api.layout_create(in_.place(), product.in, n, n, leading));
    if (ok()) step(api.layout_create(out_.place(), product.out, n, n, leading));
    if (ok()) step(api.preference_create(preference.place()));
    if (ok()) step(api.preference_set(preference.get(), most_workspace, &workspace_bytes, sizeof(workspace_bytes)));
    int found = 0;
    if (ok()) {
      step(api.heuristic(handle, desc_.get(), in_.get(), in_.get(), out_.get(), out_.get(), preference.get(), 1,
                         &choice_, &found));
    }
    constexpr Status none_found = 15;  // CUBLAS_STATUS_NOT_SUPPORTED
    if (ok() && (found < 1 || choice_.state != success)) step(found < 1 ? none_found : choice_.state);
  }
  [[nodiscard]] bool ok() const { return status_ == success; }
  [[nodiscard]] Status status() const { return status_; }
  [[nodiscard]] Status run(DevicePointer a, DevicePointer b, DevicePointer c, DevicePointer workspace,
                           StreamHandle stream) const {
    const float one_f = 1, zero_f = 0;
    const std::int32_t one_i = 1, zero_i = 0;
    const void* one = integer_ ? static_cast<const void*>(&one_i) : &one_f;
    const void* zero = integer_ ? static_cast<const void*>(&zero_i) : &zero_f;
    return api_.matmul(handle_, desc_.get(), one, a, in_.get(), b, in_.get(), zero, c, out_.get(), c, out_.get(),
                       &choice_.algorithm, workspace, workspace_bytes, stream);
  }

 private:
  void step(Status status) { status_ = status; }
  const BlasApi& api_;
  BlasHandle handle_;
  Part desc_, in_, out_;
  BlasHeuristic choice_;
  bool integer_ = false;
  Status status_ = success;
};

std::uint64_t side_of(const Gpu& gpu, Effort effort) {
  constexpr double bytes_per_cell = 3 * 4;
  std::uint64_t n = effort == Effort::quick ? 4096 : 8192;
  while (n > 1024 && bytes_per_cell * static_cast<double>(n * n) > gpu.memory_free().value() / 2) n /= 2;
  return n;
}

Result<MeasuredPeak> measure_one(Gpu& gpu, BlasHandle handle, const Product& product, Effort effort) {
  const BlasApi& api = *gpu.libraries().blas.api;
  const std::uint64_t n = side_of(gpu, effort);
  const double cells = static_cast<double>(n) * static_cast<double>(n);
  const auto in_bytes = static_cast<std::size_t>(cells * product.in_bytes);
  const Result<Buffer> in = gpu.allocate(2 * in_bytes);
  if (!in) return tl::unexpected(in.error());
  const Result<Buffer> out = gpu.allocate(static_cast<std::size_t>(cells * product.out_bytes) + workspace_bytes);
  if (!out) return tl::unexpected(out.error());
  const Shape shape{static_cast<unsigned>(gpu.facts().sm_count) * 8, 256};
  const auto words = static_cast<std::uint64_t>(in->bytes() / 4);
  constexpr std::uint32_t seed = 54321;
  if (auto done = gpu.launch("fill", shape, in->place(), words, seed, product.mask, product.exponent); !done) {
    return tl::unexpected(done.error());
  }
  const Plan plan(api, handle, product, n);
  if (!plan.ok()) return fail(fmt::format("no algorithm (cuBLAS status {})", plan.status()), "cuBLASLt");
  const DevicePointer c = out->place() + workspace_bytes;
  const auto samples = time_work(gpu, peak_settings(effort), [&](unsigned repeats) -> Result<void> {
    for (unsigned i = 0; i < repeats; ++i) {
      const Status status = plan.run(in->place(), in->place() + in_bytes, c, out->place(), gpu.stream());
      if (status != success) return fail(fmt::format("cublasLtMatmul gave status {}", status), "cuBLASLt");
    }
    return {};
  });
  if (!samples) return tl::unexpected(samples.error());
  return MeasuredPeak{
      product.type,
      rate_figure(2 * cells * static_cast<double>(n), *samples, fmt::format("product {0} x {0} x {0}", n)), "cuBLASLt"};
}

}  // namespace

std::vector<MeasuredPeak> measure_blas(Gpu& gpu, const MeasureSettings& settings, const Progress& progress,
                                       std::vector<std::string>& warnings) {
  std::vector<MeasuredPeak> peaks;
  if (!gpu.libraries().blas.api) return peaks;
  const BlasApi& api = *gpu.libraries().blas.api;
  BlasHandle handle = nullptr;
  if (const Status status = api.create(&handle); status != success) {
    warnings.push_back(fmt::format("cuBLASLt does not start (status {})", status));
    return peaks;
  }
  const std::unique_ptr<std::remove_pointer_t<BlasHandle>, Status (*)(BlasHandle)> closer(handle, api.destroy);
  double done = 0;
  for (const Product& product : products) {
    if (progress) progress("products by cuBLASLt", done++ / static_cast<double>(std::size(products)));
    if (gpu.facts().capability() < product.from) continue;
    Result<MeasuredPeak> peak = measure_one(gpu, handle, product, settings.effort);
    if (peak) {
      peaks.push_back(std::move(*peak));
    } else {
      warnings.push_back(fmt::format("cuBLASLt, {}: {}", hardware::name(product.type), peak.error().line()));
    }
  }
  return peaks;
}

}  // namespace corridor::measure::cuda
