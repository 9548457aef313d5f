// SPDX-License-Identifier: Apache-2.0
// Reads or compiles a module for the simulated GPU.
#include "corridor/app/ptx_case_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "corridor/app/nvcc.h"
#include "corridor/base/file.h"
#include "corridor/base/nearest.h"
#include "corridor/measure/cuda/compiler.h"
#include "corridor/measure/cuda/libraries.h"
#include "corridor/ptx/syntax/parse.h"

namespace corridor::app {
namespace {

constexpr std::size_t most_text_bytes = 256U << 20U;
constexpr const char *target_architecture = "compute_90", *program_architecture = "sm_90";

std::string base_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// NVRTC carries no headers: those of a CUDA folder or wheel lie beside its library.
std::vector<std::string> include_options(const std::string& library) {
  std::vector<std::string> options{"--generate-line-info"};
  const std::size_t slash = library.find_last_of('/');
  if (slash == std::string::npos) return options;
  const std::string folder = library.substr(0, slash);
  for (const char* up : {"/../include", "/../../include", "/../../../include"}) {
    if (!is_folder(folder + up)) continue;
    options.push_back("-I" + folder + up);
    if (is_folder(folder + up + "/cccl")) options.push_back("-I" + folder + up + "/cccl");
    break;
  }
  return options;
}

Result<std::string> compile_by_program(const std::string& nvcc, const std::string& name, PtxSource& out) {
  Result<std::string> ptx = compile_with_nvcc(nvcc, name, program_architecture);
  if (ptx) out.compiled = fmt::format("with {} for {}", nvcc, program_architecture);
  return ptx;
}

Result<std::string> compile_source(const std::string& text, const std::string& name, PtxSource& out) {
  out.source = text;
  out.source_name = base_name(name);
  if (const std::string nvcc = named_nvcc(); !nvcc.empty()) return compile_by_program(nvcc, name, out);
  const measure::cuda::Found<measure::cuda::NvrtcApi> nvrtc = measure::cuda::find_nvrtc();
  if (!nvrtc.api) {
    if (const std::string nvcc = nvcc_on_path(); !nvcc.empty()) return compile_by_program(nvcc, name, out);
    return fail("a .cu file needs NVIDIA's compiler: " + nvrtc.missing + "; nvcc is not on PATH", name,
                "give PTX (nvcc -ptx), or name a compiler: CORRIDOR_NVRTC=FOLDER or CORRIDOR_NVCC=FILE");
  }
  const Result<std::vector<char>> code = measure::cuda::compile(
      *nvrtc.api, text, name, measure::cuda::Target{target_architecture, false}, include_options(nvrtc.path));
  if (!code) return tl::unexpected(code.error());
  std::string ptx(code->begin(), code->end());
  while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  out.compiled = fmt::format("with NVRTC {} for {}", measure::cuda::nvrtc_version(*nvrtc.api), target_architecture);
  return ptx;
}

std::vector<std::string> shipped_names(const Assets& assets) {
  std::vector<std::string> names;
  for (const std::string& path : assets.list("ptx")) {
    if (path.ends_with(".ptx")) names.push_back(base_name(path));
  }
  return names;
}

/// Text of a path, or of data/ptx.
Result<std::string> text_of(const Assets& assets, const std::string& file, PtxSource& out) {
  out.file = file;
  if (exists(file)) {
    Result<std::string> text = read_text_file(file, most_text_bytes);
    if (!text) return text;
    const std::size_t dot = file.find_last_of('.');
    if (const std::string beside = file.substr(0, dot) + ".cu"; dot != std::string::npos && is_file(beside)) {
      if (Result<std::string> source = read_text_file(beside); source) {
        out.source = std::move(*source);
        out.source_name = base_name(beside);
      }
    }
    return text;
  }
  const std::vector<std::string> names = shipped_names(assets);
  const std::string name = file.ends_with(".ptx") ? file : file + ".ptx";
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string near;
    for (const std::string& word : nearest_words(name, names, 3)) near += (near.empty() ? "" : ", ") + word;
    return fail("there is no such file, and no kernel of that name ships with the program", shown_word(file),
                near.empty() ? "corridor ptx lists those that do" : "near it: " + near);
  }
  const Result<std::string_view> text = assets.read("ptx/" + name);
  if (!text) return tl::unexpected(text.error());
  out.file = "data/ptx/" + name;
  out.source_name = name.substr(0, name.size() - 4) + ".cu";
  if (const Result<std::string_view> source = assets.read("ptx/" + out.source_name); source) out.source = *source;
  return std::string(*text);
}

bool is_kernel_of(const std::string& mangled, const std::string& name) {
  if (mangled == name) return true;
  // _Z4axpyifPf: the length stands before the name.
  return mangled.starts_with("_Z") && mangled.find(std::to_string(name.size()) + name) != std::string::npos;
}

}  // namespace

Result<PtxSource> ptx_source(const Assets& assets, const std::string& file) {
  PtxSource out;
  Result<std::string> text = text_of(assets, file, out);
  if (!text) return tl::unexpected(text.error());
  if (file.ends_with(".cu")) {
    text = compile_source(*text, file, out);
    if (!text) return tl::unexpected(text.error());
  }
  Result<ptx::Module> module = ptx::parse_module(std::move(*text), base_name(out.file));
  if (!module) return tl::unexpected(module.error());
  Result<ptx::Program> program = ptx::Program::compile(std::move(*module));
  if (!program) return tl::unexpected(program.error());
  out.program = std::make_shared<const ptx::Program>(std::move(*program));
  return out;
}

Result<const ptx::Function*> ptx_kernel(const ptx::Module& module, const std::string& name, const std::string& file) {
  std::vector<const ptx::Function*> kernels;
  std::vector<std::string> names;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || function.is_declaration) continue;
    names.push_back(function.name);
    if (name == function.name) return &function;
    if (name.empty() || is_kernel_of(function.name, name)) kernels.push_back(&function);
  }
  if (kernels.size() == 1) return kernels.front();
  if (names.empty()) return fail("there is no kernel (.entry) in it", file, "give PTX with a __global__ function");
  std::string listed;
  constexpr std::size_t most_listed = 12;
  const std::vector<std::string> near = name.empty() ? names : nearest_words(name, names, most_listed, true);
  for (std::size_t i = 0; i < near.size() && i < most_listed; ++i) listed += (i == 0 ? "" : ", ") + near[i];
  if (names.size() > most_listed) listed += fmt::format(" … ({} in all)", names.size());
  if (name.empty()) return fail("has several kernels: " + listed, file, "name one with --kernel");
  return fail(fmt::format("{} kernel of the name {}", kernels.empty() ? "no" : "more than one", shown_word(name)), file,
              "the kernels are " + listed);
}

}  // namespace corridor::app
