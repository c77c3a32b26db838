#include "reference/meaning/resolve.h"

#include <fmt/format.h>

#include <algorithm>

namespace plumb {
namespace {

using Names = std::vector<std::string>;

bool has(const Names& list, const std::string& word) { return std::ranges::find(list, word) != list.end(); }

// What each dimension has been given: nothing yet, or axes.
struct Given {
  const Case& c;
  const Resolve& op;
  const Policy& policy;
  std::vector<std::optional<Names>> dims;
  Names taken;
  std::vector<Tried> tried;

  const Axis* axis(const std::string& name) const {
    const auto at = std::ranges::find(c.mesh.axes, name, &Axis::name);
    return at == c.mesh.axes.end() ? nullptr : &*at;
  }
  // Whether giving the axis twice is a conflict.
  bool counts(const std::string& name) const {
    const Axis* found = axis(name);
    return policy.unit_axes_taken || !found || found->size > 1;
  }
};

void offer(Given& g, std::size_t r, std::size_t dim) {
  const AxisRule& rule = g.op.rules[r];
  if (g.dims[dim]) return g.tried.push_back({Tried::settled, r, dim, ""});
  if (rule.axes.empty() && g.policy.empty_passes) return;
  Names axes = rule.axes;
  const auto in_use = [&](const std::string& axis) { return g.counts(axis) && has(g.taken, axis); };
  const auto first = std::ranges::find_if(axes, in_use);
  if (first != axes.end() && !g.policy.many_times) {
    g.tried.push_back({Tried::taken, r, dim, *first});
    if (!g.policy.parts_of_tuples) return;
    std::erase_if(axes, in_use);
    if (axes.empty()) return;
  }
  g.tried.push_back({Tried::given, r, dim, ""});
  g.taken.insert(g.taken.end(), axes.begin(), axes.end());
  g.dims[dim] = std::move(axes);
}

// Whether a later rule of the same name replaces this one.
bool replaced(const Resolve& op, std::size_t rule) {
  return std::ranges::any_of(op.rules.begin() + static_cast<std::ptrdiff_t>(rule) + 1, op.rules.end(),
                             [&](const AxisRule& later) { return later.name == op.rules[rule].name; });
}

void give(Given& g) {
  const std::size_t dims = g.op.names.size(), rules = g.op.rules.size();
  const std::size_t outer = g.policy.by_dimension ? dims : rules, inner = dims + rules - outer;
  for (std::size_t i = 0; i < outer; ++i)
    for (std::size_t j = 0; j < inner; ++j) {
      const std::size_t rule = g.policy.by_dimension ? j : i, dim = g.policy.by_dimension ? i : j;
      if (g.op.names[dim] != g.op.rules[rule].name) continue;
      if (g.policy.last_rule && replaced(g.op, rule)) continue;
      offer(g, rule, dim);
    }
  for (std::size_t d = 0; d < dims; ++d) {
    if (g.dims[d]) continue;
    const bool ruled = std::ranges::any_of(g.op.rules, [&](auto& r) { return r.name == g.op.names[d]; });
    const bool axis = g.policy.unknown_is_axis || (g.policy.bare_names && g.op.rules.empty());
    const bool passed = axis && !g.op.names[d].empty() && !ruled;
    g.dims[d] = passed ? Names{g.op.names[d]} : Names{};
  }
}

// The axes as a spec, or what is wrong with them. An axis of size 1 stands where it came first.
Resolved laid_out(const Given& g) {
  Resolved out{g.c.op.chain.front(), "", g.tried};
  Names seen;
  const auto fail = [&](std::string why) {
    out.spec.reset();
    out.error = std::move(why);
    return out;
  };
  for (std::size_t d = 0; d < g.dims.size(); ++d) {
    Names here;
    for (const std::string& name : *g.dims[d]) {
      const Axis* axis = g.axis(name);
      if (!axis && g.policy.strays_dropped) continue;
      if (axis && axis->size == 1 && g.policy.unit_axes_dropped) continue;
      if (!axis) return fail(fmt::format("the mesh has no axis '{}'", name));
      if (has(here, name)) return fail(fmt::format("axis '{}' stands twice in one value", name));
      here.push_back(name);
      const bool again = has(seen, name);
      if (again && (g.counts(name) || g.policy.many_times))
        return fail(fmt::format("axis '{}' is given to two dimensions", name));
      if (!again) out.spec->dims[d].axes.push_back(static_cast<AxisId>(axis - g.c.mesh.axes.data()));
    }
    seen.insert(seen.end(), here.begin(), here.end());
  }
  return out;
}

}  // namespace

Resolved resolved(const Case& c, const Policy& policy) {
  const Resolve& op = std::get<Resolve>(c.op.kind);
  for (const std::string& name : op.names)
    if (!name.empty() && std::ranges::count(op.names, name) > 1 && !policy.names_repeat)
      return {std::nullopt, fmt::format("the name '{}' stands twice", name), {}};
  Given given{c, op, policy, std::vector<std::optional<Names>>(op.names.size()), {}, {}};
  give(given);
  return laid_out(given);
}

Spec without_unit_axes(const Mesh& mesh, Spec spec) {
  for (Dim& dim : spec.dims)
    std::erase_if(dim.axes, [&](AxisId axis) { return mesh.axes[axis].size == 1; });
  return spec;
}

namespace {

constexpr PolicyChange all_changes[] = {
    {&Policy::unit_axes_taken,   "unit_axes_taken",   "an axis of size 1 counts as taken"          },
    {&Policy::unit_axes_dropped, "unit_axes_dropped", "an axis of size 1 is left out"              },
    {&Policy::last_rule,         "last_rule",         "the last rule of a name wins"               },
    {&Policy::bare_names,        "bare_names",        "without rules, names are taken for axes"    },
    {&Policy::unknown_is_axis,   "unknown_is_axis",   "a name without a rule is taken for an axis" },
    {&Policy::many_times,        "many_times",        "axes already given are given again"         },
    {&Policy::strays_dropped,    "strays_dropped",    "an axis that the mesh lacks is dropped"     },
    {&Policy::names_repeat,      "names_repeat",      "a name may stand twice"                     },
    {&Policy::empty_passes,      "empty_passes",      "a value without axes is passed over"        },
    {&Policy::parts_of_tuples,   "parts_of_tuples",   "of several axes, those still free are given"},
    {&Policy::by_dimension,      "by_dimension",      "dimensions choose in their order"           },
};

}  // namespace

std::span<const PolicyChange> policy_changes() { return all_changes; }

std::string policy_in_words(const Policy& policy) {
  std::string text;
  for (const PolicyChange& f : all_changes)
    if (policy.*f.flag) text += (text.empty() ? "" : ", ") + std::string(f.words);
  return text;
}

int changes(const Policy& p) {
  return static_cast<int>(
      std::ranges::count_if(all_changes, [&](const PolicyChange& f) { return p.*f.flag; }));
}

const std::vector<Policy>& other_policies() {
  static const std::vector<Policy> all = [] {
    std::vector<Policy> policies;
    constexpr unsigned count = 1U << std::size(all_changes);
    for (unsigned set = 1; set < count; ++set) {
      Policy& policy = policies.emplace_back();
      for (std::size_t i = 0; i < std::size(all_changes); ++i)
        policy.*all_changes[i].flag = (set >> i & 1) != 0;
    }
    std::ranges::stable_sort(policies, {}, &changes);
    return policies;
  }();
  return all;
}

}  // namespace plumb
