// SPDX-License-Identifier: Apache-2.0
// Reads GPUs as nvidia-smi prints them: the table, the list of -L, and the CSV of --query-gpu.
#include <algorithm>
#include <array>
#include <utility>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

constexpr std::size_t longest_name = 80;

/// Makers as they begin a name in the table; any other word there is no GPU.
bool is_gpu_name(std::string_view name) {
  constexpr std::array<std::string_view, 5> makers{"NVIDIA", "Tesla", "GeForce", "Quadro", "GRID"};
  return std::any_of(makers.begin(), makers.end(), [&](std::string_view maker) { return name.starts_with(maker); });
}

class NvidiaSmiReader final : public BlockReader {
 public:
  using BlockReader::BlockReader;

  bool feed(const Line& line) override {
    if (contains(line.text, "MiB")) return read_table_values(line) || read_csv(line);
    return read_list(line) || read_csv_head(line) || read_csv(line) || read_table_name(line);
  }

  void finish() override {
    if (pending_) recorder_.gpu(std::exchange(pending_, std::nullopt).value());
  }

 private:
  /// "|   0  NVIDIA H100 80GB HBM3          On  | 00000000:1B:00.0 Off |                    0 |"
  bool read_table_name(const Line& line) {
    const std::vector<std::string> cells =
        contains(line.text, "|") ? table_cells(line.text) : std::vector<std::string>{};
    if (cells.size() < 2) return false;
    const auto index = leading_number(cells[0]);
    if (!index || !index->rest.starts_with(" ") || index->value > 1000) return false;
    std::string_view name = trim(index->rest);
    // The persistence mode ends the cell.
    for (const std::string_view mode : {" On", " Off", " N/A", " Enabled", " Disabled"}) {
      if (name.ends_with(mode)) name.remove_suffix(mode.size());
    }
    name = trim(name);
    if (!is_gpu_name(name)) return false;
    finish();
    pending_ = GpuSeen{};
    pending_->line = line.number;
    pending_->index = static_cast<std::int64_t>(index->value);
    pending_->name = shortened(name, longest_name);
    return true;
  }

  /// "| N/A   45C    P0   350W /  700W |   75000MiB /  81559MiB |     98%      Default |"
  bool read_table_values(const Line& line) {
    const std::vector<std::string> cells = table_cells(line.text);
    const auto memory = std::find_if(cells.begin(), cells.end(), [](const std::string& cell) {
      const auto slash = cell.find('/');
      return slash != std::string::npos && bytes_of(cell) && bytes_of(std::string_view(cell).substr(slash + 1));
    });
    if (memory == cells.end()) return false;
    GpuSeen gpu = pending_.value_or(GpuSeen{});
    pending_.reset();
    if (gpu.line == 0) gpu.line = line.number;
    gpu.memory_used_bytes = bytes_of(*memory);
    gpu.memory_total_bytes = bytes_of(std::string_view(*memory).substr(memory->find('/') + 1));
    if (memory != cells.begin()) read_power(*(memory - 1), gpu);
    if (memory + 1 != cells.end()) gpu.utilization = percent(leading_number(*(memory + 1)));
    recorder_.gpu(std::move(gpu));
    return true;
  }

  static void read_power(std::string_view cell, GpuSeen& gpu) {
    const std::size_t slash = cell.rfind('/');
    if (slash == std::string_view::npos) return;
    const auto watts = [](std::string_view text) -> std::optional<double> {
      const auto number = leading_number(text);
      return number && trim(number->rest).starts_with("W") ? std::optional(number->value) : std::nullopt;
    };
    gpu.power_cap_w = watts(cell.substr(slash + 1));
    const std::string_view before = trim(cell.substr(0, slash));
    const std::size_t blank = before.find_last_of(" \t");
    gpu.power_w = watts(blank == std::string_view::npos ? before : before.substr(blank + 1));
  }

