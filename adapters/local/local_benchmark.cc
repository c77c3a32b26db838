// The figures of the embedded backend, without process and judge:
//   local_benchmark --benchmark_filter=tiny
#include <benchmark/benchmark.h>

#include <string>

#include "adapters/local/testing/trial.h"
#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb::local {
namespace {

// Plans and carries out one case on data of all zeros.
struct Bench {
  explicit Bench(const Case& which) : c(which) {
    std::size_t room = 0;
    for (const Spec& spec : c.op.operands)
      operands.emplace_back(static_cast<std::size_t>(bytes(spec) * parts(c.mesh, spec)));
    for (std::int64_t device = 0; device < devices(c.mesh); ++device)
      room += static_cast<std::size_t>(elements(block(c.mesh, result(c), c.rule, device))) * 8 + 64;
    arena.resize(room);
    request = {.id = 1, .c = c, .operands = {}};
    for (const auto& o : operands) request.operands.push_back({o, {}});
    request.write = cutting(c, request.operands);
  }
  Reply run() {
    Arena a{.whole = arena, .next = 0};
    local.prepare(request);
    return local.run(request, a);
  }
  Case c;
  std::vector<std::vector<std::byte>> operands;
  std::vector<std::byte> arena;
  Request request;
  Local local;
};

void run_line(benchmark::State& state, const std::string& line) {
  Bench bench(parse_case(line));
  for (auto _ : state) benchmark::DoNotOptimize(bench.run());
}

void every_reshard(benchmark::State& state) {
  const Case like = parse_case("on x=2,y=2,z=2: reshard f32[8,8] -> f32[8,8]");
  const Choices all = all_reshards(like.mesh, DType::f32, {8, 8}, true);
  for (auto _ : state)
    for (std::int64_t n = 0; n < count(all); ++n) benchmark::DoNotOptimize(Bench(nth(all, n)).run());
}

BENCHMARK_CAPTURE(run_line, tiny, "on x=2: reshard f32[8@x] -> f32[8]");
BENCHMARK_CAPTURE(run_line, weights_of_4096_devices,
                  "on dp=2,fsdp=256,sp=2,tp=4: einsum bsh,bsf->hf f32[512@dp.fsdp,2@sp,512] "
                  "f32[512@dp.fsdp,2@sp,8@tp] -> f32[512,8@tp]+dp.fsdp.sp -> f32[512@fsdp.sp,8@tp]")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_line, gradients_of_65536_devices,
                  "on dp=16,fsdp=256,sp=4,tp=4: reshard f32[16384@fsdp.sp,1024@tp]+dp -> "
                  "f32[16384@dp.fsdp,1024@sp.tp]")
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK(every_reshard)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace plumb::local
