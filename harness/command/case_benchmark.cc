// What a case costs from its line to its written record: fill, reference, backend process, judge. The
// program is one thread, the backend another process; CPU time of both is what `taskset -c 0` shows.
#include <benchmark/benchmark.h>

#include "adapters/protocol/json.h"
#include "harness/record/environment.h"
#include "harness/record/journal.h"
#include "harness/run/attempt.h"
#include "harness/select/pattern.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Each iteration judges the case with other data.
void judge_case(benchmark::State& state, const char* line) {
  Case c = parse_case(line);
  Subject subject("local", {});
  Journal journal("/dev/null");
  const std::string here = dump(environment());
  std::uint64_t seed = 0;
  for (auto _ : state) {
    c.seed = ++seed;
    const Record record = attempt(c, subject);
    if (record.verdict.status != Status::pass) state.SkipWithError("not a pass");
    journal.append(record, here);
  }
}

// Each iteration judges every case of the pattern.
void judge_pattern(benchmark::State& state, const char* line) {
  const Pattern pattern = parse_pattern(line).front();
  Subject subject("local", {});
  for (auto _ : state)
    for (std::int64_t n = 0; n < count(pattern); ++n)
      if (attempt(nth(pattern, n), subject).verdict.status != Status::pass) state.SkipWithError("not a pass");
  state.SetItemsProcessed(state.iterations() * count(pattern));
}

BENCHMARK_CAPTURE(judge_case, small, "on x=2: reshard f32[8@x] -> f32[8]")->UseRealTime();
BENCHMARK_CAPTURE(judge_pattern, all_92_by_92, "on x=2,y=2,z=2: reshard f32[8,8]+* -> f32[8,8]+*")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(judge_case, devices_4096,
                  "on dp=2,fsdp=256,sp=2,tp=4: einsum bsh,bsf->hf f32[512@dp.fsdp,2@sp,512] "
                  "f32[512@dp.fsdp,2@sp,8@tp] -> f32[512,8@tp]+dp.fsdp.sp -> f32[512@fsdp.sp,8@tp]")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(judge_case, devices_65536,
                  "on dp=16,fsdp=256,sp=4,tp=4: reshard f32[16384@fsdp.sp,1024@tp]+dp -> "
                  "f32[16384@dp.fsdp,1024@sp.tp]")
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->UseRealTime();

}  // namespace
}  // namespace plumb
