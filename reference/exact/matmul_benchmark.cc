// The price of exactness: matmul against the fastest dgemm on as many threads, in turns.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

#include "reference/exact/blas.h"
#include "reference/exact/exact.h"
#include "reference/exact/parallel.h"
#include "reference/exact/testing/hard_inputs.h"

namespace plumb {
namespace {

// The best times of several runs: of the clock, and of all processors together (std::clock).
struct Best {
  double seconds = 1e300, cpu = 1e300;
};

template <class Run>
double measure(Best& best, Run&& run) {
  const std::clock_t cpu = std::clock();
  const auto start = std::chrono::steady_clock::now();
  run();
  const double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  best.seconds = std::min(best.seconds, time);
  best.cpu = std::min(best.cpu, static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
  return time;
}

std::vector<double> doubles(const Tensor& t) {
  std::vector<double> out(elements(t.shape));
  decode(t.dtype, t.bytes.data(), static_cast<std::int64_t>(out.size()), out.data());
  return out;
}

// The library's own threads.
void library_threads(const Rows& a, const Rows& b, double* c) {
  dgemm_threads(cores());
  dgemm()(a, b, c, b.count);
}

// Our threads, each with a share of the rows.
void shared_rows(const Rows& a, const Rows& b, double* c) {
  dgemm_threads(1);
  parallel(cores(), [&](int index) {
    const Share mine = share(a.count, cores(), index);
    dgemm()({a.data + mine.begin * a.stride, mine.end - mine.begin, a.depth, a.stride}, b,
            c + mine.begin * b.count, b.count);
  });
}

// Arguments: size, 0 normal or 1 with products that cancel in pairs. `ratio` is the quotient of the
// best times of all turns; dgemm's is the better of its two ways to use the threads. `cpu_ratio` is the
// same in processor time, against our own threads: on a busy machine it says more.
void run(benchmark::State& state, DType dtype) {
  const std::int64_t n = state.range(0);
  Tensor a = hard_tensor(Hard::normal, dtype, {n, n}, 1), b = hard_tensor(Hard::normal, dtype, {n, n}, 2);
  if (state.range(1)) cancel_pairs(a, b, 3);
  Tensor c = zeros(dtype, {n, n});
  const std::vector<double> da = doubles(a), db = doubles(b);
  std::vector<double> dc(n * n);
  const Rows ra{da.data(), n, n, n}, rb{db.data(), n, n, n};
  Best exact, library, shared;
  for (auto _ : state) {
    measure(library, [&] { library_threads(ra, rb, dc.data()); });
    // Its threads wait for work in a loop, 2^28 cycles long: what is measured meanwhile shares the cores.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    measure(shared, [&] { shared_rows(ra, rb, dc.data()); });
    state.SetIterationTime(measure(exact, [&] {
      matmul(matrix(std::as_const(a)), matrix(std::as_const(b)), DType::f32, mutable_matrix(c));
    }));
  }
  const double plain = std::min(library.seconds, shared.seconds);
  state.counters["ratio"] = exact.seconds / plain;
  state.counters["cpu_ratio"] = exact.cpu / shared.cpu;
  state.counters["dgemm_GF/s"] = 2 * static_cast<double>(n * n * n) / 1e9 / plain;
  state.counters["threads"] = cores();
  state.SetLabel(dgemm_name());
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "cancel"})->UseManualTime()->Unit(benchmark::kMillisecond);
  for (int n : {512, 1024}) b->Args({n, 0})->Args({n, 1});
  b->Args({2048, 0});
}

BENCHMARK_CAPTURE(run, bf16, DType::bf16)->Apply(sizes);
BENCHMARK_CAPTURE(run, f32, DType::f32)->Apply(sizes);

}  // namespace
}  // namespace plumb
