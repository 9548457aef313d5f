// SPDX-License-Identifier: Apache-2.0
// Status line, the three headers that matter, and a body that is plain, counted or in chunks.
#include "corridor/profile/metrics/http_page.h"

#include <charconv>
#include <cstdint>
#include <vector>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

using MaybePage = Result<std::optional<HttpPage>>;

constexpr std::size_t most_head_bytes = std::size_t{64} << 10U;

struct Head {
  int status = 0;
  std::optional<std::uint64_t> length;
  bool chunked = false;
  std::string location;
};

std::optional<std::uint64_t> integer(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "HTTP/1.1 200 OK" → 200.
std::optional<int> status_of(std::string_view line) {
  constexpr std::size_t version = 9;  // "HTTP/1.1 "
  if (!line.starts_with("HTTP/1.") || line.size() < version + 3) return std::nullopt;
  const std::optional<std::uint64_t> status = integer(line.substr(version, 3), 10);
  if (!status || *status < 100) return std::nullopt;
  return static_cast<int>(*status);
}

std::optional<Head> read_head(std::string_view text) {
  Head head;
  const std::optional<int> status = status_of(text.substr(0, text.find("\r\n")));
  if (!status) return std::nullopt;
  head.status = *status;
  for (std::size_t at = text.find("\r\n"); at < text.size();) {
    const std::size_t end = std::min(text.find("\r\n", at + 2), text.size());
    const std::string_view line = text.substr(at + 2, end - at - 2);
    at = end;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string name = lower(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (name == "content-length") {
      head.length = integer(value, 10);
      if (!head.length) return std::nullopt;
    }
    if (name == "transfer-encoding") head.chunked = lower(value) == "chunked";
    if (name == "location") head.location = shortened(printable(value), 200);
  }
  return head;
}

/// Joins the chunks of `rest` into `body` once the last one is there; false when more must come. Bytes are copied only
/// then, since a page that arrives in pieces is looked at with each piece.
Result<bool> join_chunks(std::string_view rest, std::string& body) {
  std::vector<std::string_view> chunks;
  while (true) {
    const std::size_t end = rest.find("\r\n");
    if (end == std::string_view::npos) return false;
    const std::string_view digits = rest.substr(0, std::min(end, rest.find(';')));
    const std::optional<std::uint64_t> size = integer(trim(digits), 16);
    if (!size) return fail("a chunk of the answer has no length");
    rest.remove_prefix(end + 2);
    if (*size == 0) {
      for (const std::string_view chunk : chunks) body += chunk;
      return true;
    }
    if (rest.size() < 2 || *size > rest.size() - 2) return false;
    chunks.push_back(rest.substr(0, *size));
    rest.remove_prefix(*size + 2);
  }
}

}  // namespace

MaybePage parse_http_page(std::string_view bytes, bool closed) {
  const auto later = [&]() -> MaybePage {
    if (closed) return fail("the answer ends in the middle");
    return std::optional<HttpPage>();
  };
  constexpr std::string_view protocol = "HTTP/1.";
  const std::string_view begin = bytes.substr(0, protocol.size());
  if (!protocol.starts_with(begin)) return fail("the answer is not HTTP");
  const std::size_t blank = bytes.substr(0, most_head_bytes).find("\r\n\r\n");
  if (blank == std::string_view::npos) {
    if (bytes.size() >= most_head_bytes) return fail("the head of the answer does not end");
    return later();
  }
  std::optional<Head> head = read_head(bytes.substr(0, blank));
  if (!head) return fail("the head of the answer is not HTTP");
  const std::string_view rest = bytes.substr(blank + 4);
  HttpPage page{head->status, std::move(head->location), {}};
  if (head->chunked) {
    const Result<bool> whole = join_chunks(rest, page.body);
    if (!whole) return tl::unexpected(whole.error());
    if (!*whole) return later();
  } else if (head->length) {
    if (rest.size() < *head->length) return later();
    page.body = rest.substr(0, *head->length);
  } else if (closed) {
    page.body = rest;
  } else {
    return later();
  }
  return std::optional<HttpPage>(std::move(page));
}

}  // namespace corridor::profile
