// SPDX-License-Identifier: Apache-2.0
// A decoded module: every function's instructions in one array of Op, the layout of its frame, and tables of details.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "corridor/ptx/functional/form.h"
#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/functional/op.h"
#include "corridor/ptx/functional/wmma.h"
#include "corridor/ptx/isa/op_info.h"
#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

inline constexpr std::uint32_t most_frame_bytes = 64U << 20;  ///< a function with more cannot be launched

/// Values that a frame holds without any instruction writing them.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  dynamic_shared,
  total_shared,
  zero,
  one,
  clock,
  clock64,
  globaltimer,
  unknown
};
[[nodiscard]] Special special_from(std::string_view name);

struct FrameConstant {
  enum class Kind : std::uint8_t { value, variable, function, special };
  Kind kind = Kind::value;
  Width width = Width::row32;
  std::uint32_t slot = 0;
  std::uint64_t value = 0;             ///< also what is added to an address; the index of a function
  const Variable* variable = nullptr;  ///< in its own space
  Special special = Special::unknown;
};

/// A frame slot that may be read before it is written: cleared when the function starts.
struct ClearedSlot {
  std::uint32_t slot = 0, bytes = 0;
};

struct Code {
  const Function* function = nullptr;
  std::uint32_t first = 0, count = 0;  ///< ops; one more, which leaves the function, follows them
  std::uint32_t frame_bytes = first_free_slot;
  std::uint32_t local_bytes = 0;  ///< of one lane: .local and .param variables
  std::vector<FrameConstant> constants;
  std::vector<ClearedSlot> cleared;
  std::unordered_map<const Variable*, std::uint32_t> local_offsets;
  std::vector<std::uint32_t> callees;  ///< indices of functions
  bool calls_indirectly = false;
  bool ordered = false;  ///< its blocks must run in order: atomics, volatile or ordered accesses to global memory
};

/// One argument or result of a call: bytes in the local frame of a lane, or a row.
struct Passed {
  bool in_row = false;
  Width width = Width::row32;
  std::uint32_t caller = 0;  ///< slot, or offset in the local frame
  std::uint32_t callee = 0;
  bool callee_in_row = false;
  std::uint32_t bytes = 0;
};
struct Call {
  enum class Target : std::uint8_t { function, indirect, print, assertion };
  Target target = Target::function;
  std::uint32_t function = 0;  ///< index; of an indirect call the slot of the address
  std::vector<Passed> arguments, results;
};

/// What belongs to an Op and is not needed to run it fast.
struct OpStatic {
  const Instruction* instruction = nullptr;  ///< null: the end of a function
  std::uint32_t function = 0;
  OpInfo info;
  std::string why_not;  ///< of an instruction that is not executed
};

struct Program::State {
  std::uint64_t id = 0;  ///< its own in this process
  Module module;
  std::vector<Op> ops;
  std::vector<OpStatic> statics;     ///< one an op
  std::vector<Code> codes;           ///< one a function of the module
  std::vector<std::uint32_t> slots;  ///< lists of slots of vector operands
  std::vector<Call> calls;
  std::vector<WmmaMatrix> matrices;
  std::vector<std::vector<std::uint32_t>> jumps;  ///< targets of brx.idx, as ops
  std::unordered_map<std::string_view, std::uint32_t> function_of_name;
  /// Index of a function by name, through aliases; no_index when there is none.
  [[nodiscard]] std::uint32_t function_index(std::string_view name) const;
};

// Decoding by family (decode_*.cpp). Each fills `op` and returns true, or returns false when the instruction is not its
// own or is not executed.
class Decoder {
 public:
  Decoder(Program::State& state, std::uint32_t function);
  void decode();

 private:
  friend struct MemoryDecoder;
  void lay_out_registers();
  void lay_out_locals();
  void decode_one(std::uint32_t index, Op& op);
  void find_cleared();
  [[nodiscard]] bool arithmetic(const Instruction& instruction, Op& op);
  [[nodiscard]] bool bind(const Picked& picked, const Form& form, Op& op);
  [[nodiscard]] bool bind_compare(const Form& form, Op& op);
  [[nodiscard]] bool convert(const Instruction& instruction, Op& op);
  [[nodiscard]] bool move(const Instruction& instruction, Op& op);
  [[nodiscard]] bool memory(const Instruction& instruction, Op& op);
  [[nodiscard]] bool address_space(const Instruction& instruction, Op& op);
  [[nodiscard]] bool atomic(const Instruction& instruction, Op& op);
  [[nodiscard]] bool vector_atomic(const Instruction& instruction, AtomicKind kind, Op& op);
  [[nodiscard]] bool place_atomic(const Form& form, AtomicKind kind, Op& op);
  [[nodiscard]] bool control(std::uint32_t index, Op& op);
  [[nodiscard]] bool barrier(const Instruction& instruction, Op& op);
  [[nodiscard]] bool warp(const Instruction& instruction, Op& op);
  [[nodiscard]] bool call(const Instruction& instruction, Op& op);
  [[nodiscard]] bool indirect_call(const Operand& target, const Operand* results, const Operand* arguments, Op& op);
  [[nodiscard]] bool tensor(const Instruction& instruction, Op& op);
  [[nodiscard]] bool mma(const Instruction& instruction, Op& op);
  [[nodiscard]] bool texture(const Instruction& instruction, Op& op);
  [[nodiscard]] bool wmma(const Instruction& instruction, Op& op);
  [[nodiscard]] bool async(const Instruction& instruction, Op& op);
  [[nodiscard]] bool bulk(const Instruction& instruction, Op& op);
  [[nodiscard]] bool barrier_object(const Instruction& instruction, Op& op);

  // Slots of operands; false and `reason_` when they do not fit.
  [[nodiscard]] bool source(const Operand& operand, Width width, Type type, std::uint32_t& slot);
  [[nodiscard]] bool destination(const Operand& operand, Width width, std::uint32_t& slot);
  [[nodiscard]] bool address(const Operand& operand, Op& op);
  /// An address besides the op's own: four entries of the list of slots.
  [[nodiscard]] bool detail_address(const Operand& operand);
  [[nodiscard]] bool fragment(const Operand& operand, std::size_t count, Width width, bool is_write);
  [[nodiscard]] bool vector(const Operand& operand, bool is_write, Type type, Op& op);
  [[nodiscard]] Width register_width(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t register_bits(const Operand& operand, Type type) const;
  [[nodiscard]] const Variable* variable_of(const Operand& operand) const;
  [[nodiscard]] bool is_kernel_parameter(const Variable& variable) const;
  std::uint32_t constant(Width width, std::uint64_t value);
  std::uint32_t special(Special which, Width width);
  std::uint32_t variable_address(const Variable& variable, Width width = Width::row64, std::int64_t addend = 0);
  std::uint32_t take(std::uint32_t bytes);
  bool refuse(std::string reason);

  Program::State& state_;
  Code& code_;
  const Function& function_;
  std::vector<std::uint32_t> register_slot_;
  std::unordered_map<std::string_view, const Variable*> by_name_;
  std::unordered_map<std::string, std::uint32_t> constant_slot_;
  std::vector<std::uint32_t> reconvergence_;
  std::string reason_;
};

}  // namespace corridor::ptx
