// SPDX-License-Identifier: Apache-2.0
// Builds a launch on the simulated GPU from a request, runs it and places its counters on the device.
#include "corridor/app/ptx_case.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/app/ptx_case_arguments.h"
#include "corridor/app/ptx_case_check.h"
#include "corridor/app/ptx_case_manifest.h"
#include "corridor/base/file.h"
#include "corridor/base/nearest.h"
#include "corridor/measure/clock.h"
#include "corridor/ptx/timing/load_waits.h"

namespace corridor::app {
namespace {

constexpr const char* default_device = "h100-sxm";
constexpr std::uint32_t timeline_sizes[] = {4, 16, 64};

/// Everything a run needs, step by step; each step fails with one line.
class PtxRunner {
 public:
  PtxRunner(const Assets& assets, PtxRequest request) : assets_(assets), request_(std::move(request)) {}

  Result<PtxAnswer> run() {
    std::vector<Result<int> (PtxRunner::*)()> steps = {&PtxRunner::find, &PtxRunner::take_arguments, &PtxRunner::fit,
                                                       &PtxRunner::execute, &PtxRunner::inspect_buffers};
    for (const auto step : steps) {
      if (const Result<int> done = (this->*step)(); !done) return tl::unexpected(done.error());
    }
    return std::move(out_);
  }

 private:
  Result<int> find() {
    Result<PtxRequest> full = complete_ptx(assets_, request_, out_.about);
    if (!full) return tl::unexpected(full.error());
    request_ = std::move(*full);
    Result<PtxSource> source = ptx_source(assets_, request_.file);
    if (!source) return tl::unexpected(source.error());
    out_.source = std::move(*source);
    const auto kernel = ptx_kernel(out_.source.program->module(), request_.kernel, out_.source.file);
    if (!kernel) return tl::unexpected(kernel.error());
    kernel_ = *kernel;
    if (request_.device.empty()) {
      out_.defaults.push_back(std::string("device ") + default_device + ": none was given");
    }
    Result<hardware::ResolvedDevice> device =
        hardware::find_device(assets_, request_.device.empty() ? default_device : request_.device);
    if (!device) return tl::unexpected(device.error());
    out_.device = std::move(*device);
    Result<PtxMachine> machine = ptx_machine(out_.device.device);
    if (!machine) return tl::unexpected(machine.error());
    out_.machine = std::move(*machine);
    out_.launch.kernel = kernel_->name;
    return 0;
  }

  [[nodiscard]] std::string parameters() const {
    std::string listed;
    for (const ptx::Variable& p : kernel_->parameters) {
      listed += listed.empty() ? "" : ", ";
      listed += p.dimensions.empty() ? std::string(name_of(p.type)) : fmt::format("{} bytes", p.bytes);
    }
    return listed.empty() ? "none" : listed;
  }

  /// Arguments in the order of the parameters; those named as a .texref of the module are no parameters.
  Result<int> take_arguments() {
    memory_ = std::make_unique<ptx::DeviceMemory>(request_.max_memory_bytes.value_or(ptx::Limits{}.max_memory_bytes));
    std::vector<PtxArgument> arguments;
    for (const std::string& word : request_.arguments) {
      const Result<PtxArgument> argument = parse_ptx_argument(word, arguments.size());
      if (!argument) return tl::unexpected(argument.error());
      if (argument->texture && is_texture_name(argument->name)) {
        const Result<std::uint64_t> object = take_buffer(*argument, places_.size());
        if (!object) return tl::unexpected(object.error());
        memory_->bind_texture(argument->name, *object);
        continue;
      }
      arguments.push_back(*argument);
    }
    if (arguments.size() != kernel_->parameters.size()) {
      return fail(fmt::format("the kernel takes {} arguments ({}), {} were given", kernel_->parameters.size(),
                              parameters(), arguments.size()),
                  kernel_->name, "give each in order, as --arg i32:5 or --arg buf:f32:1024:ramp");
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (const Result<int> ok = take_argument(arguments[i], i); !ok) return ok;
    }
    return 0;
  }

