// SPDX-License-Identifier: Apache-2.0
// The groups. Starts and bounds are physical (fractions below 1, floors of a few microseconds), not results.
#include "groups.h"

#include <utility>

namespace corridor::fit {
namespace {

using Kind = profile::PointOperation::Kind;

bool is(const Point& p, Kind kind, const std::string& type) {
  return p.operation.kind == kind && p.operation.type == type;
}
bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}
bool large(const Point& p, double least) {
  return p.operation.n >= least && p.operation.k >= least;
}

std::vector<FittedKey> product_keys(const std::string& table) {
  return {{table + ".bandwidth_fraction", {0.8, 0.4, 1}},
          {table + ".half_size_bytes", {4e6, 1e5, 3e7}},
          {table + ".compute_fraction", {0.7, 0.2, 1}},
          {table + ".k_half", {200, 1, 2000}},
          {table + ".p_norm", {2.5, 1, 8}},
          {table + ".idle_exponent", {0.4, 0.01, 1}}};
}

Group product(const std::string& type, const std::string& table, std::function<bool(const Point&)> also,
              std::string regime) {
  return {table,
          product_keys(table),
          {table + ".t0_s", table + ".bandwidth_fraction", table + ".half_size_bytes"},
          {table + ".tile_m", table + ".tile_n"},
          [type, also = std::move(also)](const Point& p) { return is(p, Kind::product, type) && also(p); },
          std::move(regime)};
}

Group moe(const std::string& table, std::function<bool(const Point&)> takes) {
  return {table,
          {{table + ".t0_s", {3e-5, 5e-6, 1e-4}},
           {table + ".bandwidth_fraction", {0.8, 0.3, 0.95}},
           {table + ".half_size_bytes", {5e6, 1e5, 5e7}},
           {table + ".compute_fraction", {0.5, 0.1, 1}},
           {table + ".p_norm", {1.5, 1, 6}}},
          {table + ".bandwidth_fraction", table + ".half_size_bytes"},
          {},
          std::move(takes),
          "routed experts of one layer, one device"};
}

std::vector<Group> attention() {
  const auto decode = [](bool narrow) {
    return [narrow](const Point& p) {
      const auto& o = p.operation;
      return o.kind == Kind::attention_decode && (o.kv == "fp8") == narrow && o.head_dim <= 256;
    };
  };
  const auto prefill = [](bool narrow) {
    return [narrow](const Point& p) {
      const auto& o = p.operation;
      return o.kind == Kind::attention_prefill && (o.kv == "fp8") == narrow && o.head_dim <= 256 && o.length >= 16;
    };
  };
  const std::string d = "attention_decode.";
  const std::string q = "attention_prefill.";
  return {{"attention_decode",
           {{d + "t0_s", {1.1e-5, 5e-6, 2e-5}},
            {d + "bandwidth_fraction", {0.85, 0.4, 1}},
            {d + "half_size_bytes", {5e6, 1e5, 3e7}},
            {d + "tile_s", {4e-6, 5e-7, 1e-5}},
            {d + "tile_p_norm", {2, 1, 8}},
            {d + "split_extra_s", {2e-6, 1e-7, 1e-5}},
            {"cache.usable_fraction", {0.5, 0.3, 1}},
            {"cache.bytes_per_s", {4e12, 1.5e12, 1.2e13}}},
           {d + "bandwidth_fraction", d + "half_size_bytes", "cache.bytes_per_s", "cache.usable_fraction"},
           {},
           decode(false),
           "16-bit KV, head of 64 to 256, window or none"},
          {"attention_decode.fp8",
           {{d + "fp8.t0_s", {1.2e-5, 5e-6, 2e-5}},
            {d + "fp8.bandwidth_fraction", {0.75, 0.4, 1}},
            {d + "fp8.half_size_bytes", {5e6, 1e5, 3e7}}},
           {d + "fp8.bandwidth_fraction", d + "fp8.half_size_bytes"},
           {},
           decode(true),
           "fp8 KV"},
          {"attention_prefill",
           {{q + "t0_s", {1.1e-5, 5e-6, 2e-5}},
            {q + "compute_fraction", {0.6, 0.2, 1}},
            {q + "half_width", {30, 1, 200}},
            {q + "tile_s", {2e-6, 1e-7, 1e-5}},
            {q + "chain", {0.5, 0.05, 4}},
            {q + "bandwidth_fraction", {0.5, 0.1, 1}},
            {q + "p_norm", {1.2, 1, 6}}},
           {},
           {},
           prefill(false),
           "no cached past, head of 64 to 256"},
          {"attention_prefill.fp8",
           {{q + "fp8.compute_fraction", {0.4, 0.1, 1}}, {q + "fp8.t0_s", {1.5e-5, 5e-6, 3e-5}}},
           {},
           {},
           prefill(true),
           "fp8 KV"}};
}

std::vector<Group> collectives() {
  std::vector<Group> out;
  const auto all_reduce = [](const Point& p, int ranks) {
    return p.operation.kind == Kind::collective && p.operation.collective == "all_reduce" &&
           p.operation.ranks == ranks && !has(p.engine, "vidur");
  };
  for (const int ranks : {2, 4, 8}) {
    const std::string t = "all_reduce." + std::to_string(ranks) + ".";
    std::vector<FittedKey> own = {{t + "latency_graph_s", {5e-6, 1e-6, 2e-5}},
                                  {t + "bandwidth_fraction", {0.6, 0.2, 1}}};
    if (ranks > 2) {  // two ranks have no second shot
      own.push_back({t + "two_shot_extra_s", {3e-6, 1e-8, 2e-5}});
      own.push_back({t + "two_shot_bandwidth_fraction", {0.7, 0.2, 1}});
    }
    out.push_back({t + "graph",
                   std::move(own),
                   {},
                   {},
                   [=](const Point& p) {
                     return all_reduce(p, ranks) && p.operation.implementation == "graph" &&
                            p.operation.payload_bytes <= 8388608;
                   },
                   "an engine's own kernel, captured, up to 8 MiB"});
    out.push_back({t + "ring",
                   {{t + "ring_latency_s", {1e-5, 2e-6, 4e-5}},
                    {t + "ring_small_fraction", {0.3, 0.02, 1}},
                    {t + "ring_large_latency_s", {2e-5, 1e-6, 2e-4}},
                    {t + "ring_bandwidth_fraction", {0.8, 0.3, 1}}},
                   {},
                   {},
                   [=](const Point& p) { return all_reduce(p, ranks) && has(p.operation.implementation, "nccl"); },
                   "NCCL, 512 B to 512 MB"});
  }
  for (const std::string name : {"all_gather", "all_to_all"}) {
    const std::string t = name + ".";
    out.push_back({name,
                   {{t + "latency_s", {8e-6, 2e-6, 3e-5}},
                    {t + "step_latency_s", {8e-7, 1e-8, 5e-6}},
                    {t + "small_fraction", {0.3, 0.02, 1}},
                    {t + "large_latency_s", {2e-5, 1e-6, 2e-4}},
                    {t + "bandwidth_fraction", {0.7, 0.3, 1}}},
                   {},
                   {},
                   [name](const Point& p) {
                     const std::string& c = p.operation.collective;
                     return p.operation.kind == Kind::collective && !has(p.engine, "vidur") &&
                            (c == name || (name == "all_gather" && c == "reduce_scatter"));
                   },
                   "NCCL, 2 to 8 devices"});
  }
  return out;
}

}  // namespace

