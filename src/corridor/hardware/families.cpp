// SPDX-License-Identifier: Apache-2.0
// Names that several devices share, each with the device taken by default and those named in the note.
#include <algorithm>

#include "corridor/hardware/name_key.h"

namespace corridor::hardware {
namespace {

constexpr Family table[] = {
    {"3080", "rtx-3080", "rtx-3080-ti"},
    {"3090", "rtx-3090", "rtx-3090-ti"},
    {"4070", "rtx-4070", "rtx-4070-ti, rtx-4070-ti-super"},
    {"4070ti", "rtx-4070-ti", "rtx-4070-ti-super"},
    {"4080", "rtx-4080", "rtx-4080-super"},
    {"4090", "rtx-4090", "rtx-4090-laptop"},
    {"5070", "rtx-5070", "rtx-5070-ti"},
    {"5090", "rtx-5090", "rtx-5090-laptop"},
    {"6000pro", "rtx-pro-6000", "rtx-pro-6000-server, rtx-pro-6000-max-q"},
    {"6960p", "xeon-6960p", "xeon-6960p-ddr5"},
    {"6980p", "xeon-6980p", "xeon-6980p-ddr5"},
    {"a100", "a100-sxm-80", "a100-sxm-40, a100-pcie-80, a100-pcie-40"},
    {"a10040", "a100-sxm-40", "a100-pcie-40"},
    {"a10040gb", "a100-sxm-40", "a100-pcie-40"},
    {"a10080", "a100-sxm-80", "a100-sxm-40, a100-pcie-80, a100-pcie-40"},
    {"a10080gb", "a100-sxm-80", "a100-sxm-40, a100-pcie-80, a100-pcie-40"},
    {"a100pcie", "a100-pcie-80", "a100-pcie-40"},
    {"a100sxm", "a100-sxm-80", "a100-sxm-40"},
    {"a100sxm4", "a100-sxm-80", "a100-sxm-40"},
    {"a800", "a800-sxm-80", "a800-pcie-80"},
    {"applem1", "m1-8c", "m1-7c"},
    {"applem1max", "m1-max-32c", "m1-max-24c"},
    {"applem1pro", "m1-pro-16c", "m1-pro-14c"},
    {"applem1ultra", "m1-ultra-64c", "m1-ultra-48c"},
    {"applem2", "m2-10c", "m2-8c"},
    {"applem2max", "m2-max-38c", "m2-max-30c"},
    {"applem2pro", "m2-pro-19c", "m2-pro-16c"},
    {"applem2ultra", "m2-ultra-76c", "m2-ultra-60c"},
    {"applem3", "m3-10c", "m3-8c"},
    {"applem3max", "m3-max-40c", "m3-max-30c"},
    {"applem3pro", "m3-pro-18c", "m3-pro-14c"},
    {"applem3ultra", "m3-ultra-80c", "m3-ultra-60c"},
    {"applem4", "m4-10c", "m4-8c"},
    {"applem4max", "m4-max-40c", "m4-max-32c"},
    {"applem4pro", "m4-pro-20c", "m4-pro-16c"},
    {"applem5", "m5-10c", "m5-8c"},
    {"applem5max", "m5-max-40c", "m5-max-32c"},
    {"applem5pro", "m5-pro-20c", "m5-pro-16c"},
    {"gh200", "gh200", "gh200-144"},
    {"grace", "grace", "grace-480"},
    {"h100", "h100-sxm", "h100-pcie, h100-nvl"},
    {"h10080gb", "h100-sxm", "h100-pcie, h100-nvl"},
    {"h20", "h20", "h20-3e"},
    {"h200", "h200", "h200-nvl"},
    {"intelxeon6980p", "xeon-6980p", "xeon-6980p-ddr5"},
    {"m1", "m1-8c", "m1-7c"},
    {"m1max", "m1-max-32c", "m1-max-24c"},
    {"m1pro", "m1-pro-16c", "m1-pro-14c"},
    {"m1ultra", "m1-ultra-64c", "m1-ultra-48c"},
    {"m2", "m2-10c", "m2-8c"},
    {"m2max", "m2-max-38c", "m2-max-30c"},
    {"m2pro", "m2-pro-19c", "m2-pro-16c"},
    {"m2ultra", "m2-ultra-76c", "m2-ultra-60c"},
    {"m3", "m3-10c", "m3-8c"},
    {"m3max", "m3-max-40c", "m3-max-30c"},
    {"m3pro", "m3-pro-18c", "m3-pro-14c"},
    {"m3ultra", "m3-ultra-80c", "m3-ultra-60c"},
    {"m4", "m4-10c", "m4-8c"},
    {"m4max", "m4-max-40c", "m4-max-32c"},
    {"m4pro", "m4-pro-20c", "m4-pro-16c"},
    {"m5", "m5-10c", "m5-8c"},
    {"m5max", "m5-max-40c", "m5-max-32c"},
    {"m5pro", "m5-pro-20c", "m5-pro-16c"},
    {"mi250", "mi250", "mi250-gcd (what rocm-smi lists as one device), mi250x, mi250x-gcd"},
    {"mi250x", "mi250x", "mi250x-gcd (what rocm-smi lists as one device)"},
    {"mi300", "mi300x", "mi300a, mi325x"},
    {"orin", "jetson-agx-orin", "jetson-orin-nano, jetson-orin-nano-super"},
    {"orinnano", "jetson-orin-nano", "jetson-orin-nano-super"},
    {"pro6000", "rtx-pro-6000", "rtx-pro-6000-server, rtx-pro-6000-max-q"},
    {"rtx6000", "rtx-6000-ada", "rtx-a6000, rtx-pro-6000"},
    {"rtx6000pro", "rtx-pro-6000", "rtx-pro-6000-server, rtx-pro-6000-max-q"},
    {"rtxpro6000", "rtx-pro-6000", "rtx-pro-6000-server, rtx-pro-6000-max-q"},
    {"rtxpro6000blackwell", "rtx-pro-6000", "rtx-pro-6000-server, rtx-pro-6000-max-q"},
    {"v100", "v100-sxm-32", "v100-sxm-16, v100-pcie-32, v100-pcie-16"},
    {"v10016", "v100-sxm-16", "v100-pcie-16"},
    {"v10016gb", "v100-sxm-16", "v100-pcie-16"},
    {"v10032", "v100-sxm-32", "v100-sxm-16, v100-pcie-32, v100-pcie-16"},
    {"v10032gb", "v100-sxm-32", "v100-sxm-16, v100-pcie-32, v100-pcie-16"},
    {"v100pcie", "v100-pcie-32", "v100-pcie-16"},
    {"v100sxm", "v100-sxm-32", "v100-sxm-16"},
    {"v100sxm2", "v100-sxm-32", "v100-sxm-16"},
    {"xeon6960p", "xeon-6960p", "xeon-6960p-ddr5"},
    {"xeon6980p", "xeon-6980p", "xeon-6980p-ddr5"},
};

}  // namespace

std::span<const Family> families() {
  return table;
}

const Family* find_family(std::string_view key) {
  const auto* const found = std::lower_bound(std::begin(table), std::end(table), key,
                                             [](const Family& family, std::string_view k) { return family.key < k; });
  return found != std::end(table) && found->key == key ? found : nullptr;
}

}  // namespace corridor::hardware
