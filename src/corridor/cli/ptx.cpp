// SPDX-License-Identifier: Apache-2.0
// `corridor ptx`: kernels on the simulated GPU; alone, the launches that ship with the program.
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "corridor/app/ptx_case.h"
#include "corridor/app/ptx_case_manifest.h"
#include "corridor/base/nearest.h"
#include "corridor/cli/number_flags.h"
#include "corridor/cli/session.h"
#include "corridor/units/text.h"
#include "corridor/views/ptx_view.h"

namespace corridor::cli {
namespace {

struct PtxRunFlags {
  app::PtxRequest request;
  std::string grid, block, memory;
  std::vector<std::string> expect, dump;
  std::optional<std::int64_t> shared, registers, instructions, sample;
  std::optional<double> tolerance;
  bool no_caches = false, no_check = false;
};

/// "4096", "16,16" or "16x16x2".
Result<ptx::Dim3> read_dims(const std::string& typed, const std::string& flag) {
  ptx::Dim3 out;
  const std::array<std::uint32_t*, 3> places{&out.x, &out.y, &out.z};
  std::size_t at = 0;
  for (std::size_t i = 0;; ++i) {
    const std::size_t end = typed.find_first_of(",x", at);
    const auto number = units::parse_count(typed.substr(at, end == std::string::npos ? end : end - at));
    constexpr double most = std::numeric_limits<std::uint32_t>::max();
    if (i >= places.size() || !number || *number < 1 || *number > most ||
        *number != static_cast<double>(static_cast<std::uint32_t>(*number))) {
      return fail("is no size of one to three whole numbers", flag + " " + shown_word(typed, 40),
                  "give X, X,Y or X,Y,Z, for example 256 or 16,16");
    }
    *places[i] = static_cast<std::uint32_t>(*number);
    if (end == std::string::npos) return out;
    at = end + 1;
  }
}

/// "ARG=FILE", or a file alone for the last buffer.
void take_files(const std::vector<std::string>& words, std::map<std::string, std::string>& files) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool named = equals != std::string::npos && word.find('/') >= equals;
    files[named ? word.substr(0, equals) : ""] = named ? word.substr(equals + 1) : word;
  }
}

