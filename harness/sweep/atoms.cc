#include "harness/sweep/atoms.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace plumb {
namespace {

using Holds = std::function<bool(const Sizes&)>;

struct Maker {
  const std::vector<Sizes>& meshes;
  std::vector<Atom> atoms;
  std::set<std::vector<bool>> seen;
  Atom::Kind kind = Atom::bound;

  // What holds everywhere or nowhere says nothing, and the simpler of two equal ones came first.
  void add(std::string text, const Holds& holds) {
    std::vector<bool> where;
    for (const Sizes& sizes : meshes) where.push_back(holds(sizes));
    const auto n = std::ranges::count(where, true);
    if (n == 0 || n == static_cast<std::ptrdiff_t>(where.size()) || !seen.insert(where).second) return;
    atoms.push_back({std::move(text), std::move(where), kind});
  }
};

// What a condition can be about: an axis, or all of them.
struct Subject {
  std::string name;
  std::function<std::int64_t(const Sizes&)> size;
};

std::set<std::int64_t> values(const std::vector<Sizes>& meshes, const Subject& s) {
  std::set<std::int64_t> all;
  for (const Sizes& sizes : meshes) all.insert(s.size(sizes));
  return all;
}

void add_orders(Maker& make, const Subject& s) {
  for (std::int64_t v : values(make.meshes, s)) {
    make.add(fmt::format("{} >= {}", s.name, v), [&s, v](const Sizes& m) { return s.size(m) >= v; });
    make.add(fmt::format("{} <= {}", s.name, v), [&s, v](const Sizes& m) { return s.size(m) <= v; });
  }
}

void add_equalities(Maker& make, const Subject& s) {
  for (std::int64_t v : values(make.meshes, s)) {
    make.add(fmt::format("{} = {}", s.name, v), [&s, v](const Sizes& m) { return s.size(m) == v; });
    make.add(fmt::format("{} != {}", s.name, v), [&s, v](const Sizes& m) { return s.size(m) != v; });
  }
}

void add_divisors(Maker& make, const Subject& s) {
  const std::set<std::int64_t> all = values(make.meshes, s);
  for (std::int64_t v = 2; !all.empty() && v <= std::min<std::int64_t>(*all.rbegin(), 64); ++v) {
    make.add(fmt::format("{} is a multiple of {}", s.name, v),
             [&s, v](const Sizes& m) { return s.size(m) % v == 0; });
    make.add(fmt::format("{} is no multiple of {}", s.name, v),
             [&s, v](const Sizes& m) { return s.size(m) % v != 0; });
  }
}

void add_pairs(Maker& make, const std::vector<Subject>& subjects) {
  for (const Subject& a : subjects)
    for (const Subject& b : subjects) {
      if (&a == &b) continue;
      make.add(fmt::format("{} > {}", a.name, b.name), [&](const Sizes& m) { return a.size(m) > b.size(m); });
      make.add(fmt::format("{} >= {}", a.name, b.name),
               [&](const Sizes& m) { return a.size(m) >= b.size(m); });
      make.add(fmt::format("{} = {}", a.name, b.name),
               [&](const Sizes& m) { return a.size(m) == b.size(m); });
      make.add(fmt::format("{} != {}", a.name, b.name),
               [&](const Sizes& m) { return a.size(m) != b.size(m); });
    }
}

}  // namespace

std::vector<Atom> atoms(const Mesh& mesh, const std::vector<Sizes>& meshes) {
  std::vector<Subject> axes;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i)
    axes.push_back({mesh.axes[i].name, [i](const Sizes& m) { return m[i]; }});
  const Subject devices{"the number of devices", [](const Sizes& m) {
                          return std::accumulate(m.begin(), m.end(), std::int64_t{1}, std::multiplies<>());
                        }};
  Maker make{meshes, {}, {}, Atom::bound};
  for (const Subject& axis : axes) add_orders(make, axis);
  make.kind = Atom::axis;
  for (const Subject& axis : axes) add_equalities(make, axis);
  for (const Subject& axis : axes) add_divisors(make, axis);
  make.kind = Atom::relation;
  add_orders(make, devices);
  add_pairs(make, axes);
  add_equalities(make, devices);
  add_divisors(make, devices);
  return std::move(make.atoms);
}

}  // namespace plumb
