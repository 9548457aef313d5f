// SPDX-License-Identifier: Apache-2.0
// Plain HTTP with bounds on time and size. On sockets: Debian's cpp-httplib brings OpenSSL and brotli into every start
// of the program (4 ms), for one rare option.
#include "corridor/cli/fetch_metrics.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <vector>

#include "corridor/profile/metrics/http_page.h"

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
  const auto unfit = [](char c) { return c <= ' ' || c == 127; };
  if (std::any_of(url.begin(), url.end(), unfit))
    return fail("the address has a blank or control character", url.substr(0, 200), "write a blank as %20");
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

const char* advice_on(int status) {
  if (status == 501) return "start llama-server with --metrics";
  if (status == 404) return "name the path of its metrics, usually /metrics; SGLang needs --enable-metrics";
  return "open the address in a browser to see what it answers";
}

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Waits until the socket can be read or written; false when the time is over.
bool ready(int socket, short what, Clock::time_point until) {
  pollfd waiting{socket, what, 0};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    const int found = poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (found >= 0 || errno != EINTR) return found > 0;
  }
}

/// A connected socket, closed at the end.
class Connection {
 public:
  Connection(const Address& address, double connect_s) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failed = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found);
    if (failed != 0) why_ = gai_strerror(failed);
    for (const addrinfo* one = found; one != nullptr && socket_ < 0; one = one->ai_next) connect_to(*one, connect_s);
    if (found != nullptr) freeaddrinfo(found);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { hang_up(); }

  [[nodiscard]] bool open() const { return socket_ >= 0; }
  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] const std::string& why() const { return why_; }  ///< why it is not open

 private:
  void connect_to(const addrinfo& one, double connect_s) {
    socket_ = ::socket(one.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, one.ai_protocol);
    if (socket_ < 0) return fail_with(errno);
    if (connect(socket_, one.ai_addr, one.ai_addrlen) == 0) return;
    if (errno != EINPROGRESS) return fail_with(errno);
    if (!ready(socket_, POLLOUT, after(connect_s))) return fail_with(ETIMEDOUT);
    int fault = 0;
    socklen_t size = sizeof(fault);
    getsockopt(socket_, SOL_SOCKET, SO_ERROR, &fault, &size);
    if (fault != 0) fail_with(fault);
  }
  void fail_with(int fault) {
    why_ = std::generic_category().message(fault);
    hang_up();
  }
  void hang_up() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }

  int socket_ = -1;
  std::string why_;
};

/// HTTP/1.0 asks for an answer without chunks and for an end of the connection after it; not every server obeys.
bool send_request(const Connection& connection, const Address& address, Clock::time_point until) {
  const std::string host = address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
  const std::string request = "GET " + address.path + " HTTP/1.0\r\nHost: " + host + ":" +
                              std::to_string(address.port) +
                              "\r\nUser-Agent: corridor\r\nAccept: text/plain\r\nConnection: close\r\n\r\n";
  for (std::size_t sent = 0; sent < request.size();) {
    if (!ready(connection.socket(), POLLOUT, until)) return false;
    const ssize_t count = send(connection.socket(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    sent += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  return true;
}

Result<profile::HttpPage> receive_page(const Connection& connection, const std::string& url,
                                       const FetchLimits& limits) {
  const Clock::time_point end = after(limits.whole_s);
  std::string bytes;
  std::vector<char> piece(std::size_t{64} << 10U);
  while (true) {
    if (Clock::now() > end) return fail("the page took too long", url, "is the server overloaded?");
    if (!ready(connection.socket(), POLLIN, std::min(end, after(limits.read_s))))
      return fail("no answer (nothing came in time)", url, "is the server overloaded?");
    const ssize_t count = recv(connection.socket(), piece.data(), piece.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0) return fail("no answer (" + std::generic_category().message(errno) + ")", url, "ask again");
    bytes.append(piece.data(), static_cast<std::size_t>(count));
    if (bytes.size() > limits.most_bytes) {
      return fail("the page is larger than " + std::to_string(limits.most_bytes >> 20U) + " MiB", url,
                  "is it metrics?");
    }
    Result<std::optional<profile::HttpPage>> page = profile::parse_http_page(bytes, count == 0);
    if (!page) return fail(page.error().what, url, "does a server of metrics listen there?");
    if (*page) return std::move(**page);
  }
}

Result<std::string> fetch_page(const Address& address, const std::string& url, const FetchLimits& limits) {
  const Connection connection(address, limits.connect_s);
  if (!connection.open())
    return fail("no answer (" + connection.why() + ")", url, "does the server run and listen there?");
  if (!send_request(connection, address, after(limits.read_s)))
    return fail("no answer (the request was not taken)", url, "does the server run and listen there?");
  Result<profile::HttpPage> page = receive_page(connection, url, limits);
  if (!page) return tl::unexpected(page.error());
  if (!page->location.empty() && page->status / 100 == 3)
    return fail("the server answers " + std::to_string(page->status) + ", a redirect", url, "give " + page->location);
  if (page->status != 200)
    return fail("the server answers " + std::to_string(page->status), url, advice_on(page->status));
  return std::move(page->body);
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