  [[nodiscard]] bool is_texture_name(const std::string& name) const {
    const auto& variables = out_.source.program->module().variables;
    return std::any_of(variables.begin(), variables.end(),
                       [&](const ptx::Variable& v) { return v.type == ptx::Type::texref && v.name == name; });
  }

  /// Makes a buffer; its address, or the object of the texture over it.
  Result<std::uint64_t> take_buffer(const PtxArgument& argument, std::size_t place) {
    const Result<std::uint64_t> address = make_buffer(argument, place, *memory_);
    if (!address) return address;
    out_.buffers.push_back({argument.name, argument.type, argument.count, *address, {}});
    places_.push_back(place);
    return argument.texture ? make_texture(argument, *address, *memory_) : address;
  }

  Result<int> take_argument(const PtxArgument& argument, std::size_t place) {
    const ptx::Variable& parameter = kernel_->parameters[place];
    if (!argument.is_buffer) {
      Result<std::vector<std::byte>> bytes = encode_scalar(argument, parameter);
      if (!bytes) return tl::unexpected(bytes.error());
      out_.launch.arguments.push_back(std::move(*bytes));
      return 0;
    }
    if (parameter.bytes != sizeof(std::uint64_t)) {
      return fail(fmt::format("the parameter {} has {} bytes and takes no buffer", parameter.name, parameter.bytes),
                  "--arg " + argument.name, "the kernel's parameters are " + parameters());
    }
    const Result<std::uint64_t> value = take_buffer(argument, place);
    if (!value) return tl::unexpected(value.error());
    out_.launch.add_argument(*value);
    return 0;
  }

  Result<int> fit() {
    if (!request_.grid || !request_.block) {
      const char* missing = request_.grid ? "--block" : "--grid";
      return fail(fmt::format("{} was not given", missing), kernel_->name, fmt::format("add {} X or X,Y,Z", missing));
    }
    out_.launch.grid = *request_.grid;
    out_.launch.block = *request_.block;
    out_.launch.dynamic_shared_bytes = request_.shared_bytes.value_or(0);
    out_.facts = ptx::static_facts(out_.source.program->module(), *kernel_);
    out_.needs.threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(out_.launch.block.count(), 0xFFFFFFFF));
    out_.needs.registers_per_thread = request_.registers.value_or(out_.facts.registers);
    out_.needs.shared_bytes = out_.facts.static_shared_bytes + out_.launch.dynamic_shared_bytes;
    if (!request_.registers) {
      out_.defaults.push_back(
          fmt::format("registers: {} a thread, estimated from the PTX; --registers N takes the assembler's number",
                      out_.facts.registers));
    }
    const Result<ptx::Occupancy> occupancy = ptx::occupancy(out_.needs, out_.machine.machine);
    if (!occupancy) return tl::unexpected(occupancy.error());
    out_.occupancy = *occupancy;
    return 0;
  }

  Result<int> execute() {
    ptx::RunOptions options;
    options.limits.max_instructions = request_.max_instructions.value_or(options.limits.max_instructions);
    options.limits.max_memory_bytes = request_.max_memory_bytes.value_or(options.limits.max_memory_bytes);
    options.caches = request_.caches;
    options.check = request_.check;
    options.sample_blocks = request_.sample_blocks.value_or(0);
    const std::uint32_t warps = (out_.needs.threads + 31) / 32;
    const std::uint32_t most = *std::max_element(std::begin(timeline_sizes), std::end(timeline_sizes));
    if (request_.timeline) options.trace_blocks = (most + warps - 1) / std::max(warps, 1U);
    const measure::SystemClock clock;
    const units::Seconds start = clock.now();
    const ptx::RunDevice device = run_device(out_.machine.machine, out_.needs, out_.occupancy);
    Result<ptx::RunResult> result = ptx::run(*out_.source.program, out_.launch, *memory_, device, options);
    if (!result) return tl::unexpected(result.error());
    out_.host_s = (clock.now() - start).value();
    out_.run = std::move(*result);
    place();
    take_timelines();
    return 0;
  }

  ptx::Placement placed(const ptx::Counters& counters) const {
    return ptx::place(counters, out_.needs, out_.occupancy, out_.machine.machine, ptx::loads_per_wait(*kernel_));
  }

