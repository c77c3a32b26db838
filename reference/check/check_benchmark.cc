// What a proof in place costs, against a dgemm of that size on as many threads (one).
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <ctime>

#include "reference/check/check.h"
#include "reference/check/closed_form.h"
#include "reference/check/digest.h"
#include "reference/exact/blas.h"
#include "reference/fill/fill.h"
#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

template <class Run>
double cpu_seconds(Run&& run) {
  const std::clock_t start = std::clock();
  run();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// Both operands, as a proof writes them.
void write_all(const Prover& made) {
  std::vector<std::byte> chunk(kChunk * 8);
  for (int i : {0, 1}) {
    Slice all;
    for (std::int64_t size : made.data.sources[i].shape) all.push_back({0, size});
    each_chunk(all, kChunk, [&](const Slice& part, std::int64_t) {
      write(made.data, {i, 0, part}, chunk.data());
    });
  }
}

// A product of n by n matrices that is right: its elements have to be, or there is nothing to time.
void product(benchmark::State& state, const char* dtype) {
  const std::int64_t n = state.range(0);
  const Case c =
      parse_case(fmt::format("on x=1: einsum mk,kn->mn {0}[{1},{1}] {0}[{1},{1}] -> f32[{1},{1}]", dtype, n));
  std::vector<double> values[2], sums(n * n);
  for (int i : {0, 1}) {
    const Tensor t = fill(c, i);
    values[i].resize(n * n);
    decode(t.dtype, t.bytes.data(), n * n, values[i].data());
  }
  for (std::int64_t row = 0; row < n; ++row)  // dgemm takes its second operand by columns
    for (std::int64_t col = 0; col < row; ++col)
      std::swap(values[1][row * n + col], values[1][col * n + row]);
  dgemm_threads(1);
  const double multiplying = cpu_seconds([&] {
    dgemm()({values[0].data(), n, n, n}, {values[1].data(), n, n, n}, sums.data(), n);
  });
  std::vector<std::byte> held(n * n * 4);
  encode(DType::f32, sums.data(), n * n, held.data());
  const Prover made = prover(c);
  const double filling = cpu_seconds([&] { write_all(made); });
  double proving = 0;
  for (auto _ : state) {
    proving = cpu_seconds([&] {
      if (prove(made,
                {
                    0, {{0, n}, {0, n}},
                     held
      },
                7)
              .answer != Proof::Answer::proved)
        state.SkipWithError("refuted");
    });
    state.SetIterationTime(proving);
  }
  state.counters["dgemm_ms"] = multiplying * 1e3;
  state.counters["ratio"] = proving / multiplying;
  state.counters["ratio_of_fill"] = filling / multiplying;
  state.SetLabel(dgemm_name());
}

void moved(benchmark::State& state, const char* line) {
  const Case c = parse_case(line);
  const Prover made = prover(c);
  const Tensor t = fill(c, 0);
  const Slice all{
      {0, elements(t.shape)}
  };
  for (auto _ : state) benchmark::DoNotOptimize(prove(made, {0, all, t.bytes}, 7));
  state.SetBytesProcessed(static_cast<std::int64_t>(t.bytes.size() * state.iterations()));
}

void digest(benchmark::State& state) {
  const Tensor t = fill(parse_case("on x=1: reshard f32[4194304] -> f32[4194304]"), 0);
  for (auto _ : state)
    benchmark::DoNotOptimize(digest_of(t.dtype, t.shape,
                                       {
                                           {0, 4194304}
    },
                                       t.bytes, 7));
  state.SetBytesProcessed(static_cast<std::int64_t>(t.bytes.size() * state.iterations()));
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgName("n")->UseManualTime()->Unit(benchmark::kMillisecond);
  for (int n : {1024, 2048, 4096}) b->Arg(n);
}
BENCHMARK_CAPTURE(product, bf16, "bf16")->Apply(sizes);
BENCHMARK_CAPTURE(product, f32, "f32")->Apply(sizes);
BENCHMARK_CAPTURE(moved, f32, "on x=1: reshard f32[4194304] -> f32[4194304]");
BENCHMARK(digest);

}  // namespace
}  // namespace plumb
