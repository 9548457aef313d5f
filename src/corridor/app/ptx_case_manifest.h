// SPDX-License-Identifier: Apache-2.0
// A launch written down as JSON: what `corridor ptx run MANIFEST.json` takes, and the launches that ship with the
// program.
//
//   {"file": "saxpy.ptx", "kernel": "saxpy", "grid": [4096], "block": [256],
//    "args": ["i32:1048576", "f32:2", "x=buf:f32:1048576:ramp", "y=buf:f32:1048576"],
//    "expect": {"y": "y.bin"}, "tolerance": 0}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "corridor/app/ptx_case.h"

namespace corridor::app {

struct PtxLaunchFile {
  std::string name, about;
  PtxRequest request;
};

/// Paths in it are relative to `folder`. Errors name `where` and the key.
[[nodiscard]] Result<PtxLaunchFile> parse_ptx_manifest(std::string_view text, const std::string& where,
                                                       const std::string& folder);

/// The launches of data/ptx/launches.json, in order.
[[nodiscard]] Result<std::vector<PtxLaunchFile>> shipped_launches(const Assets& assets);

/// What `request` leaves out is taken from `from`.
[[nodiscard]] PtxRequest with_defaults(PtxRequest request, const PtxRequest& from);

/// What is left out comes from the manifest that `request.file` names, or from the launch that ships under that name;
/// `about` gets its sentence. Named arguments replace those of the same name, others all of them.
[[nodiscard]] Result<PtxRequest> complete_ptx(const Assets& assets, PtxRequest request, std::string& about);

}  // namespace corridor::app
