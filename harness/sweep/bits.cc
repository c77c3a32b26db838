#include "harness/sweep/bits.h"

#include <fmt/format.h>

namespace plumb {
namespace {

std::int64_t different(const Tensor& a, const Tensor& b) {
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < elements(a.shape); ++i) n += bits(a, i) != bits(b, i);
  return n;
}

}  // namespace

std::string bits_in_words(const std::vector<Made>& all) {
  if (all.size() < 2) return "";
  const Made& first = all.front();
  std::string text;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Made& one = all[i];
    if (one.data != first.data) {
      text += fmt::format("{}: not compared with {}, for its data are others\n", one.mesh, first.mesh);
    } else if (const std::int64_t n = different(first.result, one.result); n > 0) {
      text += fmt::format("{}: {} of {} elements have other bits than on {}\n", one.mesh, n,
                          elements(first.result.shape), first.mesh);
    }
  }
  return text.empty() ? fmt::format("the same bits on all {} meshes\n", all.size()) : text;
}

}  // namespace plumb
