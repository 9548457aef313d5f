// SPDX-License-Identifier: Apache-2.0
// Plain HTTP with bounds on time and size, through cpp-httplib.
#include "corridor/cli/fetch_metrics.h"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

namespace corridor::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Address {
  std::string host;
  int port = 80;
  std::string path;
};

Result<Address> parse_url(const std::string& url) {
  constexpr std::string_view scheme = "http://";
  if (!url.starts_with(scheme)) {
    return fail("only http:// is spoken", url.substr(0, 200),
                "fetch the page with another tool and give the file: curl … > page.txt");
  }
  const std::string_view rest = std::string_view(url).substr(scheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  Address address;
  address.path = slash + 1 >= rest.size() ? "/metrics" : std::string(rest.substr(slash));
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const std::string port(authority.substr(colon + 1));
    const bool digits = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
    address.port = digits ? std::atoi(port.c_str()) : 0;
    if (address.port < 1 || address.port > 65535) return fail("no port", url.substr(0, 200), "give 1 to 65535");
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with("[") && authority.ends_with("]")) authority = authority.substr(1, authority.size() - 2);
  if (authority.empty() || authority.find('@') != std::string_view::npos)
    return fail("no host", url.substr(0, 200), "give http://HOST:PORT/metrics");
  address.host = authority;
  return address;
}

std::pair<time_t, time_t> timeout_of(double seconds) {
  const double whole = std::floor(seconds);
  return {static_cast<time_t>(whole), static_cast<time_t>((seconds - whole) * 1e6)};
}

const char* advice_on(int status) {
  if (status == 501) return "start llama-server with --metrics";
  if (status == 404) return "name the path of its metrics, usually /metrics; SGLang needs --enable-metrics";
  return "open the address in a browser to see what it answers";
}

Result<std::string> fetch_page(const Address& address, const std::string& url, const FetchLimits& limits) {
  httplib::Client client(address.host, address.port);
  const auto [connect_s, connect_us] = timeout_of(limits.connect_s);
  const auto [read_s, read_us] = timeout_of(limits.read_s);
  client.set_connection_timeout(connect_s, connect_us);
  client.set_read_timeout(read_s, read_us);
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.whole_s));
  std::string page;
  bool too_large = false, too_slow = false;
  const auto receive = [&](const char* data, std::size_t size) {
    too_large = page.size() + size > limits.most_bytes;
    too_slow = Clock::now() > end;
    if (!too_large && !too_slow) page.append(data, size);
    return !too_large && !too_slow;
  };
  const httplib::Result answer = client.Get(address.path, receive);
  if (too_large)
    return fail("the page is larger than " + std::to_string(limits.most_bytes >> 20U) + " MiB", url, "is it metrics?");
  if (too_slow) return fail("the page took too long", url, "is the server overloaded?");
  if (!answer)
    return fail("no answer (" + httplib::to_string(answer.error()) + ")", url, "does the server run and listen there?");
  if (answer->status != 200)
    return fail("the server answers " + std::to_string(answer->status), url, advice_on(answer->status));
  return page;
}

}  // namespace

bool is_url(std::string_view word) {
  return word.starts_with("http://") || word.starts_with("https://");
}

Result<FetchedPages> fetch_metrics(const std::string& url, std::optional<double> pause_s, const FetchLimits& limits) {
  const Result<Address> address = parse_url(url);
  if (!address) return tl::unexpected(address.error());
  FetchedPages pages;
  Result<std::string> first = fetch_page(*address, url, limits);
  if (!first) return tl::unexpected(first.error());
  pages.first = std::move(*first);
  if (!pause_s) return pages;
  const Clock::time_point begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(*pause_s));
  Result<std::string> second = fetch_page(*address, url, limits);
  if (!second) return tl::unexpected(second.error());
  pages.second = std::move(*second);
  pages.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return pages;
}

}  // namespace corridor::cli
