// SPDX-License-Identifier: Apache-2.0
// Reads a device file: which tables and keys there are, and where each number goes in Device.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "corridor/base/nearest.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/hardware/device_head.h"
#include "corridor/hardware/fact_reader.h"
#include "corridor/hardware/toml_guard.h"

namespace corridor::hardware {
namespace {

constexpr std::size_t largest_file = 1U << 20U;
constexpr std::size_t most_aliases = 64;
constexpr std::size_t most_levels = 8;
using Done = Result<std::size_t>;

/// What every reader of one file needs.
struct Context {
  const std::string& file;
  SourceTable sources;
};

template <class T>
MaybeFact<T> typed(Fact<double>&& fact) {
  return Fact<T>{T{fact.value}, fact.basis, std::move(fact.source), std::move(fact.date), std::move(fact.note)};
}

/// One key of a table: what it may hold and where it goes.
template <class Target>
struct Key {
  std::string_view name;
  NumberRule rule;
  void (*store)(Target&, Fact<double>&&);
};

constexpr NumberRule count_rule(std::string_view unit, double largest) {
  return {unit, 1, largest, true};
}

using D = Device;
using F = Fact<double>;

constexpr Key<D> general_keys[] = {
    {"year", year_rule, [](D& d, F&& f) { d.year = std::move(f); }},
    {"board_power_w", watts_rule, [](D& d, F&& f) { d.board_power_w = std::move(f); }},
    {"clock_base_hz", hertz_rule, [](D& d, F&& f) { d.clock_base = typed<units::Hertz>(std::move(f)); }},
    {"clock_boost_hz", hertz_rule, [](D& d, F&& f) { d.clock_boost = typed<units::Hertz>(std::move(f)); }},
};

constexpr Key<D> reachable_keys[] = {
    {"bandwidth_bytes_per_s", bandwidth_rule,
     [](D& d, F&& f) { d.reachable_bandwidth = typed<units::BytesPerSecond>(std::move(f)); }},
    {"bf16_flop_per_s", flops_rule, [](D& d, F&& f) { d.reachable_bf16 = typed<units::FlopsPerSecond>(std::move(f)); }},
};

constexpr Key<D> launch_keys[] = {
    {"floor_s", seconds_rule, [](D& d, F&& f) { d.launch_floor = typed<units::Seconds>(std::move(f)); }},
};

constexpr Key<MemoryLevel> level_keys[] = {
    {"capacity_bytes", bytes_rule, [](MemoryLevel& l, F&& f) { l.capacity = typed<units::Bytes>(std::move(f)); }},
    {"bandwidth_bytes_per_s", bandwidth_rule,
     [](MemoryLevel& l, F&& f) { l.bandwidth = typed<units::BytesPerSecond>(std::move(f)); }},
    {"latency_s", seconds_rule, [](MemoryLevel& l, F&& f) { l.latency = typed<units::Seconds>(std::move(f)); }},
};

constexpr Key<SmLimits> sm_keys[] = {
    {"count", count_rule("count", 1e5), [](SmLimits& s, F&& f) { s.count = std::move(f); }},
    {"lanes_fp32_per_clock", count_rule("lanes/clk", 1e5),
     [](SmLimits& s, F&& f) { s.lanes_fp32_per_clock = std::move(f); }},
    {"schedulers", count_rule("schedulers", 64), [](SmLimits& s, F&& f) { s.schedulers = std::move(f); }},
    {"warp_size", count_rule("threads", 1024), [](SmLimits& s, F&& f) { s.warp_size = std::move(f); }},
    {"max_threads", count_rule("threads", 65536), [](SmLimits& s, F&& f) { s.max_threads = std::move(f); }},
    {"max_warps", count_rule("warps", 1024), [](SmLimits& s, F&& f) { s.max_warps = std::move(f); }},
    {"max_blocks", count_rule("blocks", 1024), [](SmLimits& s, F&& f) { s.max_blocks = std::move(f); }},
    {"max_threads_per_block", count_rule("threads", 65536),
     [](SmLimits& s, F&& f) { s.max_threads_per_block = std::move(f); }},
    {"registers_bytes", bytes_rule, [](SmLimits& s, F&& f) { s.registers = typed<units::Bytes>(std::move(f)); }},
    {"shared_per_block_bytes", bytes_rule,
     [](SmLimits& s, F&& f) { s.shared_per_block = typed<units::Bytes>(std::move(f)); }},
    {"shared_per_sm_bytes", bytes_rule,
     [](SmLimits& s, F&& f) { s.shared_per_sm = typed<units::Bytes>(std::move(f)); }},
    {"l1_shared_bytes", bytes_rule, [](SmLimits& s, F&& f) { s.l1_shared = typed<units::Bytes>(std::move(f)); }},
};

constexpr Key<Link> link_keys[] = {
    {"bandwidth_per_direction_bytes_per_s", bandwidth_rule,
     [](Link& l, F&& f) { l.bandwidth_per_direction = typed<units::BytesPerSecond>(std::move(f)); }},
    {"devices_in_node", count_rule("devices", 1e5), [](Link& l, F&& f) { l.devices_in_node = std::move(f); }},
};

template <class Target>
std::string key_list(std::span<const Key<Target>> keys) {
  std::string out;
  for (const Key<Target>& key : keys) out += (out.empty() ? "" : ", ") + std::string(key.name);
  return out;
}

/// Reads every number of `table` into `target`; keys named in `texts` are read elsewhere.
template <class Target>
Done read_numbers(const toml::table& table, std::string_view path, std::span<const Key<Target>> keys,
                  std::initializer_list<std::string_view> texts, const Context& context, Target& target) {
  for (const auto& [key, node] : table) {
    const std::string_view k = key.str();
    if (std::find(texts.begin(), texts.end(), k) != texts.end()) continue;
    const auto found =
        std::find_if(keys.begin(), keys.end(), [k](const Key<Target>& entry) { return entry.name == k; });
    if (found == keys.end()) {
      return fail(fmt::format("unknown key \"{}.{}\"", path, k), at(context.file, node),
                  "known keys: " + key_list(keys));
    }
    auto fact = read_fact(node, fmt::format("{}.{}", path, k), found->rule, context.sources, context.file);
    if (!fact) return tl::unexpected(fact.error());
    found->store(target, std::move(*fact));
  }
  return table.size();
}

/// An optional text of a table; absent leaves `out` as it is.
Done read_optional_text(const toml::table& table, std::string_view key, std::string_view path, const std::string& file,
                        std::string& out, bool may_be_empty = true) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return 0U;
  Result<std::string> text = read_text(*node, path, file, may_be_empty);
  if (!text) return tl::unexpected(text.error());
  out = std::move(*text);
  return 1U;
}

Done read_required_text(const toml::table& table, std::string_view key, const std::string& file, std::string& out) {
  if (table.get(key) == nullptr) {
    return fail(fmt::format("{} is missing", key), file + ":1", fmt::format("add {} = \"…\" at the top", key));
  }
  return read_optional_text(table, key, key, file, out, false);
}

Done read_peaks(const toml::table& table, const Context& context, Device& device) {
  for (const auto& [key, node] : table) {
    std::string_view k = key.str();
    const bool integer = k.starts_with("int");
    const std::string_view suffix = integer ? "_op_per_s" : "_flop_per_s";
    std::optional<ComputeType> type;
    if (k.ends_with(suffix)) {
      const std::string_view stem = k.substr(0, k.size() - suffix.size());
      type = compute_type_from(stem);
      if (type && name(*type) != stem) type.reset();
    }
    if (!type) {
      return fail(fmt::format("unknown key \"peaks.{}\"", k), at(context.file, node),
                  "use fp64, fp32, tf32, fp16, bf16, fp8, fp6, fp4 with _flop_per_s, int8 or int4 with _op_per_s");
    }
    auto fact =
        read_fact(node, fmt::format("peaks.{}", k), integer ? ops_rule : flops_rule, context.sources, context.file);
    if (!fact) return tl::unexpected(fact.error());
    device.peaks[static_cast<std::size_t>(*type)] = typed<units::FlopsPerSecond>(std::move(*fact));
  }
  return table.size();
}

Done read_level(const toml::table& table, std::string_view path, const Context& context, MemoryLevel& level) {
  if (auto done = read_optional_text(table, "reach", fmt::format("{}.reach", path), context.file, level.reach); !done) {
    return done;
  }
  return read_numbers<MemoryLevel>(table, path, level_keys, {"name", "reach"}, context, level);
}

Done read_ladder(const toml::node& node, const Context& context, Device& device) {
  const toml::array* levels = node.as_array();
  if (levels == nullptr || levels->size() > most_levels) {
    return fail("ladder is not a list of at most 8 levels", at(context.file, node),
                "write [[ladder]] before each level");
  }
  for (const toml::node& entry : *levels) {
    const toml::table* table = entry.as_table();
    if (table == nullptr) return fail("a ladder level is not a table", at(context.file, entry), "write [[ladder]]");
    MemoryLevel level;
    if (auto done = read_optional_text(*table, "name", "ladder.name", context.file, level.name, false); !done)
      return done;
    if (level.name.empty()) return fail("a ladder level has no name", at(context.file, entry), "add name = \"L2\"");
    if (auto done = read_level(*table, "ladder." + level.name, context, level); !done) return done;
    device.ladder.push_back(std::move(level));
  }
  return levels->size();
}

/// [memory] is the last rung and the device's own capacity and bandwidth.
Done read_memory(const toml::table& table, const Context& context, Device& device) {
  MemoryLevel memory;
  memory.name = device.memory_type;
  memory.reach = "device";
  if (table.get("name") != nullptr) {
    return fail("unknown key \"memory.name\"", at(context.file, *table.get("name")),
                "its name is memory_type at the top");
  }
  if (auto done = read_level(table, "memory", context, memory); !done) return done;
  if (!memory.bandwidth) {
    return fail("memory.bandwidth_bytes_per_s is missing", at(context.file, table),
                "a device needs its memory bandwidth");
  }
  device.memory_capacity = memory.capacity;
  device.memory_bandwidth = memory.bandwidth;
  device.ladder.push_back(std::move(memory));
  return table.size();
}

Done read_link(const toml::table& table, std::string_view path, const Context& context, Link& link) {
  if (auto done = read_optional_text(table, "kind", fmt::format("{}.kind", path), context.file, link.kind, false);
      !done) {
    return done;
  }
  if (link.kind.empty()) {
    return fail(fmt::format("{}.kind is missing", path), at(context.file, table), "add kind = \"NVLink4\"");
  }
  return read_numbers<Link>(table, path, link_keys, {"kind"}, context, link);
}

bool is_id(std::string_view text) {
  return text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
         });
}

