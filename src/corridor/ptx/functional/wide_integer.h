// SPDX-License-Identifier: Apache-2.0
// The type that holds a whole product of two integers.
#pragma once

#include <cstdint>

namespace corridor::ptx {

template <class T>
struct WideOf;
template <>
struct WideOf<std::uint16_t> {
  using Type = std::uint32_t;
};
template <>
struct WideOf<std::int16_t> {
  using Type = std::int32_t;
};
template <>
struct WideOf<std::uint32_t> {
  using Type = std::uint64_t;
};
template <>
struct WideOf<std::int32_t> {
  using Type = std::int64_t;
};
template <>
struct WideOf<std::uint64_t> {
  __extension__ using Type = unsigned __int128;
};
template <>
struct WideOf<std::int64_t> {
  __extension__ using Type = __int128;
};
template <class T>
using Wide = typename WideOf<T>::Type;

}  // namespace corridor::ptx
