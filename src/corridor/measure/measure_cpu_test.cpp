// SPDX-License-Identifier: Apache-2.0
// The stopping rule at its borders, kernels against arithmetic, steps of a curve that was made, a machine that was
// made.
#include "corridor/measure/measure_cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "corridor/hardware/catalogue.h"
#include "corridor/measure/cpu/surroundings.h"
#include "corridor/measure/device_writer.h"
#include "corridor/measure/fake_machine.h"
#include "corridor/measure/ladder.h"

namespace corridor::measure {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using units::Bytes;
using units::Seconds;

constexpr double kibi = 1024;
constexpr double mebi = 1024 * 1024;

TEST(Ladder, SizesGrowByEqualFactors) {
  EXPECT_THAT(ladder_sizes(Bytes{4096}, Bytes{16384}, 1, Bytes{64}),
              ElementsAre(Bytes{4096}, Bytes{8192}, Bytes{16384}));
  EXPECT_THAT(ladder_sizes(Bytes{4096}, Bytes{8192}, 2, Bytes{64}),
              ElementsAre(Bytes{4096}, Bytes{5824}, Bytes{8192}));  // 4096·√2 = 5792.6 to the next 64
  EXPECT_THAT(ladder_sizes(Bytes{}, Bytes{10}, 2, Bytes{64}), IsEmpty());
  EXPECT_THAT(ladder_sizes(Bytes{10}, Bytes{9}, 2, Bytes{64}), IsEmpty());
  EXPECT_THAT(ladder_sizes(Bytes{1}, Bytes{std::numeric_limits<double>::infinity()}, 2, Bytes{64}), IsEmpty());
}

/// A processor whose figures follow from its ladder; shared by the tests of steps and of the whole measurement.
class FakeProbe : public CpuProbe {
 public:
  struct Level {
    double capacity, latency_s, rate;
  };
  std::vector<Level> levels = {{48 * kibi, 2e-9, 500e9}, {2048 * kibi, 6e-9, 250e9}, {32 * mebi, 30e-9, 90e9}};
  double memory_latency = 110e-9, memory_rate = 40e9, spread = 0.01;
  bool one_thread_is_enough = false;
  double first_look = 1;  ///< peaks are so many times their rate until each has been asked for once
  int failing_call = -1, calls = 0, peak_calls = 0;

  [[nodiscard]] int threads() const override { return 4; }
  [[nodiscard]] Bytes largest() const override { return Bytes{512 * mebi}; }
  [[nodiscard]] Result<Figure> traffic(Traffic kind, Bytes size, int used, Seconds) override {
    if (++calls == failing_call) return fail("broken", "probe");
    double rate = memory_rate * (one_thread_is_enough ? 1 : std::min(1.0, used / 3.0));
    for (std::size_t i = levels.size(); i-- > 0;) {
      const double instances = i < 2 ? used : 1;
      if (size.value() <= levels[i].capacity * instances) rate = levels[i].rate;
    }
    return Figure{kind == Traffic::read ? rate : rate / 2, spread, 9, name(kind)};
  }
  [[nodiscard]] Result<Figure> latency(Bytes size, Seconds) override {
    return Figure{latency_at(size.value()), spread, 9, "chase"};
  }
  [[nodiscard]] double latency_at(double size) const {
    double latency = levels.front().latency_s, before = latency;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const double next = i + 1 < levels.size() ? levels[i + 1].latency_s : memory_latency;
      // What does not fit is fetched from the next level.
      const double missing = std::clamp((size - levels[i].capacity) / levels[i].capacity, 0.0, 1.0);
      latency += (next - before) * missing;
      before = next;
    }
    return latency;
  }
  [[nodiscard]] Result<Figure> peak(const PeakKernel& kernel, Seconds) override {
    const double now = peak_calls++ < 3 ? first_look : 1;
    return Figure{kernel.flop_per_round * 1e9 * now, spread, 9, "peak"};
  }
  [[nodiscard]] Result<Figure> dispatch(Seconds) override { return Figure{2e-6, spread, 9, "dispatch"}; }
  [[nodiscard]] std::vector<PeakKernel> peaks() const override {
    return {{hardware::ComputeType::fp64, "fake", nullptr, 100},
            {hardware::ComputeType::fp32, "fake", nullptr, 200},
            {hardware::ComputeType::int8, "fake", nullptr, 900}};
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> conditions() const override {
    return {{"threads", "4"}};
  }
};

MachineFacts fake_facts() {
  FakeMachine machine;
  machine.files["/proc/cpuinfo"] = x86_cpuinfo("GenuineIntel", "Made \"Up\" CPU", 1, 4, 1, "avx2 fma avx512f", "2000");
  machine.files["/proc/meminfo"] = "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\n";
  machine.add_cache(0, "1", "Data", "48K", "0");
  machine.add_cache(1, "2", "Unified", "2048K", "0");
  machine.add_cache(2, "3", "Unified", "32768K", "0-3");
  machine.allowed = 4;
  return read_machine_facts(machine);
}

std::vector<LatencyPoint> curve_of(const FakeProbe& probe, int per_octave) {
  std::vector<LatencyPoint> curve;
  for (const Bytes size : ladder_sizes(Bytes{4096}, Bytes{512 * mebi}, per_octave, Bytes{64})) {
    curve.push_back({size, Seconds{probe.latency_at(size.value())}});
  }
  return curve;
}

TEST(Ladder, StepsStandAtTheCapacities) {
  const FakeProbe probe;
  std::vector<LatencyPoint> curve = curve_of(probe, 4);
  std::vector<LatencyStep> steps = find_steps(curve);
  ASSERT_EQ(steps.size(), 3U);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_NEAR(steps[i].capacity.value() / probe.levels[i].capacity, 1.15, 0.15) << i;
    EXPECT_LT(steps[i].below, steps[i].above);
  }
  curve[20].latency *= 3;  // one disturbed point is no step
  EXPECT_EQ(find_steps(curve).size(), 3U);
  EXPECT_THAT(find_steps({}), IsEmpty());
  EXPECT_THAT(find_steps(std::vector<LatencyPoint>(40, {Bytes{64}, Seconds{0}})), IsEmpty());
}