Done read_aliases(const toml::table& root, const std::string& file, std::vector<std::string>& aliases) {
  const toml::node* node = root.get("aliases");
  if (node == nullptr) return 0U;
  const toml::array* list = node->as_array();
  if (list == nullptr || list->size() > most_aliases) {
    return fail("aliases is not a list of at most 64 texts", at(file, *node), "write aliases = [\"H100 SXM\"]");
  }
  for (const toml::node& entry : *list) {
    Result<std::string> text = read_text(entry, "aliases", file);
    if (!text) return tl::unexpected(text.error());
    aliases.push_back(std::move(*text));
  }
  return aliases.size();
}

Done read_kind(const toml::table& root, const std::string& file, DeviceKind& kind) {
  std::string text;
  if (auto done = read_required_text(root, "kind", file, text); !done) return done;
  for (const DeviceKind candidate : {DeviceKind::gpu, DeviceKind::cpu, DeviceKind::accelerator}) {
    if (name(candidate) == text) {
      kind = candidate;
      return 1U;
    }
  }
  return fail(fmt::format("unknown kind \"{}\"", text), at(file, *root.get("kind")),
              "write kind = \"gpu\", \"cpu\" or \"accelerator\"");
}

Done read_flags(const toml::table& root, const std::string& file, Device& device) {
  if (const toml::node* node = root.get("unified_memory")) {
    if (!node->is_boolean()) return fail("unified_memory is not true or false", at(file, *node));
    device.unified_memory = node->value<bool>().value_or(false);
  }
  device.default_engine = device.kind == DeviceKind::cpu ? "llama.cpp" : "vllm";
  Done done = read_optional_text(root, "default_engine", "default_engine", file, device.default_engine, false);
  if (!done) return done;
  static constexpr std::array<std::string_view, 5> engines = {"vllm", "sglang", "tensorrt-llm", "llama.cpp", "ideal"};
  if (std::find(engines.begin(), engines.end(), device.default_engine) != engines.end()) return done;
  return fail(fmt::format("unknown default_engine \"{}\"", shown_word(device.default_engine, 40)),
              at(file, *root.get("default_engine")), "write vllm, sglang, tensorrt-llm, llama.cpp or ideal");
}

