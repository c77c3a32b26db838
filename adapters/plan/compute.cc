#include "adapters/plan/compute.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "adapters/plan/grid.h"

namespace plumb {
namespace {

using Layout = std::map<char, std::vector<AxisId>>;

Product letters(const Case& c) {
  Product p;
  if (const auto* einsum = std::get_if<Einsum>(&c.op.kind)) {
    p.lhs = einsum->lhs, p.rhs = einsum->rhs, p.out = einsum->out;
    return p;
  }
  const auto& grouped = std::get<Grouped>(c.op.kind);
  const std::array<const char*, 3> names = grouped.form == Form::fwd     ? std::array{"tk", "gkn", "tn"}
                                           : grouped.form == Form::dgrad ? std::array{"tn", "gkn", "tk"}
                                                                         : std::array{"tk", "tn", "gkn"};
  p.lhs = names[0], p.rhs = names[1], p.out = names[2];
  p.grouped = true;
  p.rows = group_rows(grouped, c.op.operands[0].dims[0].size);
  return p;
}

struct Named {
  std::string letters;
  const Spec* spec;
};

// Each letter takes its axes from the first of `order` that splits it by axes still free.
Layout take(const std::vector<Named>& order, const std::string& whole) {
  Layout layout;
  AxisSet used = 0;
  for (const Named& named : order)
    for (std::size_t d = 0; d < named.letters.size(); ++d) {
      const char letter = named.letters[d];
      if (!layout[letter].empty() || whole.find(letter) != std::string::npos) continue;
      for (AxisId axis : named.spec->dims[d].axes)
        if (!has(used, axis)) layout[letter].push_back(axis);
      used |= set_of(layout[letter]);
    }
  return layout;
}

Spec lay(const std::string& letters, const Spec& like, const Layout& layout) {
  Spec spec{.dtype = like.dtype, .dims = {}, .unfinished = {}};
  for (std::size_t d = 0; d < letters.size(); ++d)
    spec.dims.push_back({like.dims[d].size, layout.at(letters[d])});
  return spec;
}

Product laid_out(const Case& c, Product p, const Layout& layout) {
  p.lhs_spec = lay(p.lhs, c.op.operands[0], layout);
  p.rhs_spec = lay(p.rhs, c.op.operands[1], layout);
  p.out_spec = lay(p.out, c.op.chain[0], layout);
  for (const auto& [letter, axes] : layout)
    if (p.out.find(letter) == std::string::npos)
      p.out_spec.unfinished.insert(p.out_spec.unfinished.end(), axes.begin(), axes.end());
  std::sort(p.out_spec.unfinished.begin(), p.out_spec.unfinished.end());
  return p;
}

std::string contracted(const Product& p) {
  std::string all;
  for (char letter : p.lhs + p.rhs)
    if (p.out.find(letter) == std::string::npos && all.find(letter) == std::string::npos) all += letter;
  return all;
}

std::int64_t moved_bytes(const Case& c, const Spec& from, const Spec& to) {
  const Volume v = volume(c.mesh, from, to, c.rule);
  return v.summed * format(c.wire).bytes + v.copied * format(to.dtype).bytes;
}

// What decides between two layouts: bytes moved, then the multiplications of a device.
std::tuple<std::int64_t, double> cost(const Case& c, const Product& p, const Layout& layout) {
  const std::int64_t bytes = moved_bytes(c, c.op.operands[0], p.lhs_spec) +
                             moved_bytes(c, c.op.operands[1], p.rhs_spec) +
                             moved_bytes(c, p.out_spec, c.op.chain[0]);
  double ways = 1;
  for (const auto& [letter, axes] : layout) ways *= static_cast<double>(axes_size(c.mesh, axes));
  return {bytes, -ways};
}

}  // namespace

std::optional<Product> product(const Case& c) {
  if (is_reshard(c)) return std::nullopt;
  const Product bare = letters(c);
  const std::vector<Named> all{
      {bare.lhs, &c.op.operands[0]},
      {bare.rhs, &c.op.operands[1]},
      {bare.out, &c.op.chain[0]   }
  };
  std::array<int, 3> order{0, 1, 2};
  std::vector<Layout> seen;
  std::optional<Product> best;
  std::tuple<std::int64_t, double> best_cost;
  do {
    for (const std::string& whole : {std::string(), contracted(bare)}) {
      const Layout layout = take({all[order[0]], all[order[1]], all[order[2]]}, whole);
      if (std::find(seen.begin(), seen.end(), layout) != seen.end()) continue;
      seen.push_back(layout);
      Product p = laid_out(c, bare, layout);
      const auto price = cost(c, p, layout);
      if (!best || price < best_cost) best = std::move(p), best_cost = price;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace plumb