TEST(Ladder, ReportedCachesTakeTheNearestStep) {
  const auto step = [](double kib) {
    LatencyStep s;
    s.capacity = Bytes{kib * kibi};
    return s;
  };
  const std::vector<CacheFact> caches = {
      {1, Bytes{48 * kibi}, 1, 2}, {2, Bytes{2 * mebi}, 1, 2}, {3, Bytes{32 * mebi}, 2, 1}};
  const auto levels = match_levels({step(47), step(1900), step(6000)}, caches);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_DOUBLE_EQ(levels[0].capacity.value(), 47 * kibi);
  EXPECT_DOUBLE_EQ(levels[1].capacity.value(), 1900 * kibi);
  EXPECT_TRUE(levels[1].found);
  EXPECT_FALSE(levels[2].found);  // 6 MB is address translation, not the 32 MiB cache
  EXPECT_DOUBLE_EQ(levels[2].capacity.value(), 32 * mebi);
  const auto unknown = match_levels({step(47), step(1900)}, {});
  ASSERT_EQ(unknown.size(), 2U);
  EXPECT_EQ(unknown[1].name, "L2");
  EXPECT_FALSE(unknown[1].reported);
}

TEST(MeasureCpu, AMadeUpMachineIsFoundAgain) {
  FakeProbe probe;
  double last = 0;
  const auto m = measure_with(probe, fake_facts(), FakeClock(0.1), {}, [&](std::string_view what, double done) {
    EXPECT_FALSE(what.empty());
    EXPECT_GE(done, 0);
    last = done;
  });
  ASSERT_TRUE(m) << m.error().line();
  EXPECT_DOUBLE_EQ(last, 1);
  ASSERT_EQ(m->ladder.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) {
    const MeasuredLevel& level = m->ladder[i];
    EXPECT_DOUBLE_EQ(level.instances, i < 2 ? 4 : 1) << level.level;
    EXPECT_NEAR(level.capacity.value() / (probe.levels[i].capacity * level.instances), 1.1, 0.12) << level.level;
    EXPECT_DOUBLE_EQ(level.bandwidth->value, probe.levels[i].rate) << level.level;
    EXPECT_NEAR(level.latency->value, probe.levels[i].latency_s, 0.02 * level.latency->value) << level.level;
  }
  EXPECT_DOUBLE_EQ(m->ladder[3].bandwidth->value, 40e9);
  EXPECT_DOUBLE_EQ(m->main_memory.triad->value, 20e9);
  EXPECT_EQ(m->main_memory.threads_to_saturate, 3);
  EXPECT_DOUBLE_EQ(*m->ridge_flop_per_byte(), 200e9 / 40e9);  // fp32: int8 and fp64 make no ridge
  EXPECT_THAT(m->warnings, IsEmpty());
  probe.one_thread_is_enough = true;
  probe.spread = 0.2;
  const auto again = measure_with(probe, fake_facts(), FakeClock(0.1), {Effort::quick, {}}, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->main_memory.threads_to_saturate, 1);
  EXPECT_THAT(again->warnings, Contains(HasSubstr("Spread above 10 %: main memory read (20 %)")));
}