Done read_head(const toml::table& root, const std::string& file, Device& device) {
  struct Text {
    std::string_view key;
    std::string* out;
    bool required;
  };
  const std::array<Text, 8> texts = {{{"id", &device.id, true},
                                      {"name", &device.name, true},
                                      {"vendor", &device.vendor, true},
                                      {"memory_type", &device.memory_type, true},
                                      {"family", &device.family, false},
                                      {"architecture", &device.architecture, false},
                                      {"form_factor", &device.form_factor, false},
                                      {"warning", &device.warning, false}}};
  for (const Text& text : texts) {
    const Done done = text.required ? read_required_text(root, text.key, file, *text.out)
                                    : read_optional_text(root, text.key, text.key, file, *text.out);
    if (!done) return done;
  }
  if (!is_id(device.id)) {
    return fail(fmt::format("id \"{}\" is not usable", device.id), at(file, *root.get("id")),
                "use lower-case letters, digits, '-', '+', '.'");
  }
  if (auto done = read_kind(root, file, device.kind); !done) return done;
  if (auto done = read_flags(root, file, device); !done) return done;
  return read_aliases(root, file, device.aliases);
}

Done check_top_keys(const toml::table& root, const std::string& file) {
  static constexpr std::string_view texts[] = {"id",      "name",         "aliases",        "vendor",
                                               "family",  "architecture", "form_factor",    "kind",
                                               "warning", "memory_type",  "default_engine", "unified_memory"};
  static constexpr std::string_view tables[] = {"sources", "general", "memory", "reachable", "launch",
                                                "peaks",   "sm",      "link",   "pcie"};
  for (const auto& [key, node] : root) {
    const std::string_view k = key.str();
    if (std::find(std::begin(texts), std::end(texts), k) != std::end(texts) || k == "ladder") continue;
    if (std::find(std::begin(tables), std::end(tables), k) == std::end(tables)) {
      return fail(fmt::format("unknown key \"{}\"", k), at(file, node),
                  "tables are sources, general, memory, reachable, launch, peaks, sm, ladder, link, pcie");
    }
    if (!node.is_table())
      return fail(fmt::format("{} is not a table", k), at(file, node), fmt::format("write [{}]", k));
  }
  return root.size();
}

