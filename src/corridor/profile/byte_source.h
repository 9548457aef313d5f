// SPDX-License-Identifier: Apache-2.0
// Bytes of a file in pieces, packed or not, so that a reader needs no more memory than one piece.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "corridor/base/result.h"
#include "corridor/profile/import_stats.h"

namespace corridor::profile {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  /// The next bytes, at most `most`; an empty view at the end. The view holds until the next call.
  [[nodiscard]] virtual Result<std::string_view> next(std::size_t most) = 0;
};

/// Reads `bytes` (a mapped file; it must outlive the source): .gz and .zst are unpacked by their content, not by their
/// name. A packed file fails with one line where it unpacks to more than `most_unpacked` bytes, and where it unpacks to
/// more than `trusted_bytes` and 150 times the packed bytes read so far: traces pack 10 : 1 to 40 : 1, a bomb 1000 : 1.
[[nodiscard]] std::unique_ptr<ByteSource> open_bytes(std::string_view bytes, const std::string& file,
                                                     std::size_t most_unpacked = std::size_t{64} << 30U,
                                                     std::size_t trusted_bytes = std::size_t{2} << 30U);

/// The first unpacked bytes, to tell what a file is; at most `most`. Fails as `next` does.
[[nodiscard]] Result<std::string> peek_bytes(std::string_view bytes, const std::string& file,
                                             std::size_t most = std::size_t{64} << 10U);

/// All bytes that are left, for readers that need the whole. Fails beyond `most` bytes, and where nothing could be
/// unpacked; what came before a damage is given, and the damage is counted in `stats`.
[[nodiscard]] Result<std::string> collect_bytes(ByteSource& source, const std::string& file, std::size_t most,
                                                ImportStats& stats);

}  // namespace corridor::profile
