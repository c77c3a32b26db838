#include "adapters/liar/reply_faults.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "adapters/local/local.h"
#include "reference/words/text.h"

namespace plumb::liar {
namespace {

// The file that is mapped where the arena lies; empty where none is.
std::string arena_path(const Arena& arena) {
  const auto at = reinterpret_cast<std::uintptr_t>(arena.whole.data());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string rights, offset, device, inode, path;
    words >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode >> path;
    if (begin <= at && at < end) return path.starts_with('/') ? path : "";
  }
  return "";
}

}  // namespace

ReplyFault of_outcome(std::function<void(Outcome&)> fault) {
  return [fault = std::move(fault)](Reply reply, const Request&, Arena&) {
    if (auto* outcome = std::get_if<Outcome>(&reply)) fault(*outcome);
    return reply;
  };
}

Reply hang(Reply, const Request&, Arena&) {
  for (;;) ::pause();
}

Reply die(Reply, const Request&, Arena&) {
  std::fputs("liar: check failed: shape.rank() == tile.rank()\n", stderr);
  std::abort();
}

Reply leave(Reply, const Request&, Arena&) { std::_Exit(0); }

Reply babble(Reply reply, const Request&, Arena&) {
  const char* descriptor = std::getenv("PLUMB_REPLIES");
  constexpr std::string_view half = "{\"type\":\"result\",\n";
  if (descriptor && ::write(std::atoi(descriptor), half.data(), half.size()) < 0) std::abort();
  return reply;
}

Reply truncate_arena(Reply reply, const Request&, Arena& arena) {
  const std::string path = arena_path(arena);
  if (!path.empty() && ::truncate(path.c_str(), 0) != 0) std::abort();
  return reply;
}

Reply scribble(Reply reply, const Request& request, Arena&) {
  if (const auto& operand = request.operands[0].bytes; !operand.empty())
    const_cast<std::byte&>(operand.back()) ^= std::byte{1};
  return reply;
}

Reply renege(Reply, const Request&, Arena&) {
  return Reneged{"NotImplementedError: this layout", "raised after it was said to be possible"};
}

Reply refuse(Reply, const Request&, Arena&) { return Unsupported{"not today", "nowhere"}; }

namespace {

bool is_long(const Request& request) {
  const std::vector<Dim>& dims = request.c.op.operands[0].dims;
  return !dims.empty() && dims[0].size > 1000;
}

}  // namespace

Reply refuse_long(Reply reply, const Request& request, Arena& arena) {
  return is_long(request) ? refuse(std::move(reply), request, arena) : reply;
}

Reply renege_long(Reply reply, const Request& request, Arena& arena) {
  return is_long(request) ? renege(std::move(reply), request, arena) : reply;
}

Reply hang_on_long(Reply reply, const Request& request, Arena& arena) {
  return is_long(request) ? hang(std::move(reply), request, arena) : reply;
}

void lose_device(Outcome& o) {
  if (!o.blocks.empty()) o.blocks.pop_back();
}

void repeat_device(Outcome& o) {
  if (!o.blocks.empty()) o.blocks.push_back(o.blocks.front());
}

void share_block(Outcome& o) {
  if (o.blocks.size() > 1 && o.blocks[1].bytes == o.blocks[0].bytes) o.blocks[1].offset = o.blocks[0].offset;
}

void point_outside(Outcome& o) {
  if (!o.blocks.empty()) o.blocks.back().offset = std::uint64_t{1} << 62;
}

void point_at_operands(Outcome& o) {
  if (!o.blocks.empty()) o.blocks.back().offset = 0;
}

void lengthen_block(Outcome& o) {
  if (!o.blocks.empty()) o.blocks.front().bytes *= 2;
}

void undercount(Outcome& o) {
  if (!o.trace.empty() && o.trace[0].moved) *o.trace[0].moved /= 2;
}

void hide_collective(Outcome& o) {
  if (o.trace.empty()) return;
  if (o.received) *o.received -= o.trace.back().moved.value_or(0);
  o.trace.pop_back();
}

void move_nothing(Outcome& o) {
  o.trace.clear();
  o.received.reset();
}

void hide_behind_slices(Outcome& o) {
  move_nothing(o);
  o.claims.assign(o.claims.size(), std::nullopt);
}

void gather_nothing(Outcome& o) {
  for (Collective& c : o.trace) c.in = 0;
}

void lose_count(Outcome& o) {
  for (Collective& c : o.trace) c.moved = -1;
  o.received.reset();
}

Reply move_along_another(Reply reply, const Request& request, Arena&) {
  auto* outcome = std::get_if<Outcome>(&reply);
  if (!outcome) return reply;
  for (Collective& one : outcome->trace) {
    std::vector<std::string> others;
    for (const Axis& axis : request.c.mesh.axes)
      if (std::ranges::count(one.axes, axis.name) == 0) others.push_back(axis.name);
    if (!one.axes.empty() && !others.empty()) one.axes = others;
  }
  return reply;
}

