// SPDX-License-Identifier: Apache-2.0
// Decodes asynchronous copies (cp.async, cp.async.bulk) and barrier objects in memory (mbarrier).
#include <algorithm>

#include <fmt/format.h>

#include "corridor/ptx/functional/async.h"
#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {
namespace {

/// Whether the instruction names shared memory; if not, its addresses are generic.
bool names_shared(const Form& form) {
  const auto& words = form.instruction->modifiers;
  return std::any_of(words.begin(), words.end(), [](std::string_view word) { return word.substr(0, 6) == "shared"; });
}

bool is_barrier_test(const Form& form) {
  return form.has("test_wait") || form.has("try_wait");
}

}  // namespace

bool Decoder::detail_address(const Operand& operand) {
  Op from;
  if (!address(operand, from)) return false;
  const auto offset = static_cast<std::uint64_t>(from.offset);
  for (const std::uint32_t v : {from.a, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset >> 32),
                                std::uint32_t{(from.flags & access::narrow_base) != 0}}) {
    state_.slots.push_back(v);
  }
  return true;
}

bool Decoder::async(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  if (form.is("mbarrier")) return barrier_object(instruction, op);
  if (!form.is("cp") || !form.has("async")) return false;
  if (form.has("mbarrier")) {
    op.run = &mbarrier_arrive_after_copies;
    op.extra = form.has("noinc") ? arrival::keeps_count : 0;
    if (!names_shared(form)) op.offset = -static_cast<std::int64_t>(shared_window);
    return operands.size() == 1 ? address(operands[0], op) : refuse("an address is expected");
  }
  if (form.has("bulk")) return bulk(instruction, op);
  if (form.has("commit_group")) {
    op.run = &commit_group;
    return true;
  }
  if (form.has("wait_all")) {
    op.run = &wait_groups;
    op.extra = no_place;
    return true;
  }
  if (form.has("wait_group")) {
    if (operands.size() != 1 || operands[0].kind != Operand::Kind::integer) return refuse("a number is expected");
    op.run = &wait_groups;
    op.extra = static_cast<std::uint32_t>(std::min<std::uint64_t>(operands[0].bits, 1U << 20));
    return true;
  }
  if (operands.size() < 3 || operands[2].kind != Operand::Kind::integer) return refuse("operands are missing");
  const std::uint64_t bytes = operands[2].bits;
  if (bytes != 4 && bytes != 8 && bytes != 16) return refuse("a copy has 4, 8 or 16 bytes");
  std::uint32_t size = 0;
  if (operands.size() > 3 && operands[3].kind != Operand::Kind::discard) {
    if (operands[3].kind == Operand::Kind::reg && register_width(operands[3].index) != Width::row32) {
      return refuse("a copy with this operand is not executed");
    }
    if (!source(operands[3], Width::row32, Type::u32, size)) return false;
  }
  op.run = &copy_later;
  op.bytes = static_cast<std::uint8_t>(bytes);
  if (form.has("cg")) op.flags |= access::skips_l1;
  op.extra = static_cast<std::uint32_t>(state_.slots.size());
  if (!address(operands[0], op) || !detail_address(operands[1])) return false;
  state_.slots.push_back(size);
  return true;
}

bool Decoder::bulk(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  if (form.has("tensor")) return refuse("tensor maps are made by the host, which is not simulated");
  if (form.has("commit_group") || form.has("wait_group") || form.has("prefetch")) {
    op.run = &nothing;  // what goes to global memory has happened already
    return true;
  }
  if (form.has("multicast::cluster") || form.has("cp_mask")) return refuse("this bulk copy is not executed");
  const auto& words = instruction.modifiers;
  const auto is_space = [](std::string_view word) { return word == "global" || word.substr(0, 8) == "shared::"; };
  const auto to = std::find_if(words.begin(), words.end(), is_space);
  const auto from = to == words.end() ? to : std::find_if(to + 1, words.end(), is_space);
  if (from == words.end()) return refuse("this bulk copy is not executed");
  const bool to_global = *to == "global", from_global = *from == "global";
  const bool has_barrier = form.has("mbarrier::complete_tx::bytes");
  if (has_barrier == to_global || (to_global && from_global) || operands.size() < (has_barrier ? 4U : 3U)) {
    return refuse("this bulk copy is not executed");
  }
  op.run = to_global ? &bulk_to_global : from_global ? &bulk_to_shared : &bulk_from_shared;
  op.extra = static_cast<std::uint32_t>(state_.slots.size());
  std::uint32_t size = 0;
  if (!address(operands[0], op) || !detail_address(operands[1]) || !detail_address(operands[has_barrier ? 3 : 0]) ||
      !source(operands[2], Width::row32, Type::u32, size)) {
    return false;
  }
  state_.slots.push_back(size);
  return true;
}

bool Decoder::barrier_object(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  if (form.has("pending_count")) {
    op.run = &mbarrier_pending;
    return operands.size() == 2 && destination(operands[0], Width::row32, op.d) &&
           source(operands[1], Width::row64, Type::b64, op.a);
  }
  if (operands.empty()) return refuse("operands are missing");
  const bool arrives = form.has("arrive") || form.has("arrive_drop");
  const bool has_result = operands[0].kind != Operand::Kind::address;
  const std::size_t first = has_result ? 1 : 0;
  if (operands.size() <= first || has_result != (arrives || is_barrier_test(form))) {
    return refuse("operands are missing");
  }
  if (!names_shared(form)) op.offset = -static_cast<std::int64_t>(shared_window);
  if (!address(operands[first], op)) return false;
  const Operand* const value = operands.size() > first + 1 ? &operands[first + 1] : nullptr;
  if (form.has("inval")) {
    op.run = &mbarrier_invalidate;
    return true;
  }
  if (arrives) {
    op.run = &mbarrier_arrive;
    op.extra = (form.has("arrive_drop") ? arrival::drops : 0) |
               (form.has("noComplete") ? arrival::completes_nothing : 0) |
               (form.has("expect_tx") ? arrival::expects : 0);
    op.b = op.c = constant(Width::row32, 1);
    if (!destination(operands[0], Width::row64, op.d)) return false;
    if (value == nullptr) return (op.extra & arrival::expects) == 0 || refuse("operands are missing");
    return source(*value, Width::row32, Type::u32, (op.extra & arrival::expects) != 0 ? op.c : op.b);
  }
  if (value == nullptr) return refuse("operands are missing");
  if (is_barrier_test(form)) {
    const bool by_parity = form.has("parity");
    op.run = &mbarrier_test;
    op.flags =
        static_cast<std::uint16_t>(op.flags | (by_parity ? wait_parity : 0) | (form.has("try_wait") ? wait_blocks : 0));
    return destination(operands[0], Width::pred, op.d) &&
           source(*value, by_parity ? Width::row32 : Width::row64, by_parity ? Type::u32 : Type::b64, op.b);
  }
  op.run = form.has("init")          ? &mbarrier_init
           : form.has("expect_tx")   ? &mbarrier_expect
           : form.has("complete_tx") ? &mbarrier_complete
                                     : nullptr;
  if (op.run == nullptr) return refuse("this form is not executed");
  return source(*value, Width::row32, Type::u32, op.b);
}

}  // namespace corridor::ptx
