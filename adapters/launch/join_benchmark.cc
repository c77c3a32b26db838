// Idle ranks on this machine: they are started, join, are asked where they are, and end.
#include <benchmark/benchmark.h>
#include <sys/prctl.h>

#include <algorithm>

#include "adapters/launch/hub.h"
#include "adapters/launch/job.h"

namespace plumb::launch {
namespace {

bool come_and_go(int ranks) {
  const Asked asked{.ranks = ranks, .program = {PLUMB_VENDOR}};
  const auto all = [](const Hub& hub, bool Whereabouts::*such) {
    return std::ranges::all_of(hub.seats, [such](const Seat& seat) { return seat.where.*such; });
  };
  Hub hub = open_hub(ranks, "");
  const Job job = start(asked,
                        {
                            {"PLUMB_LAUNCH", hub.address},
                            {"PLUMB_TOKEN",  hub.token  }
  },
                        hub.file);
  const auto patience = Clock::now() + std::chrono::minutes(5);
  while (!all(hub, &Whereabouts::joined) && Clock::now() < patience) step(hub, patience);
  ask_where(hub);
  const bool answered = all(hub, &Whereabouts::answers);
  close_hub(hub);
  end(job, std::chrono::minutes(1));
  return answered;
}

void IdleRanks(benchmark::State& state) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (auto _ : state)
    if (!come_and_go(static_cast<int>(state.range(0)))) state.SkipWithError("a rank did not say where it is");
}

BENCHMARK(IdleRanks)->Arg(64)->Arg(512)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
}  // namespace plumb::launch
