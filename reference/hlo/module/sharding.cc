#include "reference/hlo/module/sharding.h"

#include <algorithm>
#include <numeric>

namespace plumb::hlo {
namespace {

Division whole(std::size_t rank, std::int64_t devices) {
  return {Integers(rank, 1), 1,
          std::vector<Share>(static_cast<std::size_t>(devices), {Integers(rank, 0), 0})};
}

std::optional<Division> tiled(const Sharding& s, std::size_t rank, std::int64_t devices) {
  if (s.tile.size() != rank + s.last.size()) return std::nullopt;
  const Integers ids = expand(s.order);
  if (std::ssize(ids) != devices) return std::nullopt;
  Division division = whole(rank, devices);
  std::copy_n(s.tile.begin(), rank, division.tiles.begin());
  for (std::size_t i = 0; i < s.last.size(); ++i)
    if (s.last[i] == Subgroup::unreduced) division.parts *= s.tile[rank + i];
  for (std::size_t p = 0; p < ids.size(); ++p) {
    Share& share = division.shares[static_cast<std::size_t>(ids[p])];
    auto left = static_cast<std::int64_t>(p);
    std::int64_t weight = 1;
    for (std::size_t i = s.tile.size(); i-- > 0; left /= s.tile[i]) {
      const std::int64_t digit = left % s.tile[i];
      if (i < rank)
        share.tile[i] = digit;
      else if (s.last[i - rank] == Subgroup::unreduced)
        share.part += digit * weight, weight *= s.tile[i];
    }
  }
  return division;
}

std::int64_t product(const std::vector<AxisPart>& parts) {
  std::int64_t n = 1;
  for (const AxisPart& part : parts) n *= part.size;
  return n;
}

std::optional<Division> named(const Axes& axes, std::size_t rank, std::int64_t devices) {
  if (axes.whole != Spread::named) return whole(rank, devices);
  if (axes.dims.size() != rank || size(axes.mesh) != devices) return std::nullopt;
  const Integers ids = expand(axes.mesh.devices), part = digits(axes.mesh, axes.unreduced);
  Division division = whole(rank, devices);
  division.parts = product(axes.unreduced);
  const auto device = [&](std::size_t p) { return ids.empty() ? p : static_cast<std::size_t>(ids[p]); };
  for (std::size_t p = 0; p < part.size(); ++p) division.shares[device(p)].part = part[p];
  for (std::size_t d = 0; d < rank; ++d) {
    const Integers tile = digits(axes.mesh, axes.dims[d]);
    division.tiles[d] = product(axes.dims[d]);
    for (std::size_t p = 0; p < tile.size(); ++p) division.shares[device(p)].tile[d] = tile[p];
  }
  return division;
}

bool has_manual(const Sharding& s) {
  return s.spread == Spread::manual || std::ranges::count(s.last, Subgroup::manual) > 0 ||
         s.axes.whole == Spread::manual || !s.axes.manual.empty();
}

}  // namespace

std::optional<Division> divide(const Sharding& s, std::size_t rank, std::int64_t devices) {
  return has_manual(s) ? std::nullopt : divide_within(s, rank, devices);
}

std::optional<Division> divide_within(const Sharding& s, std::size_t rank, std::int64_t devices) {
  switch (s.spread) {
    case Spread::replicated:
    case Spread::manual:
      return whole(rank, devices);
    case Spread::unreduced: {
      Division division = whole(rank, devices);
      division.parts = devices;
      for (std::size_t d = 0; d < division.shares.size(); ++d)
        division.shares[d].part = static_cast<std::int64_t>(d);
      return division;
    }
    case Spread::tiled:
      return tiled(s, rank, devices);
    case Spread::named:
      return named(s.axes, rank, devices);
    default:
      return std::nullopt;
  }
}

Integers manual_places(const Sharding& s, std::int64_t devices) {
  Integers places(static_cast<std::size_t>(devices), 0);
  if (s.spread == Spread::manual || s.axes.whole == Spread::manual) {
    std::iota(places.begin(), places.end(), 0);
  } else if (s.spread == Spread::tiled) {
    const Integers ids = expand(s.order);
    for (std::size_t p = 0; p < std::min(ids.size(), places.size()); ++p) {
      auto left = static_cast<std::int64_t>(p);
      std::int64_t& place = places.at(static_cast<std::size_t>(ids[p]));
      std::int64_t weight = 1;
      for (std::size_t i = s.tile.size(), first = i - s.last.size(); i-- > first; left /= s.tile[i])
        if (s.last[i - first] == Subgroup::manual) place += left % s.tile[i] * weight, weight *= s.tile[i];
    }
  } else if (s.spread == Spread::named && !s.axes.manual.empty()) {
    const Integers ids = expand(s.axes.mesh.devices), digit = digits(s.axes.mesh, s.axes.manual);
    for (std::size_t p = 0; p < digit.size() && p < places.size(); ++p)
      places.at(ids.empty() ? p : static_cast<std::size_t>(ids[p])) = digit[p];
  }
  return places;
}

namespace {

std::string print(const Mesh& mesh, const std::vector<AxisPart>& parts) {
  std::string text;
  for (const AxisPart& part : parts) text += (text.empty() ? "" : ", ") + print(mesh, part);
  return "{" + text + "}";
}

std::string print(const Axes& axes) {
  std::string text = "{" + print(axes.mesh);
  if (axes.whole != Spread::named)
    return text + (axes.whole == Spread::manual ? ", manual}" : ", replicated}");
  std::string dims;
  for (const auto& dim : axes.dims) dims += (dims.empty() ? "" : ", ") + print(axes.mesh, dim);
  text += ", [" + dims + "]";
  if (!axes.replicated.empty()) text += ", replicated=" + print(axes.mesh, axes.replicated);
  if (!axes.unreduced.empty()) text += ", unreduced=" + print(axes.mesh, axes.unreduced);
  if (!axes.manual.empty()) text += ", manual=" + print(axes.mesh, axes.manual);
  return text + "}";
}

std::string print_tiled(const Sharding& s) {
  std::string tile = print_list(s.tile),
              text = "{devices=[" + tile.substr(1, tile.size() - 2) + "]" + print(s.order);
  if (s.last.empty()) return text + "}";
  if (!s.last_by_name) return text + " last_tile_dim_replicate}";
  std::string names;
  for (const Subgroup kind : s.last)
    names += std::string(names.empty() ? "" : ", ") + (kind == Subgroup::manual      ? "manual"
                                                       : kind == Subgroup::unreduced ? "unreduced"
                                                                                     : "replicated");
  return text + " last_tile_dims={" + names + "}}";
}

}  // namespace

std::string print(const Sharding& s) {
  switch (s.spread) {
    case Spread::replicated:
      return "{replicated}";
    case Spread::manual:
      return "{manual}";
    case Spread::unreduced:
      return "{unreduced}";
    case Spread::unknown:
      return "{unknown}";
    case Spread::maximal:
      return "{maximal device=" + std::to_string(s.device) + "}";
    case Spread::tiled:
      return print_tiled(s);
    case Spread::named:
      return print(s.axes);
    case Spread::tuple:
      break;
  }
  std::string text;
  for (std::size_t i = 0; i < s.parts.size(); ++i) {
    text += i == 0 ? "" : ", ";
    if (i > 0 && i % 5 == 0) text += "/*index=" + std::to_string(i) + "*/";
    text += print(s.parts[i]);
  }
  return "{" + text + "}";
}

}  // namespace plumb::hlo