  /// "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)"
  bool read_list(const Line& line) {
    const auto index = number_after(line.text, "GPU ");
    const std::size_t uuid = line.text.find(" (UUID: GPU-");
    if (!index || uuid == std::string_view::npos || !index->rest.starts_with(": ") || index->value > 1000) return false;
    const std::size_t name_at = static_cast<std::size_t>(index->rest.data() - line.text.data()) + 2;
    if (name_at >= uuid) return false;
    GpuSeen gpu;
    gpu.line = line.number;
    gpu.index = static_cast<std::int64_t>(index->value);
    gpu.name = shortened(line.text.substr(name_at, uuid - name_at), longest_name);
    recorder_.gpu(std::move(gpu));
    return true;
  }

  static std::vector<std::string> csv_cells(std::string_view line) {
    constexpr std::size_t most_cells = 40;
    std::vector<std::string> cells;
    while (cells.size() < most_cells) {
      const std::size_t comma = line.find(',');
      cells.emplace_back(trim(line.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      line.remove_prefix(comma + 1);
    }
    return cells;
  }

  /// "index, name, memory.used [MiB], utilization.gpu [%]"
  bool read_csv_head(const Line& line) {
    const std::string_view text = trim(line.text);
    const bool names = text.starts_with("name,") || text.starts_with("index,") || contains(text, ", name,") ||
                       contains(text, "memory.total [MiB]");
    if (!names || !contains(text, ",")) return false;
    const auto cells = csv_cells(text);
    const bool known = std::any_of(cells.begin(), cells.end(), [](const std::string& cell) {
      return cell.starts_with("memory.") || cell.starts_with("utilization.gpu") || cell.starts_with("power.") ||
             cell.starts_with("clocks.");
    });
    if (known) head_ = cells;
    return known;
  }

  bool read_csv(const Line& line) {
    if (head_.empty()) {
      // A head with units is the only line with MiB that is none of the table.
      return contains(line.text, "[MiB]") && read_csv_head(line);
    }
    const auto cells = csv_cells(line.text);
    if (cells.size() != head_.size()) {
      head_.clear();
      return false;
    }
    GpuSeen gpu;
    gpu.line = line.number;
    for (std::size_t i = 0; i < cells.size(); ++i) read_csv_cell(gpu, head_[i], cells[i]);
    if (gpu.name.empty() && !gpu.memory_used_bytes && !gpu.utilization && !gpu.power_w) return false;
    recorder_.gpu(std::move(gpu));
    return true;
  }

  static void read_csv_cell(GpuSeen& gpu, std::string_view head, std::string_view cell) {
    // With "nounits" the unit stands in the head alone, or nowhere: nvidia-smi always counts MiB, W, % and MHz.
    const auto number = leading_number(cell);
    if (head.starts_with("name")) gpu.name = shortened(cell, longest_name);
    if (!number) return;
    constexpr double mib = 1048576.0;
    if (head == "index") gpu.index = static_cast<std::int64_t>(number->value);
    if (head.starts_with("memory.used")) gpu.memory_used_bytes = number->value * mib;
    if (head.starts_with("memory.total")) gpu.memory_total_bytes = number->value * mib;
    if (head.starts_with("utilization.gpu") && number->value <= 100) gpu.utilization = number->value / 100;
    if (head.starts_with("power.draw")) gpu.power_w = number->value;
    if (head.starts_with("power.limit")) gpu.power_cap_w = number->value;
    if (head.starts_with("clocks.sm") || head.starts_with("clocks.current.sm")) gpu.sm_clock_hz = number->value * 1e6;
  }

  std::optional<GpuSeen> pending_;
  std::vector<std::string> head_;
};

}  // namespace

std::unique_ptr<BlockReader> make_nvidia_smi_reader(Recorder& recorder) {
  return std::make_unique<NvidiaSmiReader>(recorder);
}

}  // namespace corridor::profile
