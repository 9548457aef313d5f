// SPDX-License-Identifier: Apache-2.0
// `corridor lab --on sim[:DEVICE]`: the laws of a GPU on the simulated one.
#include "corridor/cli/ptx_lab.h"

#include "corridor/app/ptx_lab.h"
#include "corridor/views/ptx_lab_view.h"

namespace corridor::cli {

bool is_simulated(const std::string& on) {
  return on == "sim" || on.starts_with("sim:");
}

Result<int> run_simulated_lab(const std::string& name, const std::string& on, Session& session) {
  const auto assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  if (name.empty()) return session.show(views::ptx_lab_list_document(app::ptx_experiments()));
  const std::string device = on == "sim" ? "" : on.substr(4);
  if (on == "sim:") return fail("names no device", "--on sim:", "give one, for example --on sim:h100-sxm");
  const auto answer = app::run_ptx_lab(**assets, name, device);
  if (!answer) return tl::unexpected(answer.error());
  return session.show(views::ptx_lab_document(*answer), answer->result.holds() ? exit_answered : exit_no);
}

}  // namespace corridor::cli