std::optional<std::uint64_t> unsigned_of(const std::optional<std::int64_t>& value) {
  return value ? std::optional<std::uint64_t>(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

Result<int> complete_request(PtxRunFlags& f) {
  app::PtxRequest& r = f.request;
  if (!f.grid.empty()) {
    const auto grid = read_dims(f.grid, "--grid");
    if (!grid) return tl::unexpected(grid.error());
    r.grid = *grid;
  }
  if (!f.block.empty()) {
    const auto block = read_dims(f.block, "--block");
    if (!block) return tl::unexpected(block.error());
    r.block = *block;
  }
  if (!f.memory.empty()) {
    const auto memory = units::parse_bytes(f.memory);
    if (!memory) return fail(memory.error().what, "--max-memory " + f.memory, memory.error().fix);
    constexpr double most = 1e18;
    if (memory->value() > most) return fail("is too large", "--max-memory " + f.memory, "give 4GiB or less");
    r.max_memory_bytes = static_cast<std::uint64_t>(memory->value());
  }
  constexpr std::int64_t most_registers = 255;
  if (f.registers && (*f.registers < 1 || *f.registers > most_registers)) {
    return fail(std::to_string(*f.registers) + " is out of range", "--registers", "give 1 to 255");
  }
  if (f.registers) r.registers = static_cast<std::uint32_t>(*f.registers);
  r.shared_bytes = unsigned_of(f.shared);
  r.max_instructions = unsigned_of(f.instructions);
  r.sample_blocks = unsigned_of(f.sample);
  if (f.tolerance) r.tolerance = *f.tolerance;
  r.caches = !f.no_caches;
  r.check = !f.no_check;
  take_files(f.expect, r.expect);
  take_files(f.dump, r.dump);
  return 0;
}

Result<int> list_launches(Session& session) {
  const auto assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  const auto launches = app::shipped_launches(**assets);
  if (!launches) return tl::unexpected(launches.error());
  return session.show(views::ptx_list_document(*launches));
}

Result<int> run_ptx_run(PtxRunFlags flags, Session& session) {
  if (flags.request.file.empty()) return list_launches(session);
  if (const Result<int> ok = complete_request(flags); !ok) return ok;
  const auto assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  const auto answer = app::run_ptx(**assets, flags.request);
  if (!answer) return tl::unexpected(answer.error());
  return session.show(views::ptx_run_document(*answer, session.explain()), answer->clean() ? exit_answered : exit_no);
}

Result<int> run_ptx_inspect(const app::PtxInspectRequest& request, Session& session) {
  const auto assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  const auto inspection = app::inspect_ptx(**assets, request);
  if (!inspection) return tl::unexpected(inspection.error());
  return session.show(views::ptx_inspect_document(*inspection));
}

void add_ptx_run(CLI::App& ptx, Session& session) {
  CLI::App* run = ptx.add_subcommand("run", "run a kernel: results, counters, faults, its place on the roofline");
  auto f = std::make_shared<PtxRunFlags>();
  run->add_option(
      "FILE", f->request.file,
      "FILE.ptx, FILE.cu (compiled with NVRTC or nvcc when one is found), MANIFEST.json, or the name of a launch that "
      "ships with the program; left out: the list");
  run->add_option("--kernel", f->request.kernel, "the kernel, when the file has several");
  run->add_option("--grid", f->grid, "blocks: X, X,Y or X,Y,Z")->type_name("N[,N[,N]]");
  run->add_option("--block", f->block, "threads of a block: X, X,Y or X,Y,Z")->type_name("N[,N[,N]]");
  add_whole(*run, "--shared", f->shared, "dynamic shared memory of a block in bytes", "give a number of bytes");
  run->add_option("--arg", f->request.arguments,
                  "one argument, in order: i32:5, f32:2.5, 7, hex:0102, or a buffer: buf:f32:1024[:zero|none|ramp|rand|"
                  "rand=BELOW|const=V|cycle|file=PATH], or a texture: tex2d:f32:64x32[:FILL][:linear][:wrap]; NAME= "
                  "before it names it")
      ->type_name("VALUE")
      ->allow_extra_args(false);
  run->add_option("--device", f->request.device, "the device that is simulated (default: h100-sxm)");
  run->add_option("--expect", f->expect,
                  "[ARG=]FILE: compare a buffer (default: the last) with raw values, or with numbers in a .txt")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_number(*run, "--tolerance", f->tolerance, "of --expect, relative to the larger of 1 and the value", "give 0.001");
  run->add_option("--dump", f->dump, "[ARG=]FILE: write a buffer's bytes")->type_name("FILE")->expected(1)->take_all();
  add_whole(*run, "--registers", f->registers, "registers of a thread, in place of the estimate", "give 1 to 255");
  add_whole(*run, "--max-instructions", f->instructions, "stop after so many warp instructions (default: 20 billion)",
            "give a number, for example 1M");
  run->add_option("--max-memory", f->memory, "of all buffers (default: 4GiB)")->type_name("SIZE");
  add_whole(*run, "--sample", f->sample, "run only so many blocks: their counters are scaled, L2 and DRAM get bounds",
            "give a number of blocks");
  run->add_flag("--no-caches", f->no_caches, "leave L1, L2 and DRAM out: faster");
  run->add_flag("--no-check", f->no_check, "leave out the search for races and unwritten values: faster");
  run->add_flag("--timeline", f->request.timeline, "show what the warps of one SM do, clock by clock");
  session.add_output_flags(*run);
  run->callback([&session, f] { session.run = [&session, f] { return run_ptx_run(*f, session); }; });
}

void add_ptx_inspect(CLI::App& ptx, Session& session) {
  CLI::App* inspect = ptx.add_subcommand("inspect", "what a kernel's text tells: instructions, memory, occupancy");
  auto request = std::make_shared<app::PtxInspectRequest>();
  auto threads = std::make_shared<std::optional<std::int64_t>>();
  inspect->add_option("FILE", request->file, "FILE.ptx, FILE.cu, or the name of a launch")->required();
  inspect->add_option("--kernel", request->kernel, "one kernel (default: all)");
  inspect->add_option("--device", request->device, "one device (default: all that have such blocks)");
  add_whole(*inspect, "--threads", *threads, "threads of a block (default: what the kernel says, else 256)",
            "give 1 to 1024");
  session.add_output_flags(*inspect);
  inspect->callback([&session, request, threads] {
    session.run = [&session, request, threads]() -> Result<int> {
      constexpr std::int64_t most = 1024;
      if (*threads && (**threads < 1 || **threads > most)) {
        return fail(std::to_string(**threads) + " is out of range", "--threads", "give 1 to 1024");
      }
      if (*threads) request->threads = static_cast<std::uint32_t>(**threads);
      return run_ptx_inspect(*request, session);
    };
  });
}

}  // namespace

void add_ptx(CLI::App& app, Session& session) {
  CLI::App* ptx = app.add_subcommand("ptx", "the simulated GPU: run and inspect CUDA kernels (PTX) without a GPU");
  ptx->require_subcommand(0, 1);
  add_ptx_run(*ptx, session);
  add_ptx_inspect(*ptx, session);
  session.add_output_flags(*ptx);
  ptx->callback([ptx, &session] {
    if (ptx->get_subcommands().empty()) session.run = [&session] { return list_launches(session); };
  });
}

}  // namespace corridor::cli
