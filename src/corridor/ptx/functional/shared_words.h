// SPDX-License-Identifier: Apache-2.0
// Shared memory as words of 4 bytes and who touched them: the race check of a whole range, and the loads and stores
// that kernels use most.
#pragma once

#include <cstddef>
#include <cstdint>

#include "corridor/ptx/functional/op.h"

namespace corridor::ptx {

/// Shared memory of a block. Marks (one a word; null without checks) are epoch << 8 | who: a warp, 32 + a warp for its
/// atomics, 64 for atomics of several warps, 128 for several readers.
struct SharedWords {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::uint32_t *writer = nullptr, *reader = nullptr;
  std::uint8_t* written = nullptr;  ///< a bit a byte
  std::uint32_t tag = 0;            ///< of this epoch: epoch << 8
};

inline constexpr std::uint32_t several_readers = 128, several_atomics = 64, own_atomics = 32;

struct SharedKernels {
  /// Takes down that `warp` reads or writes `count` words (a multiple of 32) from `first` on. False, and nothing taken
  /// down, when another warp wrote one (or read one, for a write) in this epoch, or nobody wrote one that is read.
  bool (*read_words)(const SharedWords& shared, std::size_t first, std::size_t count, std::uint32_t warp);
  bool (*write_words)(const SharedWords& shared, std::size_t first, std::size_t count, std::uint32_t warp);
  /// Handlers of ld.shared and st.shared of one register of 4 bytes. Indexed by whether the address has 64 bits.
  Handler load_word[2], store_word[2];
};
[[nodiscard]] const SharedKernels& shared_kernels();

}  // namespace corridor::ptx
