// SPDX-License-Identifier: Apache-2.0
// Why a row cannot be held against a prediction: few fixed sentences, because they are counted by their text.
#pragma once

#include <string_view>

namespace corridor::profile::reason {

inline constexpr std::string_view no_number = "the value is not a number";
inline constexpr std::string_view not_positive = "the value is zero or negative";
inline constexpr std::string_view out_of_range = "a length or a count is negative or too large";
inline constexpr std::string_view bad_shape = "a size of the operation is missing or out of range";
inline constexpr std::string_view unknown_metric = "the metric is not known";
inline constexpr std::string_view unknown_operation = "the operation is not known";
inline constexpr std::string_view no_unit = "the metric does not state its unit";
inline constexpr std::string_view percentile = "a percentile or an extreme, not a mean or a median";
inline constexpr std::string_view input_only = "an input of predictions, not a result";
inline constexpr std::string_view no_sequences = "the number of sequences is not stated";
inline constexpr std::string_view arrival_rate = "requests arrive at a rate: there is no one number of sequences";
inline constexpr std::string_view no_lengths = "the lengths are not stated";
inline constexpr std::string_view mixed_lengths = "the lengths are a mix whose means are not stated";
inline constexpr std::string_view queued_ttft = "the time to the first token includes waiting in a queue";
inline constexpr std::string_view mixed_devices = "the devices differ from each other";
inline constexpr std::string_view per_device_unclear = "it is not stated whether the rate is of one device or of all";
inline constexpr std::string_view copied = "not an independent measurement";
inline constexpr std::string_view derived_bandwidth = "a bandwidth derived from the decode rate of the same run";
inline constexpr std::string_view cache_bandwidth = "the bandwidth of a cache, not of memory";
inline constexpr std::string_view collective_rate = "the rate of a collective without its time or its devices";
inline constexpr std::string_view no_shape = "the shape of the product is not stated";
inline constexpr std::string_view no_tokens_per_step = "speculative decoding without its tokens a step";
inline constexpr std::string_view disaggregated = "prefill and decode run on different devices";
inline constexpr std::string_view across_nodes = "across nodes: the network between them is not stated";
inline constexpr std::string_view cached_prefix = "a prompt chunk with cached tokens before it";

}  // namespace corridor::profile::reason
