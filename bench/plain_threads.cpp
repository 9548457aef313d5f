// SPDX-License-Identifier: Apache-2.0
// Decodes a kernel once; every operand, constants too, is a place in a thread's own array of values.
#include "plain_threads.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <string>

namespace corridor::bench {
namespace {

using ptx::Operand;

enum class Code : std::uint8_t {
  move,
  add32,
  add64,
  sub32,
  low32,
  low64,
  wide_signed,
  wide_unsigned,
  low_add32,
  and32,
  xor32,
  left32,
  left64,
  right32,
  extend,
  to_float,
  fma,
  less,
  less_unsigned,
  not_less,
  greater,
  equal,
  not_equal,
  branch,
  load,
  store,
  load_shared,
  store_shared,
  barrier,
  leave
};

const std::map<std::string, Code, std::less<>> codes = {{"mov.u32", Code::move},
                                                        {"mov.b32", Code::move},
                                                        {"mov.f32", Code::move},
                                                        {"cvta.to.global.u64", Code::move},
                                                        {"cvt.u64.u32", Code::move},
                                                        {"ld.param.u32", Code::move},
                                                        {"ld.param.u64", Code::move},
                                                        {"ld.param.f32", Code::move},
                                                        {"add.s32", Code::add32},
                                                        {"add.s64", Code::add64},
                                                        {"sub.s32", Code::sub32},
                                                        {"mul.lo.s32", Code::low32},
                                                        {"mul.lo.s64", Code::low64},
                                                        {"mul.wide.s32", Code::wide_signed},
                                                        {"mul.wide.u32", Code::wide_unsigned},
                                                        {"mad.lo.s32", Code::low_add32},
                                                        {"and.b32", Code::and32},
                                                        {"xor.b32", Code::xor32},
                                                        {"shl.b32", Code::left32},
                                                        {"shl.b64", Code::left64},
                                                        {"shr.u32", Code::right32},
                                                        {"cvt.s64.s32", Code::extend},
                                                        {"cvt.rn.f32.u32", Code::to_float},
                                                        {"fma.rn.f32", Code::fma},
                                                        {"setp.lt.s32", Code::less},
                                                        {"setp.lt.u32", Code::less_unsigned},
                                                        {"setp.ge.s32", Code::not_less},
                                                        {"setp.gt.s32", Code::greater},
                                                        {"setp.eq.s32", Code::equal},
                                                        {"setp.ne.s32", Code::not_equal},
                                                        {"bra", Code::branch},
                                                        {"bra.uni", Code::branch},
                                                        {"ld.global.f32", Code::load},
                                                        {"ld.global.nc.f32", Code::load},
                                                        {"ld.global.nc.u32", Code::load},
                                                        {"st.global.f32", Code::store},
                                                        {"st.global.u32", Code::store},
                                                        {"ld.shared.f32", Code::load_shared},
                                                        {"st.shared.f32", Code::store_shared},
                                                        {"bar.sync", Code::barrier},
                                                        {"ret", Code::leave}};

struct PlainOp {
  Code code = Code::leave;
  bool negated = false;
  std::uint32_t guard = 0;  // a place that holds 1 when there is none
  std::uint32_t d = 0, a = 0, b = 0, c = 0;
  std::int64_t offset = 0;  // of an address; the target of a branch
};

constexpr std::uint32_t specials = 6;  // tid, ctaid, ntid, of x and y

struct Kernel {
  std::vector<PlainOp> ops;
  std::vector<std::uint64_t> start;  // values of a thread before its first instruction
  std::uint32_t first_special = 0, shared_bytes = 0;
};

class PlainDecoder {
 public:
  PlainDecoder(const ptx::Function& f, const std::vector<std::uint64_t>& arguments) : f_(f), arguments_(arguments) {
    out_.first_special = static_cast<std::uint32_t>(f.registers.size());
    out_.start.resize(f.registers.size() + specials);
    always_ = constant(1);
    for (const ptx::Variable& v : f.variables) {
      offsets_.push_back(out_.shared_bytes);
      out_.shared_bytes += static_cast<std::uint32_t>((v.bytes + 15) / 16 * 16);
    }
  }

  Result<Kernel> decode() {
    for (const ptx::Instruction& i : f_.body) {
      std::string name(i.opcode);
      for (const std::string_view word : i.modifiers) name.append(".").append(word);
      const auto code = codes.find(name);
      if (code == codes.end()) return fail(name + " is not known to the plain interpreter", f_.name, "add it");
      PlainOp op;
      op.code = code->second;
      op.guard = i.guard == ptx::no_index ? always_ : i.guard;
      op.negated = i.guard_negated;
      const bool is_store = op.code == Code::store || op.code == Code::store_shared;
      std::uint32_t* const places[] = {is_store ? &op.a : &op.d, is_store ? &op.b : &op.a, &op.b, &op.c};
      for (std::size_t k = 0; k < i.operands.size() && k < std::size(places); ++k) {
        if (op.code == Code::branch) {
          op.offset = f_.labels[i.operands[k].index].target;
        } else {
          *places[k] = place(i.operands[k], op);
        }
      }
      out_.ops.push_back(op);
    }
    return std::move(out_);
  }

 private:
  std::uint32_t constant(std::uint64_t value) {
    out_.start.push_back(value);
    return static_cast<std::uint32_t>(out_.start.size() - 1);
  }
  std::uint32_t place(const Operand& o, PlainOp& op) {
    if (o.kind == Operand::Kind::reg) return o.index;
    if (o.kind == Operand::Kind::special) {
      const std::uint32_t axis = o.name.back() == 'y' ? 1 : 0;
      return out_.first_special + axis + (o.name.substr(0, 4) == "%tid" ? 0 : o.name.substr(0, 4) == "%cta" ? 2 : 4);
    }
    op.offset += o.offset;
    if (o.kind == Operand::Kind::address && o.base == Operand::Base::reg) return o.index;
    for (std::size_t p = 0; p < f_.parameters.size(); ++p) {
      if (f_.parameters[p].name == o.name) return constant(arguments_[p]);
    }
    return constant(o.index < offsets_.size() ? offsets_[o.index] : o.bits);
  }

