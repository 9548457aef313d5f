// SPDX-License-Identifier: Apache-2.0
// One row for each opcode of PTX. Tiers: 1 and 2 are what most kernels use, 3 tensor cores and asynchronous copies.
#include "corridor/ptx/isa/op_table.h"

#include <algorithm>
#include <array>

namespace corridor::ptx {
namespace {

constexpr std::string_view why_warpgroup = "asynchronous warpgroup products are not simulated";
constexpr std::string_view why_tensor_memory = "tensor memory of sm_100 is not simulated";
constexpr std::string_view why_several_devices = "memory of several devices is not simulated";
constexpr std::string_view why_tensor_maps = "tensor maps are made by the host, which is not simulated";
constexpr std::string_view why_surfaces = "surfaces are not simulated";
constexpr std::string_view why_textures = "of textures only plain reads (tex) are simulated";
constexpr std::string_view why_clusters = "clusters of blocks are not simulated";
constexpr std::string_view why_rare = "no compiler writes it by itself; not simulated";
constexpr std::string_view why_policies = "cache policies are not simulated";
constexpr std::string_view why_video =
    "video instructions are emulated on every GPU since sm_50; write plain arithmetic";
constexpr std::string_view why_stack = "a stack of variable size is not simulated";
constexpr std::string_view why_references = "opaque references are not simulated";
constexpr std::string_view why_stealing = "work stealing between clusters is not simulated";

using P = Pipe;
using F = Family;
using W = Writes;

/// Sorted by opcode. Slots are estimates for sm_90, of variants that op_variants.cpp does not know better.
// clang-format off
constexpr std::array<OpRow, 135> rows = {{
    {"abs", 1, P::alu, F::compare, 1, W::first, {}},
    {"activemask", 2, P::alu, F::fixed, 1, W::first, {}},
    {"add", 1, P::alu, F::add, 1, W::first, {}},
    {"addc", 2, P::alu, F::add, 1, W::first, {}},
    {"alloca", 0, P::alu, F::fixed, 1, W::first, why_stack},
    {"and", 1, P::alu, F::fixed, 1, W::first, {}},
    {"applypriority", 2, P::lsu, F::fixed, 1, W::nothing, {}},
    {"atom", 1, P::lsu, F::memory, 1, W::first, {}},
    {"bar", 1, P::adu, F::fixed, 1, W::bar, {}},
    {"barrier", 2, P::adu, F::fixed, 1, W::bar, {}},
    {"bfe", 2, P::alu, F::fixed, 1, W::first, {}},
    {"bfi", 2, P::alu, F::fixed, 1, W::first, {}},
    {"bfind", 2, P::xu, F::fixed, 1, W::first, {}},
    {"bmsk", 2, P::alu, F::fixed, 1, W::first, {}},
    {"bra", 1, P::adu, F::fixed, 1, W::nothing, {}},
    {"brev", 2, P::xu, F::fixed, 1, W::first, {}},
    {"brkpt", 2, P::adu, F::fixed, 1, W::nothing, {}},
    {"brx", 2, P::adu, F::fixed, 1, W::nothing, {}},
    {"call", 2, P::adu, F::fixed, 1, W::list_first, {}},
    {"clusterlaunchcontrol", 0, P::adu, F::fixed, 1, W::query, why_stealing},
    {"clz", 2, P::xu, F::fixed, 1, W::first, {}},
    {"cnot", 2, P::alu, F::fixed, 1, W::first, {}},
    {"copysign", 2, P::alu, F::fixed, 1, W::first, {}},
    {"cos", 1, P::xu, F::special, 1, W::first, {}},
    {"cp", 3, P::lsu, F::fixed, 1, W::nothing, {}},
    {"createpolicy", 0, P::alu, F::fixed, 1, W::first, why_policies},
    {"cvt", 1, P::xu, F::convert, 1, W::first, {}},
    {"cvta", 1, P::alu, F::fixed, 1, W::first, {}},
    {"discard", 2, P::lsu, F::fixed, 1, W::nothing, {}},
    {"div", 1, P::alu, F::divide, 1, W::first, {}},
    {"dp2a", 2, P::fma, F::fixed, 1, W::first, {}},
    {"dp4a", 2, P::fma, F::fixed, 1, W::first, {}},
    {"elect", 3, P::alu, F::fixed, 1, W::first, {}},
    {"ex2", 1, P::xu, F::special, 1, W::first, {}},
    {"exit", 1, P::adu, F::fixed, 1, W::nothing, {}},
    {"fence", 2, P::lsu, F::fixed, 1, W::nothing, {}},
    {"fma", 1, P::fma, F::fma, 1, W::first, {}},
    {"fns", 0, P::alu, F::fixed, 20, W::first, why_rare},
    {"getctarank", 0, P::alu, F::fixed, 1, W::first, why_clusters},
    {"griddepcontrol", 2, P::adu, F::fixed, 1, W::nothing, {}},
    {"isspacep", 2, P::alu, F::fixed, 1, W::first, {}},
    {"istypep", 0, P::alu, F::fixed, 1, W::first, why_references},
    {"ld", 1, P::lsu, F::memory, 1, W::first, {}},
    {"ldmatrix", 3, P::lsu, F::fixed, 1, W::first, {}},
    {"ldu", 2, P::lsu, F::memory, 1, W::first, {}},
    {"lg2", 1, P::xu, F::special, 1, W::first, {}},
    {"lop3", 2, P::alu, F::fixed, 1, W::first, {}},
    {"mad", 1, P::fma, F::fma, 1, W::first, {}},
    {"mad24", 2, P::fma, F::fixed, 1, W::first, {}},
    {"madc", 2, P::fma, F::fma, 1, W::first, {}},
    {"mapa", 0, P::alu, F::fixed, 1, W::first, why_clusters},
    {"match", 2, P::adu, F::fixed, 1, W::first, {}},
    {"max", 1, P::alu, F::compare, 1, W::first, {}},
    {"mbarrier", 3, P::lsu, F::fixed, 1, W::unless_address, {}},
    {"membar", 2, P::lsu, F::fixed, 1, W::nothing, {}},
    {"min", 1, P::alu, F::compare, 1, W::first, {}},
    {"mma", 3, P::tensor, F::matrix, 1, W::first, {}},
    {"mov", 1, P::alu, F::fixed, 1, W::first, {}},
    {"movmatrix", 3, P::lsu, F::fixed, 1, W::first, {}},
    {"mul", 1, P::fma, F::mul, 1, W::first, {}},
    {"mul24", 2, P::fma, F::fixed, 1, W::first, {}},
    {"multimem", 0, P::lsu, F::fixed, 1, W::multimem, why_several_devices},
    {"nanosleep", 2, P::adu, F::fixed, 1, W::nothing, {}},
    {"neg", 1, P::alu, F::compare, 1, W::first, {}},
    {"not", 1, P::alu, F::fixed, 1, W::first, {}},
    {"or", 1, P::alu, F::fixed, 1, W::first, {}},
    {"pmevent", 2, P::adu, F::fixed, 1, W::nothing, {}},
    {"popc", 2, P::xu, F::fixed, 1, W::first, {}},
    {"prefetch", 2, P::lsu, F::fixed, 1, W::nothing, {}},
    {"prefetchu", 2, P::lsu, F::fixed, 1, W::nothing, {}},
    {"prmt", 2, P::alu, F::fixed, 1, W::first, {}},
    {"rcp", 1, P::xu, F::reciprocal, 1, W::first, {}},
    {"red", 2, P::lsu, F::memory, 1, W::nothing, {}},
    {"redux", 2, P::alu, F::fixed, 1, W::first, {}},
    {"rem", 1, P::alu, F::divide, 1, W::first, {}},
    {"ret", 1, P::adu, F::fixed, 1, W::nothing, {}},
    {"rsqrt", 1, P::xu, F::reciprocal, 1, W::first, {}},
    {"sad", 2, P::alu, F::fixed, 1, W::first, {}},
    {"selp", 1, P::alu, F::fixed, 1, W::first, {}},
    {"set", 2, P::alu, F::compare, 1, W::first, {}},
    {"setmaxnreg", 3, P::adu, F::fixed, 1, W::nothing, {}},
    {"setp", 1, P::alu, F::compare, 1, W::first, {}},
    {"shf", 2, P::alu, F::fixed, 1, W::first, {}},
    {"shfl", 1, P::lsu, F::fixed, 1, W::first, {}},
    {"shl", 1, P::alu, F::fixed, 1, W::first, {}},
    {"shr", 1, P::alu, F::fixed, 1, W::first, {}},
    {"sin", 1, P::xu, F::special, 1, W::first, {}},
    {"slct", 2, P::alu, F::compare, 1, W::first, {}},
    {"sqrt", 1, P::xu, F::reciprocal, 1, W::first, {}},
    {"st", 1, P::lsu, F::memory, 1, W::nothing, {}},
    {"stackrestore", 0, P::alu, F::fixed, 1, W::nothing, why_stack},
    {"stacksave", 0, P::alu, F::fixed, 1, W::first, why_stack},
    {"stmatrix", 3, P::lsu, F::fixed, 1, W::nothing, {}},
    {"sub", 1, P::alu, F::add, 1, W::first, {}},
    {"subc", 2, P::alu, F::add, 1, W::first, {}},
    {"suld", 0, P::tex, F::fixed, 1, W::first, why_surfaces},
    {"suq", 0, P::tex, F::fixed, 1, W::first, why_surfaces},
    {"sured", 0, P::tex, F::fixed, 1, W::nothing, why_surfaces},
    {"sust", 0, P::tex, F::fixed, 1, W::nothing, why_surfaces},
    {"szext", 0, P::alu, F::fixed, 1, W::first, why_rare},
    {"tanh", 2, P::xu, F::special, 1, W::first, {}},
    {"tcgen05", 0, P::tensor, F::fixed, 1, W::load, why_tensor_memory},
    {"tensormap", 0, P::lsu, F::fixed, 1, W::nothing, why_tensor_maps},
    {"testp", 2, P::alu, F::fixed, 1, W::first, {}},
    {"tex", 3, P::tex, F::fixed, 1, W::first, {}},
    {"tld4", 0, P::tex, F::fixed, 1, W::first, why_textures},
    {"trap", 2, P::adu, F::fixed, 1, W::nothing, {}},
    {"txq", 0, P::tex, F::fixed, 1, W::first, why_textures},
    {"vabsdiff", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vabsdiff2", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vabsdiff4", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vadd", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vadd2", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vadd4", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vavrg2", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vavrg4", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vmad", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vmax", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vmax2", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vmax4", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vmin", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vmin2", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vmin4", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vote", 1, P::alu, F::fixed, 1, W::first, {}},
    {"vset", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vset2", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vset4", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vshl", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vshr", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vsub", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vsub2", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"vsub4", 0, P::alu, F::fixed, 1, W::first, why_video},
    {"wgmma", 0, P::tensor, F::matrix, 1, W::wgmma, why_warpgroup},
    {"wmma", 3, P::tensor, F::matrix, 1, W::load, {}},
    {"xor", 1, P::alu, F::fixed, 1, W::first, {}},
}};
// clang-format on

}  // namespace

std::span<const OpRow> op_table() {
  return rows;
}

const OpRow* op_row(std::string_view opcode) {
  const auto found = std::lower_bound(rows.begin(), rows.end(), opcode,
                                      [](const OpRow& row, std::string_view wanted) { return row.opcode < wanted; });
  return found != rows.end() && found->opcode == opcode ? &*found : nullptr;
}

}  // namespace corridor::ptx
