#include "adapters/rank/at_best.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

namespace plumb {
namespace {

template <class T>
void multiply_plainly(const ProductSize& s, const T* a, const T* b, T* c) {
  if (multiply_by_blas(s, MatrixRows<const T>{a, s.k}, MatrixRows<const T>{b, s.n}, MatrixRows<T>{c, s.n}))
    return;
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t k = 0; k < s.k; ++k)
      for (std::int64_t j = 0; j < s.n; ++j) c[i * s.n + j] += a[i * s.k + k] * b[k * s.n + j];
}

// All on the same memory, which is large enough for each.
template <class T>
std::function<void()> products(const std::vector<ProductSize>& sizes) {
  std::int64_t a = 0, b = 0, c = 0;
  for (const ProductSize& s : sizes)
    a = std::max(a, s.m * s.k), b = std::max(b, s.k * s.n), c = std::max(c, s.m * s.n);
  const auto of = [](std::int64_t elements) { return drawn_like_blocks(elements * sizeof(T)); };
  return [sizes, left = of(a), right = of(b), sum = of(c)] {
    for (const ProductSize& s : sizes)
      multiply_plainly(s, reinterpret_cast<const T*>(left.get()), reinterpret_cast<const T*>(right.get()),
                       reinterpret_cast<T*>(sum.get()));
  };
}

// The rank that "link 0-1 2-3" puts opposite this one; itself where none.
int opposite(const std::string& links, int rank) {
  int a = 0, b = 0, read = 0;
  for (const char* at = links.c_str() + std::strlen("link"); std::sscanf(at, " %d-%d%n", &a, &b, &read) == 2;
       at += read)
    if (a == rank || b == rank) return a + b - rank;
  return rank;
}

}  // namespace

SharedMemory drawn_like_blocks(std::size_t bytes, const Hands& hands) {
  SharedMemory memory = aligned(bytes, hands);
  std::vector<std::uint32_t> words(bytes / sizeof(std::uint32_t) + 1);
  std::uint32_t random = 1;
  for (std::uint32_t& word : words)
    word = 0x3f803f80 | ((random = random * 1664525 + 1013904223) >> 8 & 0x007f007f);
  hands.memory.put(memory.get(), reinterpret_cast<const std::byte*>(words.data()), bytes);
  return memory;
}

std::function<void()> copy_in_memory(std::size_t bytes, const Holder& holder) {
  const Hands& hands = *holder.hands;
  return [=, &hands, from = drawn_like_blocks(bytes, hands), to = drawn_like_blocks(bytes, hands),
          n = holder.own.size()] {
    for (std::int64_t i = 0; i < n; ++i) hands.memory.copy(to.get(), from.get(), bytes);
    hands.memory.wait();
  };
}

std::optional<Neighbours> neighbours(const std::string& what, const Team& all) {
  const int n = static_cast<int>(all.ids.size()), mine = static_cast<int>(all.mine);
  if (what == "send") return Neighbours{(mine + 1) % n, (mine + n - 1) % n};
  if (!what.starts_with("link ")) return std::nullopt;
  const int other = opposite(what, mine);
  return Neighbours{other, other};
}

std::function<void()> plain_product(const Plan& plan, const Holder& holder) {
  const std::vector<ProductSize> sizes = plain_products(plan, holder);
  if (sizes.empty()) return nullptr;
  return plan.acc == DType::f64 ? products<double>(sizes) : products<float>(sizes);
}

std::function<void()> packing_alone(const Passage& passage, const Holder& holder) {
  if (passage.packings.empty()) return nullptr;
  return [&passage, wait = holder.hands->memory.wait] {
    for (const auto& one : passage.packings) one();
    wait();
  };
}

}  // namespace plumb
