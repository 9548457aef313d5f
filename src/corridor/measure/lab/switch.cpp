// SPDX-License-Identifier: Apache-2.0
// Two threads on one core that hand a turn to each other: the price of changing the thread, in cycles.
#include <sched.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "corridor/measure/lab/experiment.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

/// `turns` hand-overs from each of two threads; both on `cpu`. False when they could not be tied to it.
bool hand_over(int cpu, int turns) {
  std::atomic<int> turn{0};
  std::atomic<bool> tied{true};
  const auto play = [&](int me) {
    const PinnedThread here(cpu);
    if (!here.held()) tied = false;
    for (int i = 0; i < turns; ++i) {
      while (turn.load(std::memory_order_acquire) != me) sched_yield();
      turn.store(1 - me, std::memory_order_release);
    }
  };
  std::thread first(play, 0);
  std::thread second(play, 1);
  first.join();
  second.join();
  return tied;
}

}  // namespace

Result<LabResult> run_switch(const LabContext& context) {
  const LabMachine& machine = context.machine;
  LabResult out;
  const double hertz = machine.clock.value();
  const double wait_cycles = machine.main_memory().latency.value() * hertz;
  out.formulas.push_back(fmt::format("one wait for main memory: {} × {} = {:.0f} cycles",
                                     units::print(machine.main_memory().latency), units::print(machine.clock),
                                     wait_cycles));
  out.tolerance = "the claim holds when a change of thread takes longer than one wait for main memory";
  LabReading change;
  change.what = "change of the thread on a core";
  change.unit = LabUnit::cycles;
  change.low = wait_cycles;
  const int cpu = sched_getcpu();
  constexpr int turns = 4000;
  bool tied = cpu >= 0;
  // The difference of two lengths leaves out what starting the threads takes.
  const auto samples =
      time_in_turn(context.settings(0.4), context.clock,
                   {[&] { tied = hand_over(cpu, turns) && tied; }, [&] { tied = hand_over(cpu, 3 * turns) && tied; }});
  if (!samples) return tl::unexpected(samples.error());
  take_time(change, (*samples)[1]);
  const double both = ((*samples)[1].median - (*samples)[0].median).value();
  change.measured = both / (2.0 * 2 * turns) * hertz;
  out.readings.push_back(change);
  LabReading time;
  time.what = "the same in time";
  time.measured = both / (2.0 * 2 * turns);
  time.spread = change.spread;
  time.passes = change.passes;
  out.readings.push_back(time);
  if (!tied)
    out.notes.emplace_back("The system did not let the two threads be tied to one core: they may have used two");
  out.notes.emplace_back(
      "A GPU's scheduler issues from another warp in the next cycle: the registers of every resident warp stay in "
      "place");
  return out;
}

}  // namespace corridor::measure
