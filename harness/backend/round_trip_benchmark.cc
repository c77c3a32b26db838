// What a tiny case costs between the harness and a backend that does next to nothing: request and reply
// as JSON, both ways, two processes. Pinned to one core: taskset -c 0 round_trip_benchmark
#include <benchmark/benchmark.h>

#include "harness/backend/lookup.h"
#include "harness/backend/process.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

void round_trip(benchmark::State& state, const std::vector<std::string>& argv) {
  Process process({"echo", argv, {}});
  const Case c = parse_case("on x=2: reshard f32[8@x] -> f32[8]");
  const Tensor operand = zeros(DType::f32, {8});
  for (auto _ : state) {
    const Answer answer = process.run(c, std::span(&operand, 1));
    const auto* outcome = std::get_if<Outcome>(&answer);
    if (!outcome) {
      state.SkipWithError("no outcome");
      break;
    }
    for (const Block& b : outcome->blocks) benchmark::DoNotOptimize(process.read(b));
  }
}

void Echo(benchmark::State& state) { round_trip(state, {PLUMB_ECHO}); }
void EchoBehindPlumbLaunch(benchmark::State& state) {
  round_trip(state, {PLUMB_LAUNCH, "--ranks", "1", "--", PLUMB_ECHO});
}
void Local(benchmark::State& state) { round_trip(state, find_backend("local").argv); }

BENCHMARK(Echo)->UseRealTime();
BENCHMARK(EchoBehindPlumbLaunch)->UseRealTime();
BENCHMARK(Local)->UseRealTime();

}  // namespace
}  // namespace plumb
