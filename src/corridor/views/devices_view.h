// SPDX-License-Identifier: Apache-2.0
// What `corridor devices` shows: the list, one device with every number and its source, or the trend of product lines.
#pragma once

#include "corridor/app/devices.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// Schema "corridor/devices/1": `devices`, an array of {id, name, vendor, …, ridge_bf16_flop_per_byte, …}.
[[nodiscard]] report::Document device_list_document(const app::DeviceList& list);

/// Schema "corridor/device/1": the ladder, the ridge of each type, and `facts` with value, unit, basis, source, date
/// and note. `explain` adds the notes (formulas, clocks, contradictions) on the terminal too.
[[nodiscard]] report::Document device_document(const app::DeviceDetail& detail, bool explain);

/// Schema "corridor/device-trend/1": `points`, `steps` and `ridge_fell`.
[[nodiscard]] report::Document device_trend_document(const app::DeviceTrend& trend);

}  // namespace corridor::views