TEST(MeasureCpu, TheFasterOfTwoLooksCountsAndTheSpreadCoversBoth) {
  for (const double first : {0.6, 1.25}) {
    FakeProbe probe;
    probe.first_look = first;
    const auto m = measure_with(probe, fake_facts(), FakeClock(0.1), {Effort::quick, {}}, {});
    ASSERT_TRUE(m);
    EXPECT_DOUBLE_EQ(m->peaks[1].flop_per_s.value, 200e9 * std::max(first, 1.0));
    EXPECT_NEAR(m->peaks[1].flop_per_s.spread, first < 1 ? 0.4 : 0.2, 1e-12);
    EXPECT_EQ(m->peaks[1].flop_per_s.passes, 18);
    EXPECT_EQ(m->main_memory.copy->passes, 18);
    EXPECT_DOUBLE_EQ(m->main_memory.copy->spread, 0.01);
    EXPECT_THAT(m->warnings,
                Contains(HasSubstr(first < 1 ? "fp64 arithmetic was 67 % faster at the end than at the start"
                                             : "fp64 arithmetic was 20 % slower at the end")));
  }
}

TEST(MeasureCpu, AFailingFigureIsAnError) {
  for (const int call : {1, 60}) {
    FakeProbe probe;
    probe.failing_call = call;
    const auto m = measure_with(probe, fake_facts(), FakeClock(0.1), {}, {});
    ASSERT_FALSE(m);
    EXPECT_EQ(m.error().what, "broken");
  }
}

TEST(MeasureCpu, TheDeviceFileReadsBackToTheSameDevice) {
  FakeProbe probe;
  const auto m = measure_with(probe, fake_facts(), FakeClock(0.1), {}, {});
  ASSERT_TRUE(m);
  const std::string toml = device_toml(m->device, {{"date", "x\ny = 1"}});
  const auto read = hardware::parse_device(toml, "made.toml");
  ASSERT_TRUE(read) << read.error().line() << "\n" << toml;
  EXPECT_EQ(read->name, "Made \"Up\" CPU");
  EXPECT_EQ(read->kind, hardware::DeviceKind::cpu);
  EXPECT_DOUBLE_EQ(read->memory_bandwidth->value.value(), 40e9);
  EXPECT_EQ(read->memory_bandwidth->basis, hardware::Basis::measured);
  EXPECT_EQ(read->memory_bandwidth->date, "2026-01-02");
  EXPECT_DOUBLE_EQ(read->peak(hardware::ComputeType::int8)->value.value(), 900e9);
  EXPECT_DOUBLE_EQ(read->launch_floor->value.value(), 2e-6);
  ASSERT_EQ(read->ladder.size(), m->device.ladder.size());
  for (std::size_t i = 0; i < read->ladder.size(); ++i) {
    EXPECT_EQ(read->ladder[i].name, m->device.ladder[i].name);
    EXPECT_NEAR(read->ladder[i].latency->value / m->device.ladder[i].latency->value, 1, 1e-5);
    EXPECT_DOUBLE_EQ(read->ladder[i].capacity->value.value(), std::floor(m->device.ladder[i].capacity->value.value()));
  }
}

TEST(MeasureCpu, AnyCatalogueDeviceReadsBack) {
  const auto assets = Assets::open();
  ASSERT_TRUE(assets);
  for (const char* id : {"h100-sxm", "epyc-9654", "gb10"}) {
    const auto device = hardware::find_device(*assets, id);
    ASSERT_TRUE(device);
    const std::string once = device_toml(device->device, {});
    const auto read = hardware::parse_device(once, "copy.toml");
    ASSERT_TRUE(read) << read.error().line();
    EXPECT_EQ(device_toml(*read, {}), once) << id;
  }
  hardware::Device hostile;
  hostile.name = "a\nb\"\\";
  hostile.memory_bandwidth = {units::BytesPerSecond{std::nan("")}, hardware::Basis::measured, "", "", ""};
  EXPECT_THAT(device_toml(hostile, {}), Not(HasSubstr("nan")));
}

