#include "harness/backend/reply.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "harness/backend/child.h"
#include "reference/words/text.h"

namespace plumb {

using nlohmann::json;

namespace {

// As many rows of words as ranks, at a place that the program says.
std::vector<std::vector<std::int64_t>> rows_at(std::uint64_t offset, std::int64_t ranks, std::size_t words,
                                               const ArenaFile& arena) {
  const std::size_t row = words * sizeof(std::int64_t);
  if (offset > arena.size() || row * ranks > arena.size() - offset)
    throw Malformed("the clocks lie outside the program's part of the arena");
  std::vector<std::vector<std::int64_t>> rows(ranks, std::vector<std::int64_t>(words));
  for (std::int64_t r = 0; r < ranks; ++r) {
    arena.read(offset + r * row, std::as_writable_bytes(std::span(rows[r])));
    if (std::ranges::count(rows[r], -1) == std::ssize(rows[r]))
      throw Malformed(fmt::format("the clock of rank {} is all ones: nothing was written there", r));
  }
  return rows;
}

std::uint64_t place_of(const json& clock, const char* what, const Asked& asked) {
  const auto offset = static_cast<std::uint64_t>(count(field(clock, what), fmt::format("clock.{}", what)));
  if (offset < asked.free) throw Malformed("the clocks lie outside the program's part of the arena");
  return offset;
}

}  // namespace

std::vector<Clocked> parse_clocks(const json& clock, const Asked& asked, const ArenaFile& arena) {
  const std::uint64_t offset = place_of(object(clock, "clock"), "offset", asked);
  const std::int64_t ranks = count(field(clock, "ranks"), "clock.ranks");
  if (ranks < 1 || ranks > devices(asked.c.mesh))
    throw Malformed(fmt::format("clocks of {} ranks, on {} devices", ranks, devices(asked.c.mesh)));
  std::vector<Clocked> clocks;
  for (const auto& row : rows_at(offset, ranks, words_of_a_clock(asked.iterations), arena))
    clocks.push_back(clock_from(row));
  if (optional_field(clock, "sights")) {
    const auto rows = rows_at(place_of(clock, "sights", asked), ranks, words_of_sights, arena);
    for (std::size_t r = 0; r < rows.size(); ++r) take_sights(clocks[r], rows[r]);
  }
  check_clocks(clocks, asked.agreed);
  Rates rates = rates_of(clocks);
  rates.insert(asked.rates.begin(), asked.rates.end());
  check_wall(clocks, rates, wall_since(asked.sent));
  return clocks;
}

namespace {

std::vector<Block> blocks_from(const json& table, const ArenaFile& arena, std::uint64_t free) {
  object(table, "table");
  const auto offset = static_cast<std::uint64_t>(count(field(table, "offset"), "the offset of the table"));
  const auto bytes = static_cast<std::uint64_t>(count(field(table, "bytes"), "the bytes of the table"));
  const std::int64_t rows = count(field(table, "rows"), "the rows of the table");
  if (bytes % sizeof(std::int64_t) != 0)
    throw Malformed(fmt::format("the table has {} bytes, not a multiple of 8", bytes));
  if (bytes > longest_message)
    throw Malformed(fmt::format("the table has {} bytes, more than 256 MiB", bytes));
  if (offset > arena.size() || bytes > arena.size() - offset)
    throw Malformed(fmt::format("the table lies outside the arena of {} bytes", arena.size()));
  if (bytes > 0 && offset < free)
    throw Malformed(
        fmt::format("the table lies among the operands, at {}; the program's part of the arena begins at {}",
                    offset, free));
  std::vector<std::int64_t> words(bytes / sizeof(std::int64_t));
  arena.read(offset, std::as_writable_bytes(std::span(words)));
  if (!words.empty() && std::ranges::count(words, -1) == std::ssize(words))
    throw Malformed(fmt::format("the table at {} is all ones: nothing was written there", offset));
  return parse_table(words, rows);
}

std::vector<std::optional<std::string>> claims_from(const json& j, const Asked& asked) {
  std::vector<std::optional<std::string>> out;
  for (const json& claim : list(j, "claims")) {
    out.emplace_back();
    if (claim.is_null()) continue;
    out.back() = text(claim, "a claim");
    // A plan may be wrong about layouts: the judge says so.
    if (asked.capabilities.plans_only && !is_resolve(asked.c)) continue;
    try {
      const Spec claimed = parse_spec(*out.back(), asked.c.mesh);
      if (claimed.free) throw Malformed("a claim leaves its layout open");
      if (claimed.scheme != Scheme::none) throw Malformed("a claim says a scheme, which is no layout");
    } catch (const BadInput& e) {
      throw Malformed(fmt::format("a claim is not a spec over the mesh: {:.150}: {}", dump(claim), without_excerpt(e)));
    }
  }
  if (const std::size_t n = results(asked.c).size(); out.size() != n)
    throw Malformed(fmt::format("{} for {}", counted(std::ssize(out), "claim"),
                                counted(static_cast<std::int64_t>(n), "result")));
  return out;
}

// A send of unknown bytes from anybody to anybody.
bool says_nothing(const Collective& c, const Mesh& mesh) {
  std::int64_t joined = c.axes.empty() && c.pairs.empty() && c.groups.empty() ? devices(mesh) : 1;
  for (const Axis& axis : mesh.axes) joined *= std::ranges::count(c.axes, axis.name) > 0 ? axis.size : 1;
  for (const auto& group : c.groups) joined = std::max<std::int64_t>(joined, std::ssize(group));
  return c.kind == "send" && c.in == 0 && c.out == 0 && c.moved.value_or(-1) < 0 && joined == devices(mesh);
}

// One that says nothing is as absent as one that is not there.
void take_trace(const json& reply, const Mesh& mesh, Outcome& o) {
  if (const json* said = optional_field(reply, "trace")) {
    for (const json& c : list(*said, "trace")) o.trace.push_back(collective_from_json(c));
    const auto nothing = [&](const Collective& c) { return says_nothing(c, mesh); };
    o.traced = o.trace.empty() || !std::ranges::all_of(o.trace, nothing);
    return;
  }
  o.traced = false;
  o.trace.push_back({.kind = "send", .moved = -1, .note = "no trace"});
  for (const Axis& axis : mesh.axes) o.trace[0].axes.push_back(axis.name);
}

Outcome outcome_from(const json& j, const Asked& asked, const ArenaFile& arena) {
  Outcome o;
  const json* table = optional_field(j, "table");
  if (!table && !asked.capabilities.plans_only) throw Malformed("field \"table\" is missing");
  if (table) o.blocks = blocks_from(*table, arena, asked.free);
  o.claims = claims_from(field(j, "claims"), asked);
  take_trace(j, asked.c.mesh, o);
  if (const json* times = optional_field(j, "times")) {
    object(*times, "times");
    if (const json* f = optional_field(*times, "compile")) o.compile_seconds = seconds(*f, "times.compile");
    if (const json* f = optional_field(*times, "run"))
      for (const json& s : list(*f, "times.run")) o.run_seconds.push_back(seconds(s, "times.run"));
  }
  if (asked.clocks) *asked.clocks = parse_clocks(field(j, "clock"), asked, arena);
  if (const json* f = optional_field(j, "received")) o.received = count(*f, "received");
  if (const json* f = optional_field(j, "notes")) o.notes = texts(*f, "notes");
  if (const json* f = optional_field(j, "plan"))
    o.plan = {texts(field(object(*f, "plan"), "operands"), "plan.operands"),
              text(field(*f, "result"), "plan.result")};
  if (const json* f = optional_field(j, "groups"))
    for (const json& axes : list(*f, "groups")) o.groups.push_back(texts(axes, "groups"));
  check_blocks(o.blocks, asked, arena.size());
  check_trace(o, asked.c.mesh);
  return o;
}

// A text that is not blank.
const std::string& words(const json& j, const char* name) {
  const std::string& said = text(field(j, name), name);
  if (said.find_first_not_of(" \t\r\n") == said.npos) throw Malformed(fmt::format("{} is empty", name));
  return said;
}

std::string optional_text(const json& j, const char* name) {
  const json* f = optional_field(j, name);
  return f ? text(*f, name) : "";
}

Hung hung_from(const json& j) {
  Hung hung;
  hung.what = words(j, "message");
  if (const json* f = optional_field(j, "ranks"))
    for (const json& rank : list(*f, "ranks")) hung.ranks.push_back(count(rank, "ranks"));
  if (const json* f = optional_field(j, "processes")) hung.processes = texts(*f, "processes");
  return hung;
}

}  // namespace

std::optional<Answer> parse_failed_start(const json& j) {
  const std::string& type = text(field(j, "type"), "type");
  if (type == "crashed") return Crashed{words(j, "message"), "", ""};
  if (type == "hung") return hung_from(j);
  return std::nullopt;
}

Answer parse_reply(const json& j, const Asked& asked, const ArenaFile& arena) {
  const std::string& type = text(field(j, "type"), "type");
  const std::int64_t id = integer(field(j, "id"), "id");
  if (id == asked.id - 1) throw Malformed(fmt::format("a second reply to request {}", id));
  if (id != asked.id) throw Malformed(fmt::format("a reply to request {}, not to {}", id, asked.id));
  if (type == "result") return outcome_from(j, asked, arena);
  if (type == "unsupported") return Unsupported{words(j, "reason"), optional_text(j, "source")};
  if (type == "refused" && is_resolve(asked.c))
    return Refused{words(j, "message"), optional_text(j, "detail")};
  if (type == "reneged") return Reneged{words(j, "message"), optional_text(j, "detail")};
  if (type == "crashed") return Crashed{words(j, "message"), "", ""};
  if (type == "hung") return hung_from(j);
  throw Malformed(fmt::format("unknown type \"{}\"", type));
}

}  // namespace plumb
