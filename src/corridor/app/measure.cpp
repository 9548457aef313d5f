// SPDX-License-Identifier: Apache-2.0
// Chooses what to measure, and turns the result into a device file that was read back before it is written.
#include "corridor/app/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "corridor/base/file.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/measure/cuda/measure_cuda.h"
#include "corridor/measure/device_writer.h"
#include "corridor/measure/measure_cpu.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

constexpr std::size_t most_ordinal_digits = 4;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Faults of the output file that would only be seen after the measurement.
Result<int> check_output(const MeasureRequest& request) {
  if (request.output.empty()) return 0;
  const std::string where = "-o " + request.output;
  if (request.on == "all") {
    return fail("a device file describes one device", where, "measure the devices one after another with --on");
  }
  if (!request.output.ends_with(".toml")) {
    return fail("a device file ends in .toml", where, "write -o " + request.output + ".toml");
  }
  if (!exists(folder_of(request.output))) return fail("the folder does not exist", where, "make it first");
  return 0;
}

Result<int> measure_gpus(const MeasureTarget& target, const MeasureRequest& request, const measure::Progress& progress,
                         MeasureAnswer& answer) {
  const auto refuse = [&](const Error& why) {
    if (target.cpu) {
      answer.notes.push_back("No GPU was measured: " + why.line());
    } else {
      answer.refusal = why;
    }
    return 0;
  };
  const auto libraries = measure::cuda::find_cuda_libraries();
  if (!libraries) return refuse(libraries.error());
  std::vector<int> ordinals;
  if (target.gpu) {
    ordinals.push_back(*target.gpu);
  } else {
    const auto names = measure::cuda_device_names(*libraries);
    if (!names) return refuse(names.error());
    for (std::size_t i = 0; i < names->size(); ++i) ordinals.push_back(static_cast<int>(i));
  }
  for (const int ordinal : ordinals) {
    auto measured = measure::measure_cuda(ordinal, request.settings, *libraries, progress);
    if (!measured) return refuse(measured.error());
    answer.measured.push_back(std::move(*measured));
  }
  return 0;
}

Result<int> write_device(const MeasureRequest& request, MeasureAnswer& answer) {
  if (request.output.empty() || answer.measured.empty()) return 0;
  const measure::Measurement& m = answer.measured.front();
  auto remarks = m.conditions;
  for (const std::string& warning : m.warnings) remarks.emplace_back("warning", warning);
  const std::string text = measure::device_toml(m.device, remarks);
  if (const auto device = hardware::parse_device(text, request.output); !device) {
    return fail("the measurement makes no valid device file (" + device.error().line() + ")", "-o " + request.output,
                "measure again, and report this line when it stays");
  }
  if (const auto written = write_text_file(request.output, text); !written) {
    return fail(written.error().what, "-o " + request.output, written.error().fix);
  }
  answer.written = request.output;
  return 0;
}

}  // namespace

Result<MeasureTarget> parse_target(const std::string& on) {
  if (on == "cpu") return MeasureTarget{true, false, std::nullopt};
  if (on == "all") return MeasureTarget{true, true, std::nullopt};
  if (on == "cuda") return MeasureTarget{false, false, 0};
  const std::string digits = on.starts_with("cuda:") ? on.substr(5) : std::string();
  const bool number = !digits.empty() && digits.size() <= most_ordinal_digits &&
                      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!number) {
    return fail(fmt::format("\"{}\" names nothing to measure", on.substr(0, 40)), "--on",
                "write cpu, cuda:0 (the number nvidia-smi prints) or all");
  }
  return MeasureTarget{false, false, std::stoi(digits)};
}

Result<MeasureAnswer> measure(const MeasureRequest& request, const measure::Progress& progress) {
  const Result<MeasureTarget> target = parse_target(request.on);
  if (!target) return tl::unexpected(target.error());
  if (const auto ok = check_output(request); !ok) return tl::unexpected(ok.error());
  MeasureAnswer answer;
  if (target->cpu) {
    auto measured = measure::measure_cpu(request.settings, progress);
    if (!measured) return tl::unexpected(measured.error());
    answer.measured.push_back(std::move(*measured));
  }
  if (target->every_gpu || target->gpu) {
    if (const auto ok = measure_gpus(*target, request, progress, answer); !ok) return tl::unexpected(ok.error());
  }
  if (const auto ok = write_device(request, answer); !ok) return tl::unexpected(ok.error());
  return answer;
}

}  // namespace corridor::app
