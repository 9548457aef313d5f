// SPDX-License-Identifier: Apache-2.0
// Matrix products: stored weights against a few vectors, and f32 matrices row by row or in blocks.
#include <algorithm>
#include <cstring>
#include <vector>

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

constexpr std::size_t ahead_bytes = 4096;  // asked for in advance, as in the intensity loop

HWY_INLINE void ask_lines(const void* place, std::size_t bytes) {
  constexpr std::size_t line = 64;
  const auto* next = static_cast<const char*>(place) + ahead_bytes;
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

/// `rows` rows from `weights` against `batch` vectors (`x_stride` apart) over depth [0, depth); adds to `sums`, one
/// vector of partial sums a row and vector (`sums_stride` floats between the vectors of two x).
template <std::size_t rows, std::size_t batch>
HWY_INLINE void tile(const float* weights, std::size_t row_stride, std::size_t depth, const float* x,
                     std::size_t x_stride, float* sums, std::size_t sums_stride) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  V sum[rows][batch];
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t b = 0; b < batch; ++b) sum[r][b] = hn::LoadU(d, sums + b * sums_stride + r * n);
  }
  for (std::size_t k = 0; k < depth; k += n) {
    V vectors[batch];
    for (std::size_t b = 0; b < batch; ++b) vectors[b] = hn::LoadU(d, x + b * x_stride + k);
    for (std::size_t r = 0; r < rows; ++r) {
      const V w = hn::LoadU(d, weights + r * row_stride + k);
      for (std::size_t b = 0; b < batch; ++b) sum[r][b] = hn::MulAdd(w, vectors[b], sum[r][b]);
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t b = 0; b < batch; ++b) hn::StoreU(sum[r][b], d, sums + b * sums_stride + r * n);
  }
}

/// Few vectors: weights go straight from memory into the products. One vector: row after row, so that memory is read in
/// one stream; several: four rows share each load of the vectors. `chains` sums a row and vector keep the units busy.
template <std::size_t rows, std::size_t batch, std::size_t chains, class Load>
HWY_INLINE void few_rows(const Load& load, const LabMatrix& w, std::size_t row, const float* x, float* y) {
  constexpr std::size_t turn = 4;  // vectors of a row between two requests for memory
  const D d;
  const std::size_t n = hn::Lanes(d);
  V sum[rows][batch][chains];
  for (auto& line : sum) {
    for (auto& vectors : line) {
      for (V& s : vectors) s = hn::Zero(d);
    }
  }
  for (std::size_t k = 0; k < w.depth; k += turn * n) {
    for (std::size_t r = 0; r < rows; ++r) load.ask((row + r) * w.depth + k, turn * n);
    for (std::size_t t = 0; t < turn; ++t) {
      const std::size_t at = k + t * n;
      V vectors[batch];
      for (std::size_t b = 0; b < batch; ++b) vectors[b] = hn::LoadU(d, x + b * w.depth + at);
      for (std::size_t r = 0; r < rows; ++r) {
        const V weights = load((row + r) * w.depth + at);
        for (std::size_t b = 0; b < batch; ++b) {
          sum[r][b][t % chains] = hn::MulAdd(weights, vectors[b], sum[r][b][t % chains]);
        }
      }
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t b = 0; b < batch; ++b) {
      V total = sum[r][b][0];
      for (std::size_t c = 1; c < chains; ++c) total = hn::Add(total, sum[r][b][c]);
      y[b * w.rows + row + r] = hn::GetLane(hn::SumOfLanes(d, total));
    }
  }
}

template <std::size_t batch, class Load>
HWY_INLINE void few(const LabMatrix& w, std::size_t first, std::size_t last, const float* x, float* y) {
  const Load load(w);
  std::size_t row = first;
  if (batch > 1) {
    for (; row + 4 <= last; row += 4) few_rows<4, batch, 1>(load, w, row, x, y);
  }
  for (; row < last; ++row) few_rows<1, batch, 4>(load, w, row, x, y);
}

constexpr std::size_t wide_rows = 8;
constexpr std::size_t wide_depth = 512;
// The vectors of a large batch do not fit in a core's own cache, a stretch of them does: it serves so many rows.
constexpr std::size_t block_rows = 64;

/// `rows` widened rows against all vectors, four by four where there are four. `sums` begins at the first of the rows.
HWY_INLINE void all_vectors(const float* wide, std::size_t rows, std::size_t depth, const LabMatrix& w, const float* x,
                            std::size_t batch, float* sums) {
  const std::size_t n = hn::Lanes(D());
  const std::size_t stride = block_rows * n;
  for (std::size_t b = 0; b < batch; b += 4) {
    const std::size_t vectors = std::min<std::size_t>(4, batch - b);
    for (std::size_t r = 0; r < rows; r += 4) {
      const std::size_t lines = std::min<std::size_t>(4, rows - r);
      const float* from = wide + r * wide_depth;
      const float* xs = x + b * w.depth;
      float* into = sums + b * stride + r * n;
      if (vectors == 4 && lines == 4) {
        tile<4, 4>(from, wide_depth, depth, xs, w.depth, into, stride);
        continue;
      }
      for (std::size_t i = 0; i < vectors * lines; ++i) {
        const std::size_t v = i / lines;
        const std::size_t l = i % lines;
        tile<1, 1>(from + l * wide_depth, wide_depth, depth, xs + v * w.depth, w.depth, into + v * stride + l * n,
                   stride);
      }
    }
  }
}

/// Many vectors: a small tile of weights is widened once and used for all of them from the nearest cache. Sums stay
/// vectors until the whole depth is in them: adding up the lanes of each is dear.
template <class Load>
void many(const LabMatrix& w, std::size_t first, std::size_t last, const float* x, std::size_t batch, float* y) {
  const Load load(w);
  const D d;
  const std::size_t n = hn::Lanes(d);
  alignas(64) float wide[wide_rows * wide_depth];
  std::vector<float> sums(batch * block_rows * n);
  for (std::size_t block = first; block < last; block += block_rows) {
    const std::size_t end = std::min(block + block_rows, last);
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (std::size_t begin = 0; begin < w.depth; begin += wide_depth) {
      const std::size_t depth = std::min(wide_depth, w.depth - begin);
      for (std::size_t row = block; row < end; row += wide_rows) {
        const std::size_t rows = std::min(wide_rows, end - row);
        for (std::size_t r = 0; r < rows; ++r) {
          const std::size_t at = (row + r) * w.depth + begin;
          load.ask(at, depth);
          for (std::size_t k = 0; k < depth; k += n) hn::StoreU(load(at + k), d, wide + r * wide_depth + k);
        }
        all_vectors(wide, rows, depth, w, x + begin, batch, sums.data() + (row - block) * n);
      }
    }
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t row = block; row < end; ++row) {
        const V sum = hn::LoadU(d, sums.data() + (b * block_rows + row - block) * n);
        y[b * w.rows + row] = hn::GetLane(hn::SumOfLanes(d, sum));
      }
    }
  }
}

template <class Load>
void product_in(const LabMatrix& w, std::size_t first, std::size_t last, const float* x, std::size_t batch, float* y) {
  switch (batch) {
    case 1:
      return few<1, Load>(w, first, last, x, y);
    case 2:
      return few<2, Load>(w, first, last, x, y);
    case 4:
      return few<4, Load>(w, first, last, x, y);
    default:
      return many<Load>(w, first, last, x, batch, y);
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
