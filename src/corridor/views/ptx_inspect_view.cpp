// SPDX-License-Identifier: Apache-2.0
// Fills the Documents of `corridor ptx inspect` and of `corridor ptx` alone.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/views/fields.h"
#include "corridor/views/ptx_view.h"

namespace corridor::views {
namespace {

using report::Document;
using report::FieldGroup;
using report::Paragraph;
using report::Table;
using report::Unit;
using report::Value;

Value whole(std::uint64_t x) {
  return count(static_cast<double>(x));
}

Table kernels(const app::PtxInspection& inspection) {
  Table table{"kernels",
              "Kernels",
              {{"name", "kernel", Unit::none, true},
               {"instructions", "instructions", Unit::count},
               {"registers", "registers", Unit::count},
               {"static_shared_bytes", "shared", Unit::bytes},
               {"dynamic_shared", "", Unit::none},
               {"local_bytes", "local", Unit::bytes},
               {"parameter_bytes", "", Unit::bytes},
               {"parameters", "parameters", Unit::none, true},
               {"barriers", "", Unit::count},
               {"branches", "", Unit::count},
               {"tier1", "", Unit::count},
               {"tier2", "", Unit::count},
               {"tier3", "", Unit::count},
               {"refused", "refused", Unit::count}},
              {},
              30};
  for (const app::PtxInspectedKernel& k : inspection.kernels) {
    const ptx::Function* function = inspection.source.program->module().find(k.name);
    std::string parameters;
    for (const ptx::Variable& p : function->parameters) {
      parameters += parameters.empty() ? "" : ", ";
      parameters += p.dimensions.empty() ? std::string(name_of(p.type)) : fmt::format("{} bytes", p.bytes);
    }
    const ptx::StaticFacts& f = k.facts;
    table.rows.push_back({text(k.name),
                          whole(f.instructions),
                          whole(f.registers),
                          {static_cast<double>(f.static_shared_bytes), Unit::bytes},
                          flag(f.uses_dynamic_shared),
                          {static_cast<double>(f.local_bytes), Unit::bytes},
                          {static_cast<double>(f.parameter_bytes), Unit::bytes},
                          text(parameters),
                          whole(f.barriers),
                          whole(f.branches),
                          whole(f.by_tier[1]),
                          whole(f.by_tier[2]),
                          whole(f.by_tier[3]),
                          whole(f.refused.size())});
  }
  return table;
}

Table mix(const app::PtxInspection& inspection) {
  Table table{"mix",
              "Instructions, as they stand in the text",
              {{"kernel", "kernel", Unit::none, true},
               {"opcode", "opcode", Unit::none, true},
               {"count", "count", Unit::count},
               {"share", "share", Unit::percent}},
              {},
              inspection.kernels.size() > 1 ? 8U : 12U};
  for (const app::PtxInspectedKernel& k : inspection.kernels) {
    std::vector<std::pair<std::string, std::uint64_t>> sorted(k.facts.by_opcode.begin(), k.facts.by_opcode.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [opcode, number] : sorted) {
      table.rows.push_back({text(k.name), text(opcode), whole(number),
                            share(static_cast<double>(number) / static_cast<double>(k.facts.instructions))});
    }
  }
  return table;
}

Table refused(const app::PtxInspection& inspection) {
  Table table{"refused",
              "Instructions that are parsed and not executed",
              {{"kernel", "kernel", Unit::none, true},
               {"line", "line", Unit::count},
               {"instruction", "instruction", Unit::none, true},
               {"why", "why", Unit::none, true}},
              {},
              20};
  for (const app::PtxInspectedKernel& k : inspection.kernels) {
    for (const auto& each : k.facts.refused) {
      table.rows.push_back({text(k.name), whole(each.line), text(each.instruction), text(each.why)});
    }
  }
  return table;
}

Table residency(const app::PtxInspection& inspection) {
  Table table{"occupancy",
              "Occupancy in theory, without dynamic shared memory",
              {{"kernel", inspection.kernels.size() > 1 ? "kernel" : "", Unit::none, true},
               {"device", "device", Unit::none, true},
               {"threads", "threads", Unit::count},
               {"blocks", "blocks an SM", Unit::count},
               {"warps", "warps", Unit::count},
               {"share", "occupancy", Unit::percent},
               {"limit", "limited by", Unit::none, true}},
              {},
              24};
  for (const app::PtxInspectedKernel& k : inspection.kernels) {
    for (const auto& on : k.devices) {
      if (on.occupancy) {
        table.rows.push_back({text(k.name), text(on.device_id), whole(k.threads), whole(on.occupancy->blocks),
                              whole(on.occupancy->warps), share(on.occupancy->share),
                              text(std::string(name_of(on.occupancy->limit)))});
      } else {
        table.rows.push_back(
            {text(k.name), text(on.device_id), whole(k.threads), whole(0), whole(0), share(0), text(on.why_not)});
      }
    }
  }
  return table;
}

std::string inspect_verdict(const app::PtxInspection& inspection) {
  std::uint64_t instructions = 0, no = 0;
  for (const app::PtxInspectedKernel& k : inspection.kernels) {
    instructions += k.facts.instructions;
    no += k.facts.refused.size();
  }
  const std::size_t kernels_found = inspection.kernels.size();
  const std::string what =
      fmt::format("{} kernel{}, {} instructions; ", kernels_found, kernels_found == 1 ? "" : "s", instructions);
  if (no == 0) return what + "all of them can be executed.";
  return what + fmt::format("{} of them cannot be executed.", no);
}

}  // namespace

Document ptx_inspect_document(const app::PtxInspection& inspection) {
  const ptx::Module& module = inspection.source.program->module();
  Document document;
  document.schema = "corridor/ptx_inspect/1";
  document.title = fmt::format("{}: PTX {} for {}", inspection.source.file, module.version, module.target);
  document.blocks.emplace_back(Paragraph{"verdict", inspect_verdict(inspection), Paragraph::Style::verdict});
  document.blocks.emplace_back(FieldGroup{"",
                                          {{"file", "", text(inspection.source.file), inspection.source.compiled},
                                           {"version", "", text(module.version), ""},
                                           {"target", "", text(module.target), ""}}});
  document.blocks.emplace_back(kernels(inspection));
  if (Table table = refused(inspection); !table.rows.empty()) document.blocks.emplace_back(std::move(table));
  document.blocks.emplace_back(mix(inspection));
  document.blocks.emplace_back(residency(inspection));
  document.blocks.emplace_back(
      Paragraph{"notes", "Registers are estimated from the PTX: the machine code may need more or fewer.",
                Paragraph::Style::detail});
  return document;
}

Document ptx_list_document(const std::vector<app::PtxLaunchFile>& launches) {
  Document document;
  document.schema = "corridor/ptx_list/1";
  document.title = "The simulated GPU runs CUDA kernels (PTX) without a GPU. Try: corridor ptx run saxpy";
  Table table{"launches",
              "Launches that ship with the program: corridor ptx run NAME",
              {{"name", "name", Unit::none, true},
               {"about", "what it shows", Unit::none, true},
               {"file", "", Unit::none, true},
               {"kernel", "", Unit::none, true}},
              {}};
  for (const app::PtxLaunchFile& each : launches) {
    table.rows.push_back({text(each.name), text(each.about), text(each.request.file), text(each.request.kernel)});
  }
  document.blocks.emplace_back(std::move(table));
  document.blocks.emplace_back(
      Paragraph{"notes",
                "A kernel of your own:\n  nvcc -ptx -arch=sm_90 -O3 -lineinfo k.cu\n  corridor ptx run k.ptx --kernel "
                "saxpy --grid "
                "4096 --block 256 \\\n    --arg i32:1048576 --arg f32:2 \\\n    --arg buf:f32:1048576:ramp --arg "
                "buf:f32:1048576:const=1",
                Paragraph::Style::plain});
  return document;
}

}  // namespace corridor::views
