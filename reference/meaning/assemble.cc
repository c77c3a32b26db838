#include <cassert>

#include "reference/meaning/meaning.h"

namespace plumb {

Tensor assemble(const Mesh& mesh, const Spec& spec, Rule rule, const std::vector<Tensor>& blocks) {
  assert(spec.unfinished.empty());
  assert(static_cast<std::int64_t>(blocks.size()) == devices(mesh));
  Tensor whole = zeros(spec.dtype, shape(spec));
  for (std::size_t device = 0; device < blocks.size(); ++device)
    paste(whole.shape, block(mesh, spec, rule, static_cast<std::int64_t>(device)),
          blocks[device].bytes.data(), whole.bytes.data(), format(spec.dtype).bytes);
  assert(shard(mesh, spec, rule, whole) == blocks);  // replicas agree
  return whole;
}

}  // namespace plumb
