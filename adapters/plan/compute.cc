#include "adapters/plan/compute.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "adapters/plan/free_layout.h"
#include "adapters/plan/group_pruning.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

using Layout = std::map<char, std::vector<AxisId>>;

LocalProduct bare_product(const Case& c) {
  const Letters words = letters(c.op);
  LocalProduct p;
  p.lhs = words.operand[0], p.rhs = words.operand[1], p.out = words.out;
  if (const auto* grouped = std::get_if<Grouped>(&c.op.kind)) {
    p.grouped = true;
    p.rows = group_rows(*grouped, c.op.operands[0].dims[0].size);
  }
  return p;
}

struct Named {
  std::string letters;
  const Spec* spec;
};

// Every way to give each axis to one of the letters that it splits in some spec, or to none, in the
// order in which the first of `order` that splits the letter by several of its axes has them.
struct Ways {
  std::vector<Named> specs;
  std::vector<std::string> letters;  // of each axis; a blank is none
  std::int64_t count = 1;
};

constexpr std::int64_t kMostWays = 4096;

Ways ways(const Case& c, const std::vector<Named>& specs) {
  Ways w{specs, std::vector<std::string>(c.mesh.axes.size(), " "), 1};
  for (const Named& named : specs)
    for (std::size_t d = 0; d < named.letters.size(); ++d)
      for (AxisId axis : named.spec->dims[d].axes)
        if (std::string& l = w.letters[axis]; l.find(named.letters[d]) == std::string::npos)
          if (w.count / std::ssize(l) * (std::ssize(l) + 1) <= kMostWays) {
            w.count = w.count / std::ssize(l) * (std::ssize(l) + 1);
            l += named.letters[d];
          }
  return w;
}

// The n-th way, with the axes of a letter in the order that they have in specs[first], or else in the
// next that has them.
Layout layout_of_way(const Ways& w, std::int64_t n, std::size_t first) {
  std::vector<char> letter(w.letters.size());
  for (std::size_t axis = 0; axis < letter.size(); ++axis) {
    letter[axis] = w.letters[axis][n % std::ssize(w.letters[axis])];
    n /= std::ssize(w.letters[axis]);
  }
  Layout layout;
  for (std::size_t i = 0; i < w.specs.size(); ++i) {
    const Named& named = w.specs[(first + i) % w.specs.size()];
    for (std::size_t d = 0; d < named.letters.size(); ++d) {
      std::vector<AxisId>& axes = layout[named.letters[d]];
      for (AxisId axis : named.spec->dims[d].axes)
        if (letter[axis] == named.letters[d] && std::find(axes.begin(), axes.end(), axis) == axes.end())
          axes.push_back(axis);
    }
  }
  return layout;
}

Spec lay(const std::string& letters, const Spec& like, const Layout& layout) {
  Spec spec{.dtype = like.dtype, .dims = {}, .unfinished = {}};
  for (std::size_t d = 0; d < letters.size(); ++d)
    spec.dims.push_back({like.dims[d].size, layout.at(letters[d])});
  return spec;
}

LocalProduct laid_out(const Case& c, LocalProduct p, const Layout& layout) {
  p.lhs_spec = lay(p.lhs, c.op.operands[0], layout);
  p.rhs_spec = lay(p.rhs, c.op.operands[1], layout);
  p.out_spec = lay(p.out, c.op.chain[0], layout);
  for (const auto& [letter, axes] : layout)
    if (p.out.find(letter) == std::string::npos)
      p.out_spec.unfinished.insert(p.out_spec.unfinished.end(), axes.begin(), axes.end());
  std::sort(p.out_spec.unfinished.begin(), p.out_spec.unfinished.end());
  return p;
}

// Bytes that it takes to bring a value from one layout to another, remembered.
struct Prices {
  const Case& c;
  std::map<std::vector<std::vector<AxisId>>, std::int64_t> known{};
};

std::vector<std::vector<AxisId>> key(int which, const Spec& spec, const Layout& layout) {
  std::vector<std::vector<AxisId>> all{{which}, spec.unfinished};
  for (const Dim& dim : spec.dims) all.push_back(dim.axes);
  // What a device needs of a grouped operand depends on its rows and groups.
  for (char letter : {'t', 'g'})
    if (layout.contains(letter)) all.push_back(layout.at(letter));
  return all;
}

constexpr double kMostSendsToTry = 1e6;