std::vector<Group> groups() {
  std::vector<Group> out;
  out.push_back(product(
      "bf16", "product.bf16", [](const Point& p) { return large(p, 512); }, "n and k from 512"));
  out.push_back(product(
      "fp8", "product.fp8", [](const Point& p) { return large(p, 1024); },
      "n and k from 1,024, the kernel that quantises the activations included"));
  out.push_back(product(
      "fp8-block", "product.fp8_block",
      [](const Point& p) { return large(p, 512) && !has(p.operation.implementation, "eager"); },
      "n and k from 512, captured kernels"));
  out.push_back(product(
      "w8a8", "product.int8", [](const Point& p) { return large(p, 512); }, "SmoothQuant"));
  for (Group& group : attention()) out.push_back(std::move(group));
  out.push_back(moe("moe", [](const Point& p) { return is(p, Kind::moe, "bf16"); }));
  out.push_back(moe("moe.fp8", [](const Point& p) {
    return is(p, Kind::moe, "fp8-block") && !has(p.operation.implementation, "cutlass") &&
           p.operation.routing != "balanced";
  }));
  out.push_back(moe("moe.fp4", [](const Point& p) { return is(p, Kind::moe, "mxfp4"); }));
  for (Group& group : collectives()) out.push_back(std::move(group));
  return out;
}

}  // namespace corridor::fit
