#include "adapters/plan/plan.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "adapters/plan/compute.h"
#include "adapters/plan/free_layout.h"
#include "adapters/plan/group_pruning.h"
#include "adapters/plan/submesh.h"

namespace plumb {
namespace {

using Route = std::vector<Spec>;

// The target as it is planned: where it is newly averaged every device gets the value itself, so that no
// part has to hold a multiple of it.
Spec copied_where_averaged(const Spec& from, Spec to) {
  const auto fresh = [&](AxisId axis) {
    return std::ranges::count(to.averaged, axis) > 0 && std::ranges::count(from.unfinished, axis) == 0;
  };
  std::erase_if(to.unfinished, fresh);
  return to;
}

std::vector<Leg> legs(const Case& c, const Route& route, Style style) {
  std::vector<Leg> all;
  for (std::size_t i = 0; i + 1 < route.size(); ++i) {
    const Spec to = copied_where_averaged(route[i], route[i + 1]);
    if (style == Style::direct) {
      all.push_back(direct(c.mesh, route[i], to, c.rule));
    } else {
      for (Leg& leg : (style == Style::ring ? ring : calls)(c.mesh, route[i], to, c.rule))
        all.push_back(std::move(leg));
    }
    all.back().to = route[i + 1];
  }
  return all;
}

// The layouts that each value of the case passes through: one route per operand, then the result's.
std::vector<Route> routes(const Case& c, const std::optional<LocalProduct>& product) {
  std::vector<Route> all;
  Route last;
  if (product) {
    all.push_back({c.op.operands[0], product->lhs_spec});
    all.push_back({c.op.operands[1], product->rhs_spec});
    last.push_back(product->out_spec);
  } else {
    all.push_back({c.op.operands[0]});
    last.push_back(c.op.operands[0]);
  }
  for (const Spec& next : c.op.chain)
    last.push_back(next.free ? free_layout(c.mesh, last.back(), c.rule) : next);
  all.push_back(std::move(last));
  return all;
}

// To every device.
Route gathered(const Spec& from) {
  Spec to = from;
  for (Dim& dim : to.dims) dim.axes.clear();
  return {from, std::move(to)};
}

// How many sends the route takes: what `direct` takes, and along axes that each device passes on as many
// cells as it has neighbours, or sends all its own to each of them. Not exact: `direct` sends each element
// at most once from every device, to be added up, and once to every device.
double sends(const Case& c, const Route& route, Style style, bool exact) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < route.size(); ++i) {
    sum += exact ? volume(c.mesh, route[i], route[i + 1], c.rule).sends
                 : 2 * static_cast<double>(elements(route[i])) * static_cast<double>(devices(c.mesh));
    if (style == Style::direct) continue;
    double hops =
        (style == Style::calls ? 1 : 2) * static_cast<double>(axes_size(c.mesh, route[i].unfinished));
    for (const Dim& dim : route[i].dims) hops += static_cast<double>(axes_size(c.mesh, dim.axes));
    sum += hops * static_cast<double>(devices(c.mesh));
  }
  return sum;
}

}  // namespace

std::optional<Style> style_named(std::string_view name) {
  if (name == "direct") return Style::direct;
  if (name == "ring") return Style::ring;
  if (name == "calls") return Style::calls;
  return std::nullopt;
}

Plan plan(const Case& whole, Style style, double most) {
  if (!whole.sub.empty())
    return in_every_slice(plan(slice_case(whole), style, most / static_cast<double>(slices(whole).size())),
                          whole);
  const Case c = quantizes(whole.op) ? in_codes(whole) : whole;
  Plan p{.mesh = c.mesh,
         .rule = c.rule,
         .acc = c.acc,
         .wire = c.wire,
         .operands = whole.op.operands,
         .inputs = {},
         .quantizers = {},
         .product = local_product(c),
         .legs = {}};
  for (int i = 0; i < std::ssize(whole.op.operands); ++i) p.quantizers.push_back(quantizer(whole, i));
  std::vector<Route> all = routes(c, p.product);
  if (whole.op.operands.size() == 3) all.insert(all.end() - 1, gathered(whole.op.operands[1]));
  const auto needed = [&](bool exact) {
    double sum = 0;
    for (const Route& route : all) sum += sends(c, route, style, exact);
    return sum;
  };
  if (needed(false) > most && needed(true) > most)
    throw std::length_error("a plan of " + std::to_string(static_cast<std::int64_t>(needed(true))) + " sends");
  for (std::size_t i = 0; i + 1 < all.size(); ++i) p.inputs.push_back(legs(c, all[i], style));
  p.legs = legs(c, all.back(), style);
  // A library sends what it was given.
  if (p.product && p.product->grouped && style != Style::calls) {
    for (int i : {0, 1}) spare(p, i, p.inputs[i]);
    spare_zeros(p, p.legs);
  }
  return p;
}

}  // namespace plumb
