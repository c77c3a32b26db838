#include "harness/select/per_device.h"

#include <algorithm>
#include <map>

#include "reference/words/text.h"

namespace plumb {
namespace {

// Dimensions of one letter are one; those of a reshard have their places as letters.
std::string letters_of(const Case& c, std::size_t spec) {
  if (const auto* e = std::get_if<Einsum>(&c.op.kind))
    return spec == 0 ? e->lhs : spec == 1 ? e->rhs : e->out;
  std::string all;
  for (std::size_t d = 0; d < c.op.operands[0].dims.size(); ++d) all += static_cast<char>('a' + d);
  return all;
}

template <class Visit>
void each_dimension(Case& c, Visit&& visit) {
  std::vector<Spec*> specs;
  for (Spec& spec : c.op.operands) specs.push_back(&spec);
  const std::size_t operands = specs.size();
  for (Spec& spec : c.op.chain) specs.push_back(&spec);
  for (std::size_t s = 0; s < specs.size(); ++s) {
    const std::string letters = letters_of(c, s < operands ? s : 2);
    for (std::size_t d = 0; d < specs[s]->dims.size(); ++d) visit(letters.at(d), specs[s]->dims[d]);
  }
}

}  // namespace

Case per_device(const Case& as_said) {
  Case c = as_said;
  if (!is_reshard(c) && !std::holds_alternative<Einsum>(c.op.kind))
    throw BadInput("--per-device: a device's share is known of reshards and einsums\n  " + print(c));
  std::map<char, std::int64_t> furthest;
  each_dimension(c, [&](char letter, const Dim& dim) {
    std::int64_t& most = furthest.try_emplace(letter, 1).first->second;
    most = std::max(most, axes_size(c.mesh, dim.axes));
  });
  each_dimension(c, [&](char letter, Dim& dim) { dim.size *= furthest.at(letter); });
  return c;
}

}  // namespace plumb
