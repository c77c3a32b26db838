#include "adapters/protocol/reply_line.h"

#include <fmt/format.h>
#include <string.h>

#include <nlohmann/json.hpp>

#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"
#include "adapters/protocol/ranks.h"

namespace plumb {
namespace {

using Out = std::back_insert_iterator<fmt::memory_buffer>;

void write_reply(fmt::memory_buffer& line, std::int64_t id, const Unsupported& u, Arena&) {
  fmt::format_to(Out(line), R"({{"type":"unsupported","id":{},"reason":{},"source":{}}})", id,
                 json_text(u.reason), json_text(u.source));
}

void write_reply(fmt::memory_buffer& line, std::int64_t id, const Reneged& r, Arena&) {
  fmt::format_to(Out(line), R"({{"type":"reneged","id":{},"message":{},"detail":{}}})", id,
                 json_text(r.message), json_text(r.detail));
}

void write_reply(fmt::memory_buffer& line, std::int64_t id, const Refused& r, Arena&) {
  fmt::format_to(Out(line), R"({{"type":"refused","id":{},"message":{},"detail":{}}})", id,
                 json_text(r.message), json_text(r.detail));
}

// Where it waited is for whoever watches all ranks.
void write_reply(fmt::memory_buffer& line, std::int64_t id, const GivenUp& g, Arena&) {
  fmt::format_to(Out(line), R"({{"type":"hung","id":{},"message":{},"ranks":[],"at":{}}})", id,
                 json_text(std::string(g.what())), json_text(waits_in()));
}

void write_reply(fmt::memory_buffer& line, std::int64_t id, const Outcome& o, Arena& arena) {
  const std::vector<std::int64_t> words = table(o.blocks);
  const std::span<std::byte> place = arena.take(words.size() * sizeof words[0]);
  memcpy(place.data(), words.data(), place.size());
  fmt::format_to(Out(line),
                 R"({{"type":"result","id":{},"table":{{"offset":{},"rows":{},"bytes":{}}},"claims":[)", id,
                 arena.offset(place), o.blocks.size(), place.size());
  for (std::size_t i = 0; i < o.claims.size(); ++i)
    fmt::format_to(Out(line), "{}{}", i ? "," : "", o.claims[i] ? json_text(*o.claims[i]) : "null");
  fmt::format_to(Out(line), R"(],"trace":[)");
  for (std::size_t i = 0; i < o.trace.size(); ++i)
    fmt::format_to(Out(line), "{}{}", i ? "," : "", json_text(o.trace[i]));
  fmt::format_to(Out(line), R"(],"times":{{"compile":{},"run":[{}]}})", o.compile_seconds,
                 fmt::join(o.run_seconds, ","));
  if (o.received) fmt::format_to(Out(line), R"(,"received":{})", *o.received);
  if (!o.groups.empty()) fmt::format_to(Out(line), R"(,"groups":{})", dump(o.groups));
  if (!o.plan.result.empty())
    fmt::format_to(Out(line), R"(,"plan":{{"operands":{},"result":{}}})", dump(o.plan.operands),
                   dump(o.plan.result));
  if (!o.notes.empty()) fmt::format_to(Out(line), R"(,"notes":{})", dump(o.notes));
  line.push_back('}');
}

template <class One>
std::string line_of(std::int64_t id, const One& reply, Arena& arena) {
  fmt::memory_buffer line;
  const std::size_t blocks_end = arena.next;
  write_reply(line, id, reply, arena);
  send_written(blocks_end, arena.next - blocks_end);
  return fmt::to_string(line);
}

}  // namespace

std::string written(std::int64_t id, const Reply& reply, Arena& arena) {
  return std::visit([&](const auto& one) { return line_of(id, one, arena); }, reply);
}

std::string written(std::int64_t id, const Outcome& outcome, Arena& arena) {
  return line_of(id, outcome, arena);
}

}  // namespace plumb
