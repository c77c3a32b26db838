#include "adapters/protocol/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/malformed.h"

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

// Both or neither, and of what adds up.
void take_order(const json& j, Collective& c) {
  const json *additions = optional_field(j, "additions"), *roundings = optional_field(j, "roundings");
  if (!additions && !roundings) return;
  if (!additions || !roundings) throw Malformed("additions and roundings stand together");
  if (c.kind != "all-reduce" && c.kind != "reduce-scatter")
    throw Malformed(fmt::format("additions of a collective that adds nothing up, {}", c.kind));
  c.additions = count(*additions, "additions"), c.roundings = count(*roundings, "roundings");
  if (c.additions == 0 || c.roundings == 0) throw Malformed("additions and roundings are from 1 on");
}

// Who has none leaves it out.
std::string word(const json& j, const char* what) {
  const std::string& said = text(j, what);
  if (said.empty()) throw Malformed(fmt::format("{} is empty", what));
  return said;
}

// Of thousands of groups in large meshes.
std::string groups_text(const std::vector<std::vector<std::int64_t>>& groups) {
  std::string text = "[";
  for (const auto& group : groups) text += fmt::format("[{}],", fmt::join(group, ","));
  text.back() = ']';
  return text;
}

}  // namespace

std::string json_text(const Collective& c) {
  Members m;
  if (c.roundings > 0) m.add("additions", c.additions);
  if (!c.axes.empty()) m.add("axes", dump(c.axes));
  if (!c.dtype.empty()) m.add("dtype", json_text(c.dtype));
  if (!c.groups.empty()) m.add("groups", groups_text(c.groups));
  m.add("in", c.in);
  m.add("kind", json_text(c.kind));
  if (c.moved) m.add("moved", *c.moved);
  if (!c.note.empty()) m.add("note", json_text(c.note));
  if (!c.op.empty()) m.add("op", json_text(c.op));
  m.add("out", c.out);
  if (!c.pairs.empty()) m.add("pairs", dump(c.pairs));
  if (c.roundings > 0) m.add("roundings", c.roundings);
  if (c.times != 1) m.add("times", c.times);
  return std::move(m).whole();
}

json to_json(const Collective& c) { return parse_json(json_text(c)); }

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
  take_order(j, c);
  if (const json* op = optional_field(j, "op")) c.op = word(*op, "op");
  if (const json* dtype = optional_field(j, "dtype")) c.dtype = word(*dtype, "dtype");
  if (const json* note = optional_field(j, "note")) c.note = text(*note, "note");
  return c;
}

}  // namespace plumb