Reply keep_on_one(Reply reply, const Request&, Arena&) {
  auto* outcome = std::get_if<Outcome>(&reply);
  if (!outcome) return reply;
  for (std::optional<std::string>& claim : outcome->claims) claim.reset();
  for (Block& block : outcome->blocks)
    if (block.device > 0) {
      block.bytes = 0;
      if (block.claim)
        block.claim->assign(block.claim->size(), {
                                                     Range{0, 0}
        });
    }
  return reply;
}

void invent_axis(Outcome& o) {
  for (Collective& c : o.trace)
    if (!c.axes.empty()) c.axes[0] += "_too";
}

Reply reduce_apart(Reply reply, const Request& request, Arena&) {
  auto* outcome = std::get_if<Outcome>(&reply);
  if (!outcome) return reply;
  Trace trace;
  for (const Collective& one : outcome->trace) {
    if (one.kind != "reduce-scatter" || one.axes.size() < 2) {
      trace.push_back(one);
      continue;
    }
    outcome->groups.push_back(one.axes);
    for (std::int64_t in = one.in; const std::string& axis : one.axes) {
      Collective& part = trace.emplace_back(one);
      part.axes = {axis}, part.moved.reset();
      part.in = in;
      part.out = in /= std::ranges::find(request.c.mesh.axes, axis, &Axis::name)->size;
    }
  }
  outcome->trace = std::move(trace);
  outcome->received.reset();
  return reply;
}

namespace {

// A spec without its axes.
std::string without_axes(std::string_view spec) {
  std::string plain;
  bool inside = true;
  for (char c : spec) {
    if (c == '@' || c == '+') inside = false;
    if (c == ',' || c == ']') inside = true;
    if (inside) plain += c;
  }
  return plain;
}

}  // namespace

void claim_otherwise(Outcome& o) {
  for (std::optional<std::string>& claim : o.claims) claim = without_axes(claim.value_or(""));
}

void claim_last_otherwise(Outcome& o) { o.claims.back() = without_axes(o.claims.back().value_or("")); }

void say_nothing(Outcome& o) {
  for (std::optional<std::string>& claim : o.claims) claim.reset();
  for (Block& block : o.blocks) block.claim.reset();
}

void swap_slices(Outcome& o) {
  for (std::size_t i = 1; i < o.blocks.size(); ++i)
    if (o.blocks[i].bytes == o.blocks[0].bytes && o.blocks[i].claim != o.blocks[0].claim)
      return std::swap(o.blocks[i].claim, o.blocks[0].claim);
}

ReplyFault keep_operands() {
  using Kept = std::vector<std::vector<std::byte>>;
  return [kept = std::make_shared<std::map<std::string, Kept>>()](Reply reply, const Request& request,
                                                                  Arena& arena) {
    std::string shapes;
    for (std::size_t i = 0; i < request.operands.size(); ++i) {
      (shapes += ' ') += format(request.c.op.operands[i].dtype).name;
      for (const std::int64_t size : request.operands[i].shape) (shapes += ',') += std::to_string(size);
    }
    const auto [first, is_new] = kept->try_emplace(shapes);
    for (const Operand& operand : request.operands)
      if (is_new) first->second.emplace_back(operand.bytes.begin(), operand.bytes.end());
    const auto* outcome = std::get_if<Outcome>(&reply);
    if (is_new || !outcome) return reply;
    Request old = request;
    for (std::size_t i = 0; i < old.operands.size(); ++i) old.operands[i].bytes = first->second[i];
    std::vector<std::byte> room(arena.next);
    Arena own{room};
    old.write = cutting(old.c, old.operands);
    local::Local other;
    other.prepare(old);
    const Reply stale = other.run(old, own);
    for (std::size_t i = 0; i < outcome->blocks.size(); ++i) {
      const Block &from = std::get<Outcome>(stale).blocks[i], &to = outcome->blocks[i];
      std::memcpy(arena.whole.data() + to.offset, room.data() + from.offset, to.bytes);
    }
    return reply;
  };
}

ReplyFault keep_answers() {
  using Blocks = std::vector<std::vector<std::byte>>;
  return [kept = std::make_shared<std::map<std::string, Blocks>>()](Reply reply, const Request& request,
                                                                    Arena& arena) {
    auto* outcome = std::get_if<Outcome>(&reply);
    if (!outcome) return reply;
    Case program = request.c;
    program.seed.reset();
    const auto [first, is_new] = kept->try_emplace(print(program));
    for (std::size_t i = 0; i < outcome->blocks.size(); ++i) {
      const std::span<std::byte> bytes =
          arena.whole.subspan(outcome->blocks[i].offset, outcome->blocks[i].bytes);
      if (is_new)
        first->second.emplace_back(bytes.begin(), bytes.end());
      else
        std::ranges::copy(first->second[i], bytes.begin());
    }
    return reply;
  };
}

ReplyFault change_reruns() {
  return [runs = std::make_shared<std::map<std::string, int>>()](Reply reply, const Request& request,
                                                                 Arena& arena) {
    auto* outcome = std::get_if<Outcome>(&reply);
    if (!outcome || ++(*runs)[print(request.c)] % 2 == 1) return reply;
    for (const Block& block : outcome->blocks)
      if (block.bytes > 0) {
        arena.whole[block.offset] ^= std::byte{1};
        break;
      }
    return reply;
  };
}

}  // namespace plumb::liar
