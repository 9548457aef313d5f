// SPDX-License-Identifier: Apache-2.0
// The special registers of PTX by name.
#include <algorithm>
#include <array>
#include <utility>

#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {

Special special_from(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Special>, 46> table{{
      {"%tid.x", Special::tid_x},
      {"%tid.y", Special::tid_y},
      {"%tid.z", Special::tid_z},
      {"%ntid.x", Special::ntid_x},
      {"%ntid.y", Special::ntid_y},
      {"%ntid.z", Special::ntid_z},
      {"%ctaid.x", Special::ctaid_x},
      {"%ctaid.y", Special::ctaid_y},
      {"%ctaid.z", Special::ctaid_z},
      {"%nctaid.x", Special::nctaid_x},
      {"%nctaid.y", Special::nctaid_y},
      {"%nctaid.z", Special::nctaid_z},
      {"%laneid", Special::laneid},
      {"%warpid", Special::warpid},
      {"%nwarpid", Special::nwarpid},
      {"%smid", Special::smid},
      {"%nsmid", Special::nsmid},
      {"%gridid", Special::gridid},
      {"%lanemask_eq", Special::lanemask_eq},
      {"%lanemask_lt", Special::lanemask_lt},
      {"%lanemask_le", Special::lanemask_le},
      {"%lanemask_gt", Special::lanemask_gt},
      {"%lanemask_ge", Special::lanemask_ge},
      {"%dynamic_smem_size", Special::dynamic_shared},
      {"%total_smem_size", Special::total_shared},
      {"%clock", Special::clock},
      {"%clock_hi", Special::zero},
      {"%clock64", Special::clock64},
      {"%globaltimer", Special::globaltimer},
      {"%globaltimer_lo", Special::globaltimer},
      {"%globaltimer_hi", Special::zero},
      {"%cluster_ctarank", Special::zero},
      {"%cluster_nctarank", Special::one},
      {"%cluster_ctaid.x", Special::zero},
      {"%cluster_ctaid.y", Special::zero},
      {"%cluster_ctaid.z", Special::zero},
      {"%cluster_nctaid.x", Special::one},
      {"%cluster_nctaid.y", Special::one},
      {"%cluster_nctaid.z", Special::one},
      {"%clusterid.x", Special::ctaid_x},
      {"%clusterid.y", Special::ctaid_y},
      {"%clusterid.z", Special::ctaid_z},
      {"%nclusterid.x", Special::nctaid_x},
      {"%nclusterid.y", Special::nctaid_y},
      {"%nclusterid.z", Special::nctaid_z},
      {"%reserved_smem_offset_0", Special::unknown},
  }};
  const auto* const found =
      std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.first == name; });
  if (found != table.end()) return found->second;
  // The driver's own environment registers are zero, as for a launch that is not cooperative.
  return name.substr(0, 7) == "%envreg" ? Special::zero : Special::unknown;
}

}  // namespace corridor::ptx
