#include "reference/meaning/meaning.h"

namespace plumb {

std::vector<Tensor> shard(const Mesh& mesh, const Spec& spec, Rule rule, const Tensor& whole) {
  std::vector<Tensor> blocks;
  const std::int64_t n = devices(mesh);
  blocks.reserve(n);
  for (std::int64_t device = 0; device < n; ++device) {
    const Slice slice = block(mesh, spec, rule, device);
    std::vector<std::int64_t> sizes;
    for (const Range& range : slice) sizes.push_back(range.size());
    blocks.push_back(zeros(whole.dtype, std::move(sizes)));
    cut(whole.shape, slice, whole.bytes.data(), blocks.back().bytes.data(), format(whole.dtype).bytes);
  }
  return blocks;
}

}  // namespace plumb
