// What kernels of adapters/cuda take, each beside a ceiling of the same run: on the first GPU where there is
// one, else, in small, on this processor. Each row says on which, or why there is none.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>

#include "adapters/cuda/cuda.h"
#include "adapters/protocol/prove_here.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using cuda::Cuda;

double seconds_of(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

const cuda::Device& device_here() {
  std::string why;
  const cuda::Device* card = cuda::card(why);
  return card ? *card : cuda::this_processor();
}
bool small() { return &device_here() == &cuda::this_processor(); }

// A case made ready and loaded.
struct Loaded {
  Cuda cuda;
  Request request;
  std::optional<Stages> stages;
  std::optional<Awaiting> awaited;

  explicit Loaded(const std::string& line, bool by_library = false) {
    cuda.device = &device_here();
    std::string why;
    if (by_library && !small()) cuda.products = cuda::cublaslt_products(false, why);
    request.c = parse_case(line);
    request.write = filling(request.c, cuda.memory());
    if (const auto refused = cuda.prepare(request)) throw std::runtime_error(refused->reason);
    stages = cuda.stages(request);
    stages->load(), stages->once();
  }
  // To work out what the result has to be, which is done once.
  double await_seconds() {
    return seconds_of([&] { awaited = awaiting(request.c, cuda.memory()); });
  }
  double proof_seconds() {
    const Outcome outcome = stages->give();
    const double took = seconds_of([&] {
      for (const ProofRow& row : proofs(*awaited, outcome, 7))
        if (proven(row).answer != Proven::Answer::proved) throw std::runtime_error("a result is not proved");
    });
    cuda.device->hands.memory.wait();
    return took;
  }
};

// Every device sends every other a piece of each of its rows, in runs of so many bytes; a copy within the
// memory of the device moves as much.
void redistribute(benchmark::State& state) try {
  const std::int64_t run = state.range(0), bytes = small() ? std::int64_t{16} << 20 : std::int64_t{256} << 20;
  const std::int64_t columns = 8 * run / 2, rows = bytes / (2 * columns);
  Loaded loaded(fmt::format("on x=8: reshard bf16[{0}@x,{1}] -> bf16[{0},{1}@x]", rows, columns));
  const auto copy = loaded.stages->limit("copy", static_cast<std::size_t>(bytes) / 8);
  copy();
  double moving = 0, copying = 0;
  for (auto _ : state) {
    copying += seconds_of(copy);
    moving += seconds_of(loaded.stages->once);
  }
  const double all = static_cast<double>(bytes) * static_cast<double>(state.iterations());
  state.counters["GB/s"] = all / moving / 1e9;
  state.counters["of_copy"] = copying / moving;
  state.SetLabel(loaded.cuda.device->name);
} catch (const std::exception& e) {
  state.SkipWithError(e.what());
}

// A product that is right, and the proof of it where it lies.
void prove_product(benchmark::State& state) try {
  const std::int64_t n = small() ? state.range(0) / 32 : state.range(0);
  Loaded loaded(fmt::format("on x=1: einsum mk,kn->mn bf16[{0},{0}] bf16[{0},{0}] -> f32[{0},{0}]", n), true);
  const double awaiting = loaded.await_seconds();
  double multiplying = 0, proving = 0;
  for (auto _ : state) {
    multiplying += seconds_of(loaded.stages->once);
    proving += loaded.proof_seconds();
  }
  state.counters["n"] = static_cast<double>(n);
  state.counters["of_product"] = proving / multiplying;
  state.counters["once_of_product"] = awaiting * static_cast<double>(state.iterations()) / multiplying;
  state.counters["product_ms"] = 1e3 * multiplying / static_cast<double>(state.iterations());
  state.SetLabel(loaded.cuda.device->name + (loaded.cuda.products ? ", cuBLASLt" : ", kernels of ours"));
} catch (const std::exception& e) {
  state.SkipWithError(e.what());
}

// What is moved is proved element by element; a copy reads and writes as much as the proof reads.
void prove_moved(benchmark::State& state) try {
  const std::int64_t bytes = small() ? std::int64_t{4} << 20 : std::int64_t{256} << 20;
  Loaded loaded(fmt::format("on x=8: reshard bf16[{0}@x] -> bf16[{0}@x]", bytes / 2));
  const auto copy = loaded.stages->limit("copy", static_cast<std::size_t>(bytes) / 8);
  loaded.await_seconds();
  double proving = 0, copying = 0;
  for (auto _ : state) copying += seconds_of(copy), proving += loaded.proof_seconds();
  state.counters["GB/s"] =
      static_cast<double>(bytes) * static_cast<double>(state.iterations()) / proving / 1e9;
  state.counters["of_copy"] = copying / proving;
  state.SetLabel(loaded.cuda.device->name);
} catch (const std::exception& e) {
  state.SkipWithError(e.what());
}

BENCHMARK(redistribute)
    ->Arg(32)
    ->Arg(128)
    ->Arg(512)
    ->Arg(4096)
    ->ArgName("run")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(prove_product)->Arg(4096)->Arg(16384)->ArgName("size")->Unit(benchmark::kMillisecond);
BENCHMARK(prove_moved)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plumb