  const ptx::Function& f_;
  const std::vector<std::uint64_t>& arguments_;
  Kernel out_;
  std::vector<std::uint32_t> offsets_;
  std::uint32_t always_ = 0;
};

float real(std::uint64_t v) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(v));
}
std::uint64_t bits(float v) {
  return std::bit_cast<std::uint32_t>(v);
}
std::uint32_t word(std::uint64_t v) {
  return static_cast<std::uint32_t>(v);
}
std::int32_t number(std::uint64_t v) {
  return static_cast<std::int32_t>(v);
}

/// Runs a thread from `at` to its end or behind a barrier, and returns where it is: the number of ops is the end.
std::size_t run_thread(const Kernel& k, std::uint64_t* r, std::uint8_t* shared, std::size_t at, std::uint64_t& count) {
  const std::size_t end = k.ops.size();
  while (at < end) {
    const PlainOp& op = k.ops[at++];
    ++count;
    if ((r[op.guard] != 0) == op.negated) continue;
    const std::uint64_t a = r[op.a], b = r[op.b];
    std::uint64_t& d = r[op.d];
    std::uint32_t value = 0;
    switch (op.code) {
      case Code::move:
        d = a + static_cast<std::uint64_t>(op.offset);
        break;
      case Code::add32:
        d = word(a + b);
        break;
      case Code::add64:
        d = a + b;
        break;
      case Code::sub32:
        d = word(a - b);
        break;
      case Code::low32:
        d = word(a * b);
        break;
      case Code::low64:
        d = a * b;
        break;
      case Code::wide_signed:
        d = static_cast<std::uint64_t>(std::int64_t{number(a)} * number(b));
        break;
      case Code::wide_unsigned:
        d = std::uint64_t{word(a)} * word(b);
        break;
      case Code::low_add32:
        d = word(a * b + r[op.c]);
        break;
      case Code::and32:
        d = a & word(b);
        break;
      case Code::xor32:
        d = a ^ word(b);
        break;
      case Code::left32:
        d = word(b) > 31 ? 0 : word(a << b);
        break;
      case Code::left64:
        d = word(b) > 63 ? 0 : a << b;
        break;
      case Code::right32:
        d = word(b) > 31 ? 0 : word(a) >> b;
        break;
      case Code::extend:
        d = static_cast<std::uint64_t>(std::int64_t{number(a)});
        break;
      case Code::to_float:
        d = bits(static_cast<float>(word(a)));
        break;
      case Code::fma:
        d = bits(std::fma(real(a), real(b), real(r[op.c])));
        break;
      case Code::less:
        d = number(a) < number(b);
        break;
      case Code::less_unsigned:
        d = word(a) < word(b);
        break;
      case Code::not_less:
        d = number(a) >= number(b);
        break;
      case Code::greater:
        d = number(a) > number(b);
        break;
      case Code::equal:
        d = word(a) == word(b);
        break;
      case Code::not_equal:
        d = word(a) != word(b);
        break;
      case Code::branch:
        at = static_cast<std::size_t>(op.offset);
        break;
      case Code::load:
        std::memcpy(&value, reinterpret_cast<const void*>(a + static_cast<std::uint64_t>(op.offset)), sizeof value);
        d = value;
        break;
      case Code::store:
        value = word(b);
        std::memcpy(reinterpret_cast<void*>(a + static_cast<std::uint64_t>(op.offset)), &value, sizeof value);
        break;
      case Code::load_shared:
        std::memcpy(&value, shared + word(a) + op.offset, sizeof value);
        d = value;
        break;
      case Code::store_shared:
        value = word(b);
        std::memcpy(shared + word(a) + op.offset, &value, sizeof value);
        break;
      case Code::barrier:
        return at;
      case Code::leave:
        return end;
    }
  }
  return end;
}

}  // namespace

Result<std::uint64_t> run_plain_threads(const ptx::Function& kernel, ptx::Dim3 grid, ptx::Dim3 block,
                                        const std::vector<std::uint64_t>& arguments) {
  auto decoded = PlainDecoder(kernel, arguments).decode();
  if (!decoded) return tl::unexpected(decoded.error());
  const Kernel& k = *decoded;
  const std::size_t threads = block.count(), size = k.start.size();
  std::vector<std::uint64_t> values(threads * size);
  std::vector<std::uint8_t> shared(k.shared_bytes);
  std::vector<std::size_t> at(threads);
  std::uint64_t count = 0;
  for (std::uint64_t index = 0; index < grid.count(); ++index) {
    for (std::size_t t = 0; t < threads; ++t) {
      std::uint64_t* const r = values.data() + t * size;
      std::memcpy(r, k.start.data(), size * sizeof *r);
      const std::uint64_t special[specials] = {t % block.x,    t / block.x, index % grid.x,
                                               index / grid.x, block.x,     block.y};
      std::memcpy(r + k.first_special, special, sizeof special);
      at[t] = 0;
    }
    for (bool open = true; open;) {
      open = false;
      for (std::size_t t = 0; t < threads; ++t) {
        if (at[t] == k.ops.size()) continue;
        at[t] = run_thread(k, values.data() + t * size, shared.data(), at[t], count);
        open = open || at[t] != k.ops.size();
      }
    }
  }
  return count;
}

}  // namespace corridor::bench
