// SPDX-License-Identifier: Apache-2.0
// Plain, gzip and zstd bytes behind one face.
#include "corridor/profile/byte_source.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <vector>

namespace corridor::profile {
namespace {

constexpr std::size_t bomb_ratio = 150;

class PlainBytes : public ByteSource {
 public:
  explicit PlainBytes(std::string_view bytes) : rest_(bytes) {}
  Result<std::string_view> next(std::size_t most) override {
    const std::string_view piece = rest_.substr(0, most);
    rest_.remove_prefix(piece.size());
    return piece;
  }

 private:
  std::string_view rest_;
};

/// What both unpackers share: the output buffer and the bound on all it ever held.
class PackedBytes : public ByteSource {
 public:
  PackedBytes(std::string_view bytes, std::string file, std::size_t most_unpacked, std::size_t trusted_bytes)
      : packed_(bytes), file_(std::move(file)), most_unpacked_(most_unpacked), trusted_bytes_(trusted_bytes) {}

  Result<std::string_view> next(std::size_t most) override {
    if (ended_) return std::string_view{};
    out_.resize(std::min<std::size_t>(most, std::size_t{16} << 20U));
    Result<std::size_t> filled = fill();
    if (!filled) {
      ended_ = true;
      return tl::unexpected(filled.error());
    }
    unpacked_ += *filled;
    if (unpacked_ > most_unpacked_ || (unpacked_ > trusted_bytes_ && unpacked_ / bomb_ratio > unpacked_from_)) {
      ended_ = true;
      const std::string bound = unpacked_ > most_unpacked_
                                    ? std::to_string(most_unpacked_ >> 20U) + " MiB"
                                    : std::to_string(bomb_ratio) + " times its size, which no trace does";
      return fail("unpacks to more than " + bound, file_, "unpack it yourself and give the part of interest");
    }
    return std::string_view(out_.data(), *filled);
  }

 protected:
  /// Fills `out_` as far as it can; 0 at the end.
  virtual Result<std::size_t> fill() = 0;
  [[nodiscard]] tl::unexpected<Error> cut_off() const {
    return fail("the packed stream is cut off", file_, "make the file again");
  }

  std::string_view packed_;
  std::string file_;
  std::vector<char> out_;
  bool ended_ = false;
  std::size_t unpacked_from_ = 0;  ///< packed bytes that were used so far

 private:
  std::size_t most_unpacked_, trusted_bytes_, unpacked_ = 0;
};

class GzipBytes : public PackedBytes {
 public:
  using PackedBytes::PackedBytes;
  ~GzipBytes() override {
    if (open_) inflateEnd(&stream_);
  }

 private:
  Result<std::size_t> fill() override {
    constexpr int gzip_header = 16 + MAX_WBITS;
    if (!open_) {
      if (inflateInit2(&stream_, gzip_header) != Z_OK) return fail("no memory to unpack", file_);
      open_ = true;
    }
    stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
    stream_.avail_out = static_cast<uInt>(out_.size());
    const auto filled = [&] { return out_.size() - stream_.avail_out; };
    while (stream_.avail_out > 0) {
      if (stream_.avail_in == 0 && !feed()) {
        if (between_members_ || filled() > 0) break;  // give what there is; the next call tells
        return cut_off();
      }
      if (between_members_ && !next_member()) break;
      between_members_ = false;
      const uInt before = stream_.avail_in;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      unpacked_from_ += before - stream_.avail_in;
      if (code == Z_STREAM_END) {
        between_members_ = true;
      } else if (code != Z_OK) {
        if (filled() > 0) break;
        return fail("the gzip stream is damaged", file_, "make the file again");
      }
    }
    return filled();
  }

  /// A file may hold several members one after another, and zeros behind the last one.
  bool next_member() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    return stream_.avail_in > 0 && inflateReset(&stream_) == Z_OK;
  }

  bool feed() {
    if (packed_.empty()) return false;
    constexpr std::size_t most_in = std::size_t{1} << 30U;  // avail_in is 32 bits
    const std::string_view piece = packed_.substr(0, most_in);
    packed_.remove_prefix(piece.size());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));  // zlib's C face; it does not write
    stream_.avail_in = static_cast<uInt>(piece.size());
    return true;
  }

  z_stream stream_{};
  bool open_ = false, between_members_ = false;
};

class ZstdBytes : public PackedBytes {
 public:
  using PackedBytes::PackedBytes;
  ~ZstdBytes() override { ZSTD_freeDStream(stream_); }

 private:
  Result<std::size_t> fill() override {
    if (stream_ == nullptr) {
      stream_ = ZSTD_createDStream();
      if (stream_ == nullptr) return fail("no memory to unpack", file_);
      in_ = {packed_.data(), packed_.size(), 0};
    }
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    while (out.pos < out.size) {
      const std::size_t before_in = in_.pos, before_out = out.pos;
      const std::size_t code = ZSTD_decompressStream(stream_, &out, &in_);
      if (ZSTD_isError(code) != 0) {
        if (out.pos > 0) break;
        return fail("the zstd stream is damaged", file_, "make the file again");
      }
      if (in_.pos == before_in && out.pos == before_out) break;
      unpacked_from_ = in_.pos;
      whole_ = code == 0;
    }
    if (out.pos == 0 && !whole_) return cut_off();
    return out.pos;
  }

  ZSTD_DStream* stream_ = nullptr;
  ZSTD_inBuffer in_{};
  bool whole_ = true;  ///< the last frame ended
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(std::string_view bytes, const std::string& file, std::size_t most_unpacked,
                                       std::size_t trusted_bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\x1f\x8b"sv)) return std::make_unique<GzipBytes>(bytes, file, most_unpacked, trusted_bytes);
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv)) {
    return std::make_unique<ZstdBytes>(bytes, file, most_unpacked, trusted_bytes);
  }
  return std::make_unique<PlainBytes>(bytes);
}

Result<std::string> peek_bytes(std::string_view bytes, const std::string& file, std::size_t most) {
  const std::unique_ptr<ByteSource> source = open_bytes(bytes, file);
  std::string head;
  while (head.size() < most) {
    const Result<std::string_view> piece = source->next(most - head.size());
    if (!piece) {
      if (head.empty()) return tl::unexpected(piece.error());
      break;
    }
    if (piece->empty()) break;
    head += *piece;
  }
  return head;
}

Result<std::string> collect_bytes(ByteSource& source, const std::string& file, std::size_t most, ImportStats& stats) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 20U;
  std::string all;
  while (true) {
    const Result<std::string_view> piece = source.next(piece_bytes);
    if (!piece) {
      if (all.empty()) return tl::unexpected(piece.error());
      stats.drop("the end of the file: " + piece.error().what, Severity::loss, file);
      return all;
    }
    if (piece->empty()) return all;
    if (all.size() + piece->size() > most) {
      return fail("holds more than " + std::to_string(most >> 20U) + " MiB, too much for a file of this kind", file,
                  "record a shorter part of the run");
    }
    all += *piece;
  }
}

}  // namespace corridor::profile
