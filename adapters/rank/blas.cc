#include "adapters/rank/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace plumb {
namespace {

// OpenBLAS's C interface, as far as it is used.
enum { kByRows = 101, kAsItIs = 111 };
template <class T>
using Gemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);

struct OpenBlas {
  Gemm<float> f32 = nullptr;
  Gemm<double> f64 = nullptr;
};

// There are as many processes as devices: each computes in one thread, and starts none.
OpenBlas open_blas() {
  ::setenv("OPENBLAS_NUM_THREADS", "1", 0);
  void* handle = nullptr;
  for (const char* path : {"$ORIGIN/../lib/libopenblas.so.0", "$ORIGIN/../lib/plumbline/libopenblas.so.0",
                           "$ORIGIN/../../lib/plumbline/libopenblas.so.0", PLUMB_OPENBLAS_PATH,
                           "libopenblas.so.0", "libopenblas.so"})
    if (!handle) handle = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return {};
  return {reinterpret_cast<Gemm<float>>(::dlsym(handle, "cblas_sgemm")),
          reinterpret_cast<Gemm<double>>(::dlsym(handle, "cblas_dgemm"))};
}

const OpenBlas& blas() {
  static const OpenBlas loaded = open_blas();
  return loaded;
}

bool is_worth_it(const ProductSize& s) {
  constexpr double least = 1 << 18;  // products of elements
  return static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) >= least;
}

template <class T>
bool run_gemm(Gemm<T> OpenBlas::*gemm, const ProductSize& s, MatrixRows<const T> a, MatrixRows<const T> b,
              MatrixRows<T> c) {
  if (!is_worth_it(s) || !(blas().*gemm)) return false;
  if (std::max({s.m, s.n, s.k, a.step, b.step, c.step}) > std::numeric_limits<int>::max()) return false;
  const auto narrow = [](std::int64_t n) { return static_cast<int>(n); };
  (blas().*gemm)(kByRows, kAsItIs, kAsItIs, narrow(s.m), narrow(s.n), narrow(s.k), 1, a.at, narrow(a.step),
                 b.at, narrow(b.step), 1, c.at, narrow(c.step));
  return true;
}

}  // namespace

bool multiply_by_blas(const ProductSize& s, MatrixRows<const float> a, MatrixRows<const float> b,
                      MatrixRows<float> c) {
  return run_gemm(&OpenBlas::f32, s, a, b, c);
}
bool multiply_by_blas(const ProductSize& s, MatrixRows<const double> a, MatrixRows<const double> b,
                      MatrixRows<double> c) {
  return run_gemm(&OpenBlas::f64, s, a, b, c);
}

}  // namespace plumb