// What moves of an operand, or, beyond them, of the result.
Volume moved_elements(const Case& c, const LocalProduct& p, int which) {
  const Spec& next = c.op.chain[0];
  const Spec& from = which < 2 ? c.op.operands[which] : p.out_spec;
  const Spec to = which == 0   ? p.lhs_spec
                  : which == 1 ? p.rhs_spec
                  : next.free  ? free_layout(c.mesh, p.out_spec, c.rule)
                               : next;
  const Volume v = volume(c.mesh, from, to, c.rule);
  if (!p.grouped || v.sends > kMostSendsToTry) return v;
  Leg leg = direct(c.mesh, from, to, c.rule);
  const Plan one{.mesh = c.mesh, .rule = c.rule, .product = p};
  which < 2 ? spare(one, which, {&leg, 1}) : spare_zeros(one, {&leg, 1});
  Volume rest{.sends = v.sends};
  for (const Issued& issued : leg.issued) (issued.sums ? rest.summed : rest.copied) += issued.moved;
  return rest;
}

std::int64_t price(Prices& prices, const LocalProduct& p, int which, const Layout& layout) {
  const Case& c = prices.c;
  const Spec& spec = which == 0 ? p.lhs_spec : which == 1 ? p.rhs_spec : p.out_spec;
  const auto [known, fresh] = prices.known.try_emplace(key(which, spec, layout), 0);
  if (!fresh) return known->second;
  const Volume v = moved_elements(c, p, which);
  const DType of_sums = which < 2 ? spec.dtype : c.wire;
  return known->second = v.summed * format(of_sums).bytes + v.copied * format(spec.dtype).bytes;
}

// What decides between two layouts: bytes moved, then the multiplications of a device.
std::tuple<std::int64_t, double> cost(Prices& prices, const LocalProduct& p, const Layout& layout) {
  double split = 1;
  for (const auto& [letter, axes] : layout) split *= static_cast<double>(axes_size(prices.c.mesh, axes));
  return {price(prices, p, 0, layout) + price(prices, p, 1, layout) + price(prices, p, 2, layout), -split};
}

// Whether every piece of a cut is made of whole pieces of another of the same dimension.
bool made_of_pieces(const Case& c, const Dim& cut, const Dim& other) {
  const auto there = [&](AxisId axis) { return std::ranges::count(other.axes, axis) > 0; };
  if (cut.size % axes_size(c.mesh, other.axes) == 0 && std::ranges::all_of(cut.axes, there)) return true;
  std::set<std::int64_t> begins;
  for (std::int64_t i = 0; i < axes_size(c.mesh, other.axes); ++i)
    begins.insert(piece(c.mesh, other, c.rule, i).begin);
  for (std::int64_t i = 0; i < axes_size(c.mesh, cut.axes); ++i)
    if (!begins.contains(piece(c.mesh, cut, c.rule, i).begin)) return false;
  return true;
}

// Whether the result is added up of parts that are no sums of the case, on a wire that does not hold them. A
// result whose groups lie on several devices is one part and zeros; a contracted letter may be cut finer
// than either operand is.
bool rounds_on_the_way(const Case& c, const LocalProduct& p, const Layout& layout) {
  for (const auto& [letter, axes] : layout) {
    if (p.out.find(letter) != std::string::npos || axes_size(c.mesh, axes) == 1) continue;
    if (p.grouped && letter == 'g') {
      if (!holds(c.wire, p.out_spec.dtype)) return true;
      continue;
    }
    const auto cut_so = [&](const std::string& letters, const Spec& spec) {
      const std::size_t d = letters.find(letter);
      return d != std::string::npos && made_of_pieces(c, {spec.dims[d].size, axes}, spec.dims[d]);
    };
    if (format(c.wire).digits < format(c.acc).digits && !cut_so(p.lhs, c.op.operands[0]) &&
        !cut_so(p.rhs, c.op.operands[1]))
      return true;
  }
  return false;
}

}  // namespace

std::optional<LocalProduct> local_product(const Case& c) {
  if (is_reshard(c)) return std::nullopt;
  const LocalProduct bare = bare_product(c);
  const Ways w =
      ways(c, {
                  {bare.lhs, &c.op.operands[0]},
                  {bare.rhs, &c.op.operands[1]},
                  {bare.out, &c.op.chain[0]   }
  });
  std::set<Layout> seen;
  Prices prices{c};
  std::optional<LocalProduct> best;
  std::tuple<std::int64_t, double> best_cost;
  for (std::int64_t n = 0; n < w.count; ++n)
    for (std::size_t first = 0; first < w.specs.size(); ++first) {
      const Layout layout = layout_of_way(w, n, first);
      if (!seen.insert(layout).second) continue;
      LocalProduct p = laid_out(c, bare, layout);
      if (rounds_on_the_way(c, p, layout)) continue;
      const auto price = cost(prices, p, layout);
      if (!best || price < best_cost) best = std::move(p), best_cost = price;
    }
  return best;
}

}  // namespace plumb