TEST(MeasureCpu, WorkingSetFollowsCacheAndMemory) {
  MachineFacts facts = fake_facts();
  EXPECT_DOUBLE_EQ(working_set(facts, Effort::normal).value(), 512 * mebi);  // 4 × 32 MiB would be too little
  facts.caches.back().one_instance = Bytes{256 * mebi};
  EXPECT_DOUBLE_EQ(working_set(facts, Effort::normal).value(), 1024 * mebi);
  EXPECT_GT(working_set(facts, Effort::thorough), working_set(facts, Effort::normal));
  facts.memory_available = Bytes{400 * mebi};
  EXPECT_DOUBLE_EQ(working_set(facts, Effort::normal).value(), 100 * mebi);
}

TEST(MeasureCpu, ThisMachineInASmallWorkingSet) {
  // Whatever the figures are, there is one of each kind, positive and finite.
  FakeMachine machine;
  machine.allowed = 2;
  const SystemClock clock;
  const auto probe = system_cpu_probe(read_machine_facts(machine), clock, {Bytes{4 * mebi}, Seconds{5}});
  ASSERT_TRUE(probe) << probe.error().line();
  const int threads = (*probe)->threads();
  const Seconds budget{0.002};
  for (const Traffic kind : {Traffic::read, Traffic::write, Traffic::copy, Traffic::triad}) {
    for (const double size : {1.0, 64 * kibi, 1e12}) {
      const auto figure = (*probe)->traffic(kind, Bytes{size}, threads, budget);
      ASSERT_TRUE(figure) << figure.error().line();
      EXPECT_TRUE(figure->value > 0 && std::isfinite(figure->value)) << name(kind);
    }
  }
  const auto latency = (*probe)->latency(Bytes{64 * kibi}, budget);
  const auto dispatch = (*probe)->dispatch(budget);
  const auto peak = (*probe)->peak(best_kernels().f32, budget);
  ASSERT_TRUE(latency && dispatch && peak);
  for (const auto& figure : {*latency, *dispatch, *peak}) EXPECT_GT(figure.value, 0) << figure.how;
  EXPECT_FALSE(system_cpu_probe(read_machine_facts(machine), clock, {Bytes{0}, Seconds{1}}));
  EXPECT_THAT(processors_by_core({4, 5, 6, 7}, {"4,6", "5,7", "4,6", "5,7"}), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(processors_by_core({0, 1, 2, 3}, {"0-1", "0-1", "2-3", "2-3"}), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(processors_by_core({0, 1}, {"", ""}), ElementsAre(0, 1));
}

TEST(Surroundings, WhatDisturbedTheMeasurementIsSaid) {
  FakeMachine machine;
  machine.files["/proc/cpuinfo"] = "processor: 0\nflags: fpu hypervisor avx2\n";
  machine.files["/proc/stat"] = "cpu  100 0 100 5000 0 0 0 10 0 0\n";
  machine.files["/sys/fs/cgroup/cpu.stat"] = "usage_usec 5\nnr_throttled 3\n";
  Surroundings before = look_around(machine);
  EXPECT_TRUE(before.virtual_machine);
  EXPECT_DOUBLE_EQ(*before.throttled, 3);
  MachineFacts facts;
  facts.logical_cpus = facts.usable_cpus = 2;
  Surroundings after = before;
  EXPECT_EQ(surroundings_warnings(facts, before, after, 10, 2).size(), 1U);  // the virtual machine alone
  after.stolen_s = *before.stolen_s + 1;
  after.throttled = 10;
  after.busy_s = *before.busy_s + 25;
  after.own_s = before.own_s.value_or(0) + 18;
  before.own_s = before.own_s.value_or(0);
  facts.usable_cpus = 1;
  const auto warnings = surroundings_warnings(facts, before, after, 10, 2);
  EXPECT_THAT(warnings, Contains(HasSubstr("1.0 s of processor time to others")));
  EXPECT_THAT(warnings, Contains(HasSubstr("quota stopped the measurement 7 times")));
  EXPECT_THAT(warnings, Contains(HasSubstr("Other programs used")));
  EXPECT_THAT(warnings, Contains(HasSubstr("1 of 2 processors")));
  EXPECT_DOUBLE_EQ(parse_stat("cpu  100 0 100 5000 0 10 10 50 0 0\n", 100)->busy_s, 2.2);
  EXPECT_DOUBLE_EQ(parse_stat("cpu  100 0 100 5000 0 10 10 50 0 0\n", 100)->stolen_s, 0.5);
  EXPECT_FALSE(parse_stat("cpu  100 zero", 100));
  EXPECT_FALSE(parse_stat("", 100));
}

}  // namespace
}  // namespace corridor::measure
