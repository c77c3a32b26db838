#include <algorithm>

#include "reference/hlo/module/parse.h"

namespace plumb::hlo {
namespace {

constexpr int kDeepestSharding = 64;

Subgroup scan_subgroup(Scan& scan) {
  if (scan.take("replicated")) return Subgroup::replicated;
  if (scan.take("manual")) return Subgroup::manual;
  if (scan.take("unreduced")) return Subgroup::unreduced;
  scan.fail("expected replicated, manual or unreduced");
}

std::int64_t tiles(Scan& scan, const Integers& tile, std::size_t where) {
  std::int64_t n = 1;
  for (const std::int64_t size : tile) {
    if (size < 1 || n > kMostDevices / size) scan.fail("not a division into tiles", where);
    n *= size;
  }
  return n;
}

// "devices=[2,1,4]<=[8] last_tile_dim_replicate"
void scan_tiled(Scan& scan, Sharding& s) {
  s.spread = Spread::tiled;
  const std::size_t begin = scan.at;
  s.tile = scan.numbers('[', ']');
  s.order = scan_order(scan, tiles(scan, s.tile, begin));
  scan.spaces();
  if (scan.take("last_tile_dim_replicate")) {
    s.last = {Subgroup::replicated};
  } else if (scan.take("last_tile_dims={")) {
    s.last_by_name = true;
    do scan.spaces(), s.last.push_back(scan_subgroup(scan));
    while (scan.take(","));
    scan.expect("}");
  }
  if (s.last.size() > s.tile.size()) scan.fail("more kinds than tiles", begin);
}

// Whether two parts of an axis share a digit of it.
bool overlap(const AxisPart& a, const AxisPart& b) {
  return a.axis == b.axis && a.above < b.above * b.size && b.above < a.above * a.size;
}

}  // namespace

void check_once(Scan& scan, const Axes& axes, std::size_t where) {
  std::vector<AxisPart> all;
  for (const auto& dim : axes.dims) all.insert(all.end(), dim.begin(), dim.end());
  for (const auto* kind : {&axes.replicated, &axes.unreduced, &axes.manual})
    all.insert(all.end(), kind->begin(), kind->end());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (overlap(all[i], all[j])) scan.fail("an axis stands twice", where);
}

namespace {

// "mesh['a'=2,'b'=4], [{'a'}, {}], unreduced={'b'}"; {'a', ?} where the partitioner may divide it further
void scan_named(Scan& scan, Axes& axes) {
  const std::size_t begin = scan.at;
  axes.mesh = scan_mesh(scan);
  scan.expect(", ");
  if (scan.take("replicated")) axes.whole = Spread::replicated;
  if (scan.take("manual")) axes.whole = Spread::manual;
  if (axes.whole != Spread::named) return;
  scan.expect("[");
  while (!scan.take("]")) {
    if (!axes.dims.empty()) scan.expect(", ");
    axes.dims.push_back(scan_open(scan, axes.mesh));
  }
  while (scan.take(", ")) {
    const auto kind = scan.letters();
    auto* axes_of = kind == "replicated"  ? &axes.replicated
                    : kind == "unreduced" ? &axes.unreduced
                    : kind == "manual"    ? &axes.manual
                                          : nullptr;
    if (!axes_of) scan.fail("expected replicated, unreduced or manual", scan.at - kind.size());
    scan.expect("=");
    *axes_of = scan_axes(scan, axes.mesh);
  }
  check_once(scan, axes, begin);
}

bool take_plain(Scan& scan, Sharding& s) {
  static constexpr std::pair<std::string_view, Spread> kPlain[] = {
      {"replicated", Spread::replicated},
      {"manual",     Spread::manual    },
      {"unreduced",  Spread::unreduced },
      {"unknown",    Spread::unknown   }
  };
  for (const auto& [name, spread] : kPlain)
    if (scan.take(name)) return s.spread = spread, true;
  return false;
}

Sharding scan_sharding(Scan& scan, int depth) {
  Sharding s;
  if (depth == kDeepestSharding) scan.fail("shardings within shardings without end");
  scan.expect("{");
  scan.spaces();
  if (scan.next_is("{") || scan.next_is("}")) {
    s.spread = Spread::tuple;
    while (!scan.next_is("}")) {
      if (!s.parts.empty()) scan.expect(",");
      scan.spaces();
      s.parts.push_back(scan_sharding(scan, depth + 1));
    }
  } else if (scan.take("maximal device=")) {
    s.spread = Spread::maximal;
    s.device = scan.number("a device");
  } else if (scan.take("devices=")) {
    scan_tiled(scan, s);
  } else if (scan.next_is("mesh[")) {
    s.spread = Spread::named;
    scan_named(scan, s.axes);
  } else if (!take_plain(scan, s)) {
    scan.fail("expected a sharding");
  }
  if (const std::size_t begin = scan.at; !scan.next_is("}")) {
    const std::string_view more = scan.balanced("}");
    scan.unsupported("in a sharding: " + std::string(more.substr(0, 40)), begin);
  }
  scan.expect("}");
  return s;
}

}  // namespace

Sharding scan_sharding(Scan& scan) { return scan_sharding(scan, 0); }

}  // namespace plumb::hlo
