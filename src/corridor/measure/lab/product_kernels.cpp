// SPDX-License-Identifier: Apache-2.0
// Matrix products: stored weights against a few vectors, and f32 matrices row by row or in blocks.
#include <algorithm>
#include <cstring>

#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/measure/lab/lab_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/measure/lab/product_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// Highway must come after it.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace corridor::measure {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

HWY_INLINE void ask_lines(const void* place, std::size_t bytes) {
  constexpr std::size_t line = 64;
  const auto* next = static_cast<const char*>(place);
  for (std::size_t i = 0; i < bytes; i += line) hwy::Prefetch(next + i);
}

/// Weights as f32 vectors, one loader a format; `at` counts values from the start of the matrix.
struct LoadF32 {
  const float* codes;
  explicit LoadF32(const LabMatrix& w) : codes(static_cast<const float*>(w.codes)) {}
  HWY_INLINE V operator()(std::size_t at) const { return hn::LoadU(D(), codes + at); }
  HWY_INLINE void ask(std::size_t at, std::size_t count) const { ask_lines(codes + at, count * 4); }
};

struct LoadBf16 {
  const std::uint16_t* codes;
  explicit LoadBf16(const LabMatrix& w) : codes(static_cast<const std::uint16_t*>(w.codes)) {}
  HWY_INLINE V operator()(std::size_t at) const {
    const D d;
    const hn::RebindToUnsigned<D> du;
    const hn::Rebind<std::uint16_t, D> dh;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(dh, codes + at))));
  }
  HWY_INLINE void ask(std::size_t at, std::size_t count) const { ask_lines(codes + at, count * 2); }
};

HWY_INLINE V scale_at(const std::uint16_t* scales, std::size_t at) {
  const std::uint32_t bits = static_cast<std::uint32_t>(scales[at / quantised_group]) << 16U;
  return hn::BitCast(D(), hn::Set(hn::RebindToUnsigned<D>(), bits));
}

struct LoadInt8 {
  const std::int8_t* codes;
  const std::uint16_t* scales;
  explicit LoadInt8(const LabMatrix& w) : codes(static_cast<const std::int8_t*>(w.codes)), scales(w.scales) {}
  HWY_INLINE V operator()(std::size_t at) const {
    const D d;
    const hn::RebindToSigned<D> di;
    const hn::Rebind<std::int8_t, D> db;
    return hn::Mul(hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(db, codes + at))), scale_at(scales, at));
  }
  HWY_INLINE void ask(std::size_t at, std::size_t count) const { ask_lines(codes + at, count); }
};

struct LoadInt4 {
  const std::uint8_t* codes;
  const std::uint16_t* scales;
  explicit LoadInt4(const LabMatrix& w) : codes(static_cast<const std::uint8_t*>(w.codes)), scales(w.scales) {}
  HWY_INLINE V operator()(std::size_t at) const {
    const D d;
    const hn::RebindToSigned<D> di;
    const hn::Rebind<std::uint8_t, D> db;
    constexpr std::size_t half = quantised_group / 2;
    const std::size_t place = at % quantised_group;
    const auto bytes = hn::PromoteTo(di, hn::LoadU(db, codes + at / quantised_group * half + place % half));
    const auto low = hn::And(bytes, hn::Set(di, 15));
    const auto code = place < half ? low : hn::ShiftRight<4>(bytes);
    return hn::Mul(hn::ConvertTo(d, hn::Sub(code, hn::Set(di, 8))), scale_at(scales, at));
  }
  HWY_INLINE void ask(std::size_t at, std::size_t count) const { ask_lines(codes + at / 2, count / 2); }
};

// Rows that are taken together: their weights stay in a core's second cache while group after group of vectors passes.
constexpr std::size_t block_rows = 32;
// Values of all vectors of a group that are used for a block of rows before the next ones: 16 kB, so that they stay in
// the first cache. Fetched from the second one, they slow down the reading of weights by half.
constexpr std::size_t packed_values = 4096;
constexpr std::size_t most_lanes = 16;

