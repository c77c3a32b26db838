#include "reference/exact/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace plumb {
namespace {

// OpenBLAS's C interface, as far as it is used.
enum { kRowMajor = 101, kNoTranspose = 111, kTranspose = 112 };
using CblasDgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int,
                            double, double*, int);
struct Library {
  CblasDgemm multiply = nullptr;
  void (*threads)(int) = nullptr;
  std::string name;
};

// OpenBLAS picks its kernels once, when it is loaded, by a table of processor models; on a model newer
// than the table it may fall back to the oldest kernels. The features say better which will run best.
const char* best_core() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return "SKYLAKEX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "HASWELL";
#endif
  return nullptr;
}

// The variable stands only while the library is loaded; a user's own setting wins.
struct Variable {
  const char* name;
  bool ours = false;
  Variable(const char* variable, const char* value) : name(variable) {
    ours = value && !std::getenv(name) && setenv(name, value, 1) == 0;
  }
  ~Variable() {
    if (ours) unsetenv(name);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
};

Library load() {
  Library library;
  const Variable core("OPENBLAS_CORETYPE", best_core()), threads("OPENBLAS_NUM_THREADS", "1");
  void* handle = nullptr;
  for (const char* path : {"$ORIGIN/../lib/libopenblas.so.0", "$ORIGIN/../lib/plumbline/libopenblas.so.0",
                           "$ORIGIN/../../lib/plumbline/libopenblas.so.0", PLUMB_OPENBLAS_PATH,
                           "libopenblas.so.0", "libopenblas.so"})
    if (!handle) handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return library;
  library.multiply = reinterpret_cast<CblasDgemm>(dlsym(handle, "cblas_dgemm"));
  library.threads = reinterpret_cast<void (*)(int)>(dlsym(handle, "openblas_set_num_threads"));
  const auto config = reinterpret_cast<char* (*)()>(dlsym(handle, "openblas_get_config"));
  const auto corename = reinterpret_cast<char* (*)()>(dlsym(handle, "openblas_get_corename"));
  std::string version = config ? config() : "OpenBLAS";
  const std::size_t word = version.find(' '), next = version.find(' ', word + 1);
  if (word != std::string::npos) version = version.substr(0, next);
  library.name = version + " " + (corename ? corename() : "");
  if (library.threads) library.threads(1);
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

void multiply(const Rows& a, const Rows& b, double* c, std::int64_t stride) {
  assert(std::max({a.count, a.stride, b.count, b.stride, stride}) <= std::numeric_limits<int>::max());
  const auto narrow = [](std::int64_t x) { return static_cast<int>(x); };
  library().multiply(kRowMajor, kNoTranspose, kTranspose, narrow(a.count), narrow(b.count), narrow(a.depth),
                     1.0, a.data, narrow(a.stride), b.data, narrow(b.stride), 0.0, c, narrow(stride));
}

// Integers of at most 20 bits; rows and columns scaled by powers of two that cancel along the sum.
struct Probe {
  std::vector<std::int64_t> whole;
  std::vector<double> scaled;
};

int drawn_exponent(std::mt19937_64& random) { return static_cast<int>(random() % 120) - 60; }

Probe probe(std::int64_t size, const std::vector<int>& along, int sign, std::mt19937_64& random) {
  Probe p{std::vector<std::int64_t>(size * size), std::vector<double>(size * size)};
  for (std::int64_t i = 0; i < size; ++i) {
    const int scale = drawn_exponent(random);
    for (std::int64_t k = 0; k < size; ++k) {
      const auto value = static_cast<std::int64_t>(random() >> 43) - (1 << 20);
      p.whole[i * size + k] = value;
      p.scaled[i * size + k] = std::ldexp(static_cast<double>(value), scale + sign * along[k]);
    }
    // The first element is the row's scale itself, to be read back by the check.
    p.whole[i * size] = 1;
    p.scaled[i * size] = std::ldexp(1.0, scale + sign * along[0]);
  }
  return p;
}

}  // namespace

bool sums_exact_products(Dgemm candidate, std::int64_t size) {
  std::mt19937_64 random(20251121);
  std::vector<int> along(size);
  for (int& e : along) e = drawn_exponent(random);
  const Probe a = probe(size, along, 1, random), b = probe(size, along, -1, random);
  std::vector<double> c(size * size);
  candidate({a.scaled.data(), size, size, size}, {b.scaled.data(), size, size, size}, c.data(), size);
  for (std::int64_t sample = 0; sample < 16 * size; ++sample) {
    const std::int64_t i = static_cast<std::int64_t>(random() % size),
                       j = static_cast<std::int64_t>(random() % size);
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < size; ++k) sum += a.whole[i * size + k] * b.whole[j * size + k];
    const double unit = a.scaled[i * size] * b.scaled[j * size];
    if (c[i * size + j] != static_cast<double>(sum) * unit) return false;
  }
  return true;
}

Dgemm dgemm() {
  static const bool trusted = library().multiply && sums_exact_products(multiply, 320);
  return trusted ? multiply : nullptr;
}

std::string dgemm_name() {
  if (!library().multiply) return "no OpenBLAS";
  return library().name +
         (dgemm() ? ", sums exact products" : ", not trusted: its sums are not of exact products");
}

void dgemm_threads(int count) {
  if (library().threads) library().threads(count);
}

}  // namespace plumb