  /// A sample leaves bounds of L2 and DRAM: the low time has the least of them, the high time and the roofs the most.
  void place() {
    if (!out_.run.dram_sectors || !out_.run.l2_sectors) {
      out_.placement = placed(out_.run.counters);
      return;
    }
    ptx::Counters counters = out_.run.counters;
    const auto with = [&](std::uint64_t l2, std::uint64_t dram) {
      counters.cache.l2_read_sectors = l2;
      counters.cache.dram_read_sectors = dram;
      return placed(counters);
    };
    const ptx::Placement least = with(out_.run.l2_sectors->least, out_.run.dram_sectors->least);
    out_.placement = with(out_.run.l2_sectors->most, out_.run.dram_sectors->most);
    if (least.bound != out_.placement.bound) out_.placement.bound = least.bound + " or " + out_.placement.bound;
    out_.placement.low_s = least.low_s;
    out_.placement.flop_per_s = least.flop_per_s;
    out_.placement.fraction_of_roof = least.fraction_of_roof;
    out_.notes.emplace_back(
        "L2 and DRAM do not follow from a sample, since blocks share them: at least what the sampled blocks touched, "
        "at most what they missed in L1, scaled. Roofs are those of the most; run without --sample for one number.");
  }

  /// The same recorded warps with few and with many of them resident.
  void take_timelines() {
    if (out_.run.traces.empty()) return;
    const ptx::LoadShares shares = ptx::load_shares(out_.run.counters.cache);
    for (const std::uint32_t size : timeline_sizes) {
      if (size > out_.machine.machine.warp_slots) break;
      out_.timelines.push_back(ptx::timeline(*kernel_, out_.run.traces, out_.machine.machine, size, shares));
    }
  }

  /// The buffer of that name or place; "": the last one.
  Result<const PtxBuffer*> buffer(const std::string& name, const char* flag) {
    if (out_.buffers.empty()) return fail("the launch has no buffer", flag);
    if (name.empty()) return &out_.buffers.back();
    std::string names;
    for (std::size_t i = 0; i < out_.buffers.size(); ++i) {
      if (out_.buffers[i].name == name || std::to_string(places_[i]) == name) return &out_.buffers[i];
      names += (i == 0 ? "" : ", ") + out_.buffers[i].name;
    }
    return fail(shown_word(name, 40) + " is no buffer of the launch", flag, "the buffers are " + names);
  }

  Result<int> inspect_buffers() {
    for (PtxBuffer& each : out_.buffers) {
      if (const Result<int> ok = look_at(each, *memory_); !ok) return ok;
    }
    for (const auto& [name, file] : request_.dump) {
      const Result<const PtxBuffer*> which = buffer(name, "--dump");
      if (!which) return tl::unexpected(which.error());
      if (const Result<int> ok = dump_buffer(**which, file, *memory_); !ok) return ok;
    }
    if (request_.sample_blocks.value_or(0) > 0 && !request_.expect.empty()) {
      return fail("a sampled run leaves results out", "--expect", "run without --sample to compare results");
    }
    for (const auto& [name, file] : request_.expect) {
      const Result<const PtxBuffer*> which = buffer(name, "--expect");
      if (!which) return tl::unexpected(which.error());
      Result<PtxCheck> check = compare_buffer(**which, file, request_.tolerance, *memory_);
      if (!check) return tl::unexpected(check.error());
      out_.checks.push_back(std::move(*check));
    }
    return 0;
  }

  const Assets& assets_;
  PtxRequest request_;
  PtxAnswer out_;
  const ptx::Function* kernel_ = nullptr;
  std::unique_ptr<ptx::DeviceMemory> memory_;
  std::vector<std::size_t> places_;  ///< of each buffer among the arguments
};

}  // namespace

bool PtxAnswer::clean() const {
  return run.faults.empty() && run.completed &&
         std::all_of(checks.begin(), checks.end(), [](const PtxCheck& c) { return c.different == 0; });
}

Result<PtxAnswer> run_ptx(const Assets& assets, const PtxRequest& request) {
  return PtxRunner(assets, request).run();
}

}  // namespace corridor::app