/// `rows` rows from `row` on against `batch` vectors over `depth` values from `begin` on. `packed` has the vectors'
/// values in the order of use; `sums` one vector of partial sums a row and vector, which is added to. Asks memory for
/// the weights from `next` on meanwhile. `chains` sums a row and vector keep the units busy.
template <std::size_t rows, std::size_t batch, class Load>
HWY_INLINE void tile(const Load& load, const LabMatrix& w, std::size_t row, std::size_t begin, std::size_t depth,
                     std::size_t next, const float* packed, float* sums) {
  constexpr std::size_t turn = 4;  // vectors of a row between two requests for memory
  constexpr std::size_t chains = rows * batch < turn ? turn : 1;
  const D d;
  const std::size_t n = hn::Lanes(d);
  V sum[rows][batch][chains];
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t b = 0; b < batch; ++b) {
      sum[r][b][0] = hn::Load(d, sums + (r * batch + b) * n);
      for (std::size_t c = 1; c < chains; ++c) sum[r][b][c] = hn::Zero(d);
    }
  }
  for (std::size_t k = 0; k < depth; k += turn * n) {
    for (std::size_t r = 0; r < rows; ++r) load.ask(next + r * w.depth + k, turn * n);
    for (std::size_t t = 0; t < turn; ++t) {
      const std::size_t at = k + t * n;
      for (std::size_t r = 0; r < rows; ++r) {
        const V weights = load((row + r) * w.depth + begin + at);
        for (std::size_t b = 0; b < batch; ++b) {
          V& s = sum[r][b][t % chains];
          s = hn::MulAdd(weights, hn::Load(d, packed + at * batch + b * n), s);
        }
      }
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t b = 0; b < batch; ++b) {
      V total = sum[r][b][0];
      for (std::size_t c = 1; c < chains; ++c) total = hn::Add(total, sum[r][b][c]);
      hn::Store(total, d, sums + (r * batch + b) * n);
    }
  }
}

template <std::size_t batch>
HWY_INLINE void pack(const float* x, std::size_t stride, std::size_t depth, float* packed) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t k = 0; k < depth; k += n) {
    for (std::size_t b = 0; b < batch; ++b) hn::Store(hn::LoadU(d, x + b * stride + k), d, packed + k * batch + b * n);
  }
}

/// Rows [first, last), at most block_rows of them, against `batch` vectors. One vector: row after row, so that memory
/// is read in one stream; several: some rows share each load of the vectors.
template <std::size_t batch, class Load>
HWY_INLINE void group(const LabMatrix& w, std::size_t first, std::size_t last, const float* x, float* y) {
  constexpr std::size_t together = batch == 1 ? 1 : batch <= 4 ? 4 : 2;
  constexpr std::size_t stretch = packed_values / batch;
  const Load load(w);
  const D d;
  const std::size_t line = batch * hn::Lanes(d);  // floats of the sums of one row
  alignas(64) float packed[packed_values];
  alignas(64) float sums[block_rows * batch * most_lanes] = {};
  for (std::size_t begin = 0; begin < w.depth; begin += stretch) {
    const std::size_t depth = std::min(stretch, w.depth - begin);
    pack<batch>(x + begin, w.depth, depth, packed);
    // What comes after the last rows: the next stretch of the first ones, or the next block.
    const std::size_t after = begin + depth < w.depth ? first * w.depth + begin + depth : last * w.depth;
    std::size_t row = first;
    for (; row + together <= last; row += together) {
      const bool more = row + 2 * together <= last;
      tile<together, batch>(load, w, row, begin, depth, more ? (row + together) * w.depth + begin : after, packed,
                            sums + (row - first) * line);
    }
    for (; row < last; ++row) {
      tile<1, batch>(load, w, row, begin, depth, after, packed, sums + (row - first) * line);
    }
  }
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t row = first; row < last; ++row) {
      const V sum = hn::Load(d, sums + (row - first) * line + b * hn::Lanes(d));
      y[b * w.rows + row] = hn::GetLane(hn::SumOfLanes(d, sum));
    }
  }
}

template <class Load>
void product_in(const LabMatrix& w, std::size_t first, std::size_t last, const float* x, std::size_t batch, float* y) {
  constexpr std::size_t widest = 8;
  for (std::size_t row = first; row < last; row += block_rows) {
    const std::size_t end = std::min(row + block_rows, last);
    std::size_t b = 0;
    for (; b + widest <= batch; b += widest) group<widest, Load>(w, row, end, x + b * w.depth, y + b * w.rows);
    if (batch - b >= 4) {
      group<4, Load>(w, row, end, x + b * w.depth, y + b * w.rows);
      b += 4;
    }
    if (batch - b >= 2) {
      group<2, Load>(w, row, end, x + b * w.depth, y + b * w.rows);
      b += 2;
    }
    if (batch - b >= 1) group<1, Load>(w, row, end, x + b * w.depth, y + b * w.rows);
  }
}

