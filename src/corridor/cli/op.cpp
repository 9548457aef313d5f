// SPDX-License-Identifier: Apache-2.0
// `corridor op`: one operation against one device.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "corridor/app/op.h"
#include "corridor/cli/session.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/views/op_view.h"

namespace corridor::cli {
namespace {

constexpr const char* default_device = "h100-sxm";
constexpr const char* default_dtype = "bf16";

/// The flags as written; sizes stay text so that each error can name its flag.
struct OpFlags {
  std::string device, dtype;
  std::string flops, bytes;
  std::string m, n, k;
  std::string batch = "1", heads, kv_heads, head_dim, q, kv;
  std::string elements, chain = "3";
  bool causal = false, no_flash_attention = false, fused = false;
};

/// Reads named sizes into their places; stops at the first bad one.
Result<bool> read_sizes(const std::vector<std::pair<const char*, std::pair<const std::string*, double*>>>& sizes) {
  for (const auto& [flag, place] : sizes) {
    const auto value = app::parse_size(*place.first, flag);
    if (!value) return tl::unexpected(value.error());
    *place.second = *value;
  }
  return true;
}

Result<app::Op> matmul(const OpFlags& flags) {
  app::MatmulOp op;
  op.fused = flags.fused;
  auto ok = read_sizes({{"M", {&flags.m, &op.m}}, {"N", {&flags.n, &op.n}}, {"K", {&flags.k, &op.k}}});
  if (!ok) return tl::unexpected(ok.error());
  return op;
}

Result<app::Op> attention(const OpFlags& flags) {
  app::AttentionOp op;
  op.causal = flags.causal;
  op.flash_attention = !flags.no_flash_attention;
  const std::string& kv_heads = flags.kv_heads.empty() ? flags.heads : flags.kv_heads;
  auto ok = read_sizes({{"--batch", {&flags.batch, &op.batch}},
                        {"--heads", {&flags.heads, &op.heads}},
                        {"--kv-heads", {&kv_heads, &op.kv_heads}},
                        {"--head-dim", {&flags.head_dim, &op.head_dim}},
                        {"--q", {&flags.q, &op.q}},
                        {"--kv", {&flags.kv, &op.kv}}});
  if (!ok) return tl::unexpected(ok.error());
  return op;
}

Result<app::Op> elementwise(const OpFlags& flags) {
  app::ElementwiseOp op;
  op.fused = flags.fused;
  auto ok = read_sizes({{"N", {&flags.elements, &op.n}}, {"--chain", {&flags.chain, &op.chain}}});
  if (!ok) return tl::unexpected(ok.error());
  return op;
}

Result<app::Op> given(const OpFlags& flags) {
  if (flags.flops.empty() || flags.bytes.empty()) {
    return fail("no operation was named", "corridor op",
                "name matmul, attention or elementwise, or give both --flops and --bytes");
  }
  const auto flops = app::parse_work(flags.flops, "--flops");
  if (!flops) return tl::unexpected(flops.error());
  const auto bytes = app::parse_traffic(flags.bytes, "--bytes");
  if (!bytes) return tl::unexpected(bytes.error());
  return app::RawOp{*flops, *bytes};
}

using ReadOp = Result<app::Op> (*)(const OpFlags&);

Result<int> run_op(const OpFlags& flags, ReadOp read, Session& session) {
  const auto op = read(flags);
  if (!op) return tl::unexpected(op.error());
  const auto assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  const auto device = hardware::find_device(**assets, flags.device.empty() ? default_device : flags.device);
  if (!device) return tl::unexpected(device.error());
  std::vector<std::string> defaults;
  if (flags.device.empty()) defaults.push_back(std::string("device ") + default_device + ": none was given");
  if (flags.dtype.empty()) defaults.push_back(std::string("dtype ") + default_dtype + ": none was given");
  if (!device->note.empty()) defaults.push_back(device->note);
  const auto result = app::cost_op(*op, flags.dtype.empty() ? default_dtype : flags.dtype, device->device);
  if (!result) return tl::unexpected(result.error());
  return session.show(views::op_document(*result, session.explain(), defaults));
}

}  // namespace

void add_op(CLI::App& app, Session& session) {
  CLI::App* op = app.add_subcommand("op", "operations, bytes, uses and both roof times of one operation");
  auto flags = std::make_shared<OpFlags>();
  const auto common = [&](CLI::App& command) {
    command.add_option("--device", flags->device, "device by any name `corridor devices` knows (default: h100-sxm)");
    command.add_option("--dtype", flags->dtype, "bf16, fp16, fp8, fp4, int8, fp32 … (default: bf16)");
    session.add_output_flags(command);
  };
  const auto runs = [&session, flags](ReadOp read) {
    return [&session, flags, read] { session.run = [&session, flags, read] { return run_op(*flags, read, session); }; };
  };

  common(*op);
  op->add_option("--flops", flags->flops, "work, as '140 GFLOP' or 140e9");
  op->add_option("--bytes", flags->bytes, "traffic of main memory, as '140 GB' or 140e9");
  op->require_subcommand(0, 1);

  CLI::App* product = op->add_subcommand("matmul", "C[M,N] = A[M,K] · B[K,N]");
  common(*product);
  product->add_option("M", flags->m)->required();
  product->add_option("N", flags->n)->required();
  product->add_option("K", flags->k)->required();
  product->add_flag("--fused", flags->fused, "has no effect on a plain product, and the answer says so");

  CLI::App* core = op->add_subcommand("attention", "softmax attention of one layer");
  common(*core);
  core->add_option("--batch", flags->batch, "sequences (default: 1)");
  core->add_option("--heads", flags->heads, "query heads")->required();
  core->add_option("--kv-heads", flags->kv_heads, "KV heads (default: as many as --heads)");
  core->add_option("--head-dim", flags->head_dim, "width of a head")->required();
  core->add_option("--q", flags->q, "queries a sequence")->required();
  core->add_option("--kv", flags->kv, "keys a sequence")->required();
  core->add_flag("--causal", flags->causal, "a query sees only the keys up to its own position");
  core->add_flag("--no-flash-attention", flags->no_flash_attention, "scores and probabilities go through main memory");

  CLI::App* chain = op->add_subcommand("elementwise", "a chain of element-wise operations on N elements");
  common(*chain);
  chain->add_option("N", flags->elements)->required();
  chain->add_option("--chain", flags->chain, "operations one after another (default: 3)");
  chain->add_flag("--fused", flags->fused, "one kernel for the whole chain");

  product->callback(runs(matmul));
  core->callback(runs(attention));
  chain->callback(runs(elementwise));
  op->callback([op, raw = runs(given)] {
    if (op->get_subcommands().empty()) raw();
  });
}

}  // namespace corridor::cli
