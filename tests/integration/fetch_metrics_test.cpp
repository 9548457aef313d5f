// SPDX-License-Identifier: Apache-2.0
// The client of metrics pages against a server on a port of its own: pages, refusals, bounds.
#include "corridor/cli/fetch_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <thread>

namespace corridor::cli {
namespace {

using ::testing::HasSubstr;

/// Answers on 127.0.0.1 until it goes out of scope.
class LocalServer {
 public:
  LocalServer() {
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content("vllm:generation_tokens_total " + std::to_string(++asked_ * 100) + "\n", "text/plain");
    });
    server_.Get("/large", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(std::string(std::size_t{1} << 20U, 'x'), "text/plain");
    });
    server_.Get("/off", [](const httplib::Request&, httplib::Response& response) { response.status = 501; });
    server_.Get("/moved",
                [](const httplib::Request&, httplib::Response& response) { response.set_redirect("/metrics"); });
    server_.Get("/pieces", [](const httplib::Request&, httplib::Response& response) {
      response.set_chunked_content_provider("text/plain", [](std::size_t offset, httplib::DataSink& sink) {
        const std::string text = "abcdefghijkl";
        if (offset < text.size()) return sink.write(text.data() + offset, 4);
        sink.done();
        return true;
      });
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;
  ~LocalServer() {
    server_.stop();
    thread_.join();
  }
  [[nodiscard]] std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  httplib::Server server_;
  std::atomic<int> asked_ = 0;
  int port_ = 0;
  std::thread thread_;
};

TEST(FetchMetrics, OnePageOrTwo) {
  const LocalServer server;
  const auto one = fetch_metrics(server.url("/metrics"), std::nullopt);
  ASSERT_TRUE(one) << one.error().line();
  EXPECT_EQ(one->first, "vllm:generation_tokens_total 100\n");
  EXPECT_FALSE(one->second);
  const auto two = fetch_metrics(server.url(""), 0.02);
  ASSERT_TRUE(two) << two.error().line();
  EXPECT_EQ(two->first, "vllm:generation_tokens_total 200\n");
  EXPECT_EQ(two->second, "vllm:generation_tokens_total 300\n");
  EXPECT_GE(two->seconds.value_or(0), 0.02);
}

TEST(FetchMetrics, APageInChunks) {
  const LocalServer server;
  const auto page = fetch_metrics(server.url("/pieces"), std::nullopt);
  ASSERT_TRUE(page) << page.error().line();
  EXPECT_EQ(page->first, "abcdefghijkl");
}

TEST(FetchMetrics, WhatIsNoPageIsOneClearLine) {
  const LocalServer server;
  FetchLimits small;
  small.most_bytes = 1000;
  const auto large = fetch_metrics(server.url("/large"), std::nullopt, small);
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().line(), HasSubstr("larger than"));
  const auto off = fetch_metrics(server.url("/off"), std::nullopt);
  ASSERT_FALSE(off);
  EXPECT_THAT(off.error().line(), HasSubstr("--metrics"));
  const auto missing = fetch_metrics(server.url("/nothing"), std::nullopt);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().line(), HasSubstr("404"));
  const auto moved = fetch_metrics(server.url("/moved"), std::nullopt);
  ASSERT_FALSE(moved);
  EXPECT_THAT(moved.error().line(), HasSubstr("give /metrics"));
}

TEST(FetchMetrics, AddressesThatCannotBe) {
  EXPECT_TRUE(is_url("http://x"));
  EXPECT_FALSE(is_url("metrics.txt"));
  for (const char* url : {"https://127.0.0.1/metrics", "http://", "http:///metrics", "http://127.0.0.1:0/metrics",
                          "http://127.0.0.1:99999/", "http://127.0.0.1:x/", "http://user@127.0.0.1/",
                          "http://127.0.0.1/a b", "http://127.0.0.1/a\r\nHost: x"}) {
    EXPECT_FALSE(fetch_metrics(url, std::nullopt)) << url;
  }
  FetchLimits quick;
  quick.connect_s = quick.read_s = 0.2;
  const auto silent = fetch_metrics("http://127.0.0.1:1/metrics", std::nullopt, quick);  // nothing listens there
  ASSERT_FALSE(silent);
  EXPECT_THAT(silent.error().line(), HasSubstr("no answer"));
}

}  // namespace
}  // namespace corridor::cli