void product(LabWeights format, const LabMatrix& w, std::size_t first, std::size_t last, const float* x,
             std::size_t batch, float* y) {
  switch (format) {
    case LabWeights::f32:
      return product_in<LoadF32>(w, first, last, x, batch, y);
    case LabWeights::bf16:
      return product_in<LoadBf16>(w, first, last, x, batch, y);
    case LabWeights::int8:
      return product_in<LoadInt8>(w, first, last, x, batch, y);
    case LabWeights::int4:
      return product_in<LoadInt4>(w, first, last, x, batch, y);
  }
}

void row_product(const float* a, std::size_t lda, const float* b, std::size_t ldb, float* c, std::size_t ldc,
                 std::size_t m, std::size_t n, std::size_t k) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < m; ++i) {
    float* out = c + i * ldc;
    std::fill(out, out + n, 0.0F);
    for (std::size_t p = 0; p < k; ++p) {
      const V factor = hn::Set(d, a[i * lda + p]);
      const float* line = b + p * ldb;
      for (std::size_t j = 0; j < n; j += lanes) {
        hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, line + j), hn::LoadU(d, out + j)), d, out + j);
      }
    }
  }
}

constexpr std::size_t panel_columns = 32;
constexpr std::size_t panel_depth = 256;

/// `rows` rows of A against two vectors of columns of a packed panel.
template <std::size_t rows>
HWY_INLINE void micro(const float* a, std::size_t lda, const float* panel, std::size_t depth, float* c, std::size_t ldc,
                      bool add) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  V left[rows];
  V right[rows];
  for (std::size_t r = 0; r < rows; ++r) {
    left[r] = add ? hn::LoadU(d, c + r * ldc) : hn::Zero(d);
    right[r] = add ? hn::LoadU(d, c + r * ldc + n) : hn::Zero(d);
  }
  for (std::size_t p = 0; p < depth; ++p) {
    const V b0 = hn::LoadU(d, panel + p * panel_columns);
    const V b1 = hn::LoadU(d, panel + p * panel_columns + n);
    for (std::size_t r = 0; r < rows; ++r) {
      const V factor = hn::Set(d, a[r * lda + p]);
      left[r] = hn::MulAdd(factor, b0, left[r]);
      right[r] = hn::MulAdd(factor, b1, right[r]);
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    hn::StoreU(left[r], d, c + r * ldc);
    hn::StoreU(right[r], d, c + r * ldc + n);
  }
}

void block_product(const float* a, std::size_t lda, const float* b, std::size_t ldb, float* c, std::size_t ldc,
                   std::size_t m, std::size_t n, std::size_t k, bool add, float* scratch) {
  constexpr std::size_t rows = 6;  // 12 sums, two vectors of B and one factor fit in 16 registers
  const std::size_t step = 2 * hn::Lanes(D());
  for (std::size_t p = 0; p < k; p += panel_depth) {
    const std::size_t depth = std::min(panel_depth, k - p);
    const bool more = add || p > 0;
    for (std::size_t j = 0; j < n; j += panel_columns) {
      for (std::size_t q = 0; q < depth; ++q) {
        std::memcpy(scratch + q * panel_columns, b + (p + q) * ldb + j, panel_columns * sizeof(float));
      }
      for (std::size_t s = 0; s < panel_columns; s += step) {
        std::size_t i = 0;
        for (; i + rows <= m; i += rows) {
          micro<rows>(a + i * lda + p, lda, scratch + s, depth, c + i * ldc + j + s, ldc, more);
        }
        for (; i < m; ++i) micro<1>(a + i * lda + p, lda, scratch + s, depth, c + i * ldc + j + s, ldc, more);
      }
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace corridor::measure
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::measure {
HWY_EXPORT(product);
HWY_EXPORT(row_product);
HWY_EXPORT(block_product);

void take_product_kernels(LabKernels& table) {
  table.product = HWY_DYNAMIC_DISPATCH(product);
  table.row_product = HWY_DYNAMIC_DISPATCH(row_product);
  table.block_product = HWY_DYNAMIC_DISPATCH(block_product);
}

}  // namespace corridor::measure
#endif
