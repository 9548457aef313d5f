// SPDX-License-Identifier: Apache-2.0
// `corridor block`: warps, lanes, residency and occupancy of one thread block.
#include <memory>
#include <string>
#include <vector>

#include "corridor/app/block.h"
#include "corridor/app/op.h"
#include "corridor/cli/session.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/units/text.h"
#include "corridor/views/block_view.h"

namespace corridor::cli {
namespace {

constexpr const char* default_device = "h100-sxm";

struct BlockFlags {
  std::string device, threads, registers, shared_bytes, blocks;
};

Result<double> read_count(const std::string& text, const std::string& flag) {
  auto value = units::parse_count(text);
  if (!value) return fail(value.error().what, flag, "give a whole number, for example 256");
  return value;
}

Result<app::BlockRequest> read_request(const BlockFlags& flags) {
  app::BlockRequest request;
  const auto threads = read_count(flags.threads, "--threads");
  if (!threads) return tl::unexpected(threads.error());
  request.threads = *threads;
  if (!flags.registers.empty()) {
    const auto registers = read_count(flags.registers, "--registers");
    if (!registers) return tl::unexpected(registers.error());
    request.registers_per_thread = *registers;
  }
  if (!flags.shared_bytes.empty()) {
    const auto shared = app::parse_traffic(flags.shared_bytes, "--shared-bytes");
    if (!shared) return tl::unexpected(shared.error());
    request.shared = *shared;
  }
  if (!flags.blocks.empty()) {
    const auto grid = read_count(flags.blocks, "--blocks");
    if (!grid) return tl::unexpected(grid.error());
    request.grid = *grid;
  }
  return request;
}

Result<int> run_block(const BlockFlags& flags, Session& session) {
  const auto request = read_request(flags);
  if (!request) return tl::unexpected(request.error());
  const auto assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  const auto device = hardware::find_device(**assets, flags.device.empty() ? default_device : flags.device);
  if (!device) return tl::unexpected(device.error());
  const auto result = app::place_block(*request, device->device);
  if (!result) return tl::unexpected(result.error());
  std::vector<std::string> defaults;
  if (flags.device.empty()) defaults.push_back(std::string("device ") + default_device + ": none was given");
  if (!device->note.empty()) defaults.push_back(device->note);
  if (result->registers_assumed) {
    defaults.push_back("registers: " + units::print_count(result->registers_per_thread) +
                       " a thread, a common count for simple kernels; the compiler prints yours");
  }
  if (flags.shared_bytes.empty()) defaults.emplace_back("shared memory: none asked for by the block");
  return session.show(views::block_document(*result, session.explain(), defaults));
}

}  // namespace

void add_block(CLI::App& app, Session& session) {
  CLI::App* block = app.add_subcommand("block", "warps, lanes, residency and occupancy of one thread block");
  auto flags = std::make_shared<BlockFlags>();
  block->add_option("--threads", flags->threads, "threads of one block")->required();
  block->add_option("--registers", flags->registers, "registers of one thread (default: 32)");
  block->add_option("--shared-bytes", flags->shared_bytes, "shared memory of one block, as 49152 or '48 KiB'");
  block->add_option("--blocks", flags->blocks, "blocks launched in all (the grid)");
  block->add_option("--device", flags->device, "device by any name `corridor devices` knows (default: h100-sxm)");
  session.add_output_flags(*block);
  block->callback([&session, flags] { session.run = [&session, flags] { return run_block(*flags, session); }; });
}

}  // namespace corridor::cli
