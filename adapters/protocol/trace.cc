// Collectives as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"

namespace plumb {

using nlohmann::json;

namespace {

constexpr std::array kinds = {"all-reduce", "reduce-scatter",     "all-gather",          "all-to-all",
                              "send",       "collective-permute", "collective-broadcast"};

std::int64_t times_from(const json& j) {
  const std::int64_t times = integer(j, "times");
  if (times < 1 || times > most_times)
    throw Malformed(fmt::format("times is not from 1 to {}: {}", most_times, times));
  return times;
}

}  // namespace

json to_json(const Collective& c) {
  json j = {
      {"kind", c.kind},
      {"in",   c.in  },
      {"out",  c.out }
  };
  if (!c.groups.empty()) j["groups"] = c.groups;
  if (!c.axes.empty()) j["axes"] = c.axes;
  if (!c.pairs.empty()) j["pairs"] = c.pairs;
  if (c.moved) j["moved"] = *c.moved;
  if (c.times != 1) j["times"] = c.times;
  if (!c.op.empty()) j["op"] = c.op;
  if (!c.dtype.empty()) j["dtype"] = c.dtype;
  if (!c.note.empty()) j["note"] = c.note;
  return j;
}

Collective collective_from_json(const json& j) {
  Collective c;
  c.kind = text(field(j, "kind"), "kind");
  if (std::find(kinds.begin(), kinds.end(), c.kind) == kinds.end())
    throw Malformed(fmt::format("unknown collective \"{}\"", c.kind));
  c.in = count(field(j, "in"), "in");
  c.out = count(field(j, "out"), "out");
  if (const json* groups = optional_field(j, "groups"))
    for (const json& group : list(*groups, "groups")) c.groups.push_back(integers(group, "a group"));
  if (const json* axes = optional_field(j, "axes")) c.axes = texts(*axes, "axes");
  if (const json* pairs = optional_field(j, "pairs"))
    for (const json& pair : list(*pairs, "pairs")) {
      const auto ends = integers(pair, "a pair");
      if (ends.size() != 2) throw Malformed("a pair is not [source, target]");
      c.pairs.emplace_back(ends[0], ends[1]);
    }
  if (const json* moved = optional_field(j, "moved"))
    c.moved = *moved == -1 ? -1 : count(*moved, "moved");  // -1: nobody knows
  if (const json* times = optional_field(j, "times")) c.times = times_from(*times);
  if (const json* op = optional_field(j, "op")) c.op = text(*op, "op");
  if (const json* dtype = optional_field(j, "dtype")) c.dtype = text(*dtype, "dtype");
  if (const json* note = optional_field(j, "note")) c.note = text(*note, "note");
  return c;
}

}  // namespace plumb