/// The tables after the head, in the order that the ladder needs.
Done read_tables(const toml::table& root, const Context& context, Device& device) {
  const auto table = [&](std::string_view key) { return root.get_as<toml::table>(key); };
  Done done = 0U;
  if (const auto* t = table("general")) done = read_numbers<Device>(*t, "general", general_keys, {}, context, device);
  if (!done) return done;
  if (const auto* t = table("launch")) done = read_numbers<Device>(*t, "launch", launch_keys, {}, context, device);
  if (!done) return done;
  if (const auto* t = table("reachable"))
    done = read_numbers<Device>(*t, "reachable", reachable_keys, {}, context, device);
  if (!done) return done;
  if (const auto* t = table("peaks")) done = read_peaks(*t, context, device);
  if (!done) return done;
  if (const auto* t = table("sm")) done = read_numbers<SmLimits>(*t, "sm", sm_keys, {}, context, device.sm);
  if (!done) return done;
  if (const toml::node* node = root.get("ladder")) done = read_ladder(*node, context, device);
  if (!done) return done;
  if (const auto* t = table("link")) done = read_link(*t, "link", context, device.link);
  if (!done) return done;
  if (const auto* t = table("pcie")) done = read_link(*t, "pcie", context, device.pcie);
  if (!done) return done;
  const auto* memory = table("memory");
  if (memory == nullptr) return fail("[memory] is missing", context.file, "add [memory] with bandwidth_bytes_per_s");
  return read_memory(*memory, context, device);
}

/// toml++ reports by exception; here it ends, so that callers see only values.
Result<toml::table> parse_text(std::string_view text, const std::string& file) {
  if (text.size() > largest_file) {
    return fail(fmt::format("{} bytes is too large for a device file", text.size()), file, "the limit is 1 MiB");
  }
  if (const std::optional<TextFault> fault = toml_fault(text)) {
    return fail(fault->what, fmt::format("{}:{}", file, fault->line), fault->fix);
  }
  try {
    return toml::parse(text, std::string_view(file));
  } catch (const toml::parse_error& error) {
    return fail(std::string(error.description()), fmt::format("{}:{}", file, error.source().begin.line),
                "correct the TOML text at this line");
  }
}

}  // namespace

Result<Device> parse_device(std::string_view toml_text, const std::string& file) {
  const Result<toml::table> root = parse_text(toml_text, file);
  if (!root) return tl::unexpected(root.error());
  Device device;
  if (auto done = check_top_keys(*root, file); !done) return tl::unexpected(done.error());
  if (auto done = read_head(*root, file, device); !done) return tl::unexpected(done.error());
  Context context{file, {}};
  if (const toml::table* table = root->get_as<toml::table>("sources")) {
    Result<SourceTable> sources = read_sources(*table, file);
    if (!sources) return tl::unexpected(sources.error());
    context.sources = std::move(*sources);
  }
  if (auto done = read_tables(*root, context, device); !done) return tl::unexpected(done.error());
  return device;
}

Result<DeviceHead> parse_device_head(std::string_view toml_text, const std::string& file) {
  const Result<toml::table> root = parse_text(head_of(toml_text), file);
  if (!root) return tl::unexpected(root.error());
  DeviceHead head;
  if (auto done = read_required_text(*root, "id", file, head.id); !done) return tl::unexpected(done.error());
  if (auto done = read_required_text(*root, "name", file, head.name); !done) return tl::unexpected(done.error());
  if (auto done = read_aliases(*root, file, head.aliases); !done) return tl::unexpected(done.error());
  return head;
}

}  // namespace corridor::hardware
