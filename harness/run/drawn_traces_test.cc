// Law: what each check says of a trace stays what it is, also where another check speaks first.
// golden/traces.txt has drawn lines; of each the trace of an honest reply is changed in many ways.
#include <gtest/gtest.h>

#include <numeric>

#include "harness/judge/contradiction.h"
#include "harness/run/testing/backends.h"
#include "harness/run/testing/said.h"
#include "harness/run/testing/trace_changes.h"
#include "harness/trace/executed.h"
#include "harness/trace/infer_layout.h"
#include "harness/trace/lower_bound.h"
#include "harness/trace/multiplied.h"
#include "harness/trace/needs.h"
#include "harness/trace/reachability.h"
#include "harness/trace/replica_safe.h"
#include "harness/trace/slices.h"
#include "harness/trace/split.h"
#include "harness/trace/steps.h"
#include "harness/trace/traffic.h"
#include "harness/trace/untrue.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/testing/pins.h"

namespace plumb {
namespace {

std::string listed(const std::vector<Slice>& slices) {
  std::string text;
  for (const Slice& slice : slices) text += print(slice);
  return text;
}

// Of the line and its blocks, whatever was moved.
std::string said_of_blocks(const Case& c, const Outcome& o) {
  std::string text;
  for (std::size_t r = 0; r < results(c).size(); ++r) {
    const std::vector<Slice> held = held_slices(c, o, r);
    text += fmt::format("{} {}\n", listed(held), is_constant(c, r));
    for (const Slice& slice : held)
      for (int i = 0; i < std::ssize(c.op.operands); ++i) text += listed(needed(c.op, r, i, slice)) + ";";
    if (r == 0) text += fmt::format("\n{}\n", fmt::join(fewest_received(c, held), ","));
  }
  const auto layout = is_quantize(c) ? std::nullopt : layout_of_slices(c, o);
  return text + (layout ? print(c.mesh, *layout) : "no layout") + "\n";
}

std::string said(const Trace& trace) {
  std::string text;
  for (const Collective& one : trace) {
    text += fmt::format("  {} over {} {}", one.kind, fmt::join(one.axes, "."), one.op);
    for (const auto& group : one.groups) text += fmt::format(" ({})", fmt::join(group, ","));
    for (const auto& [from, to] : one.pairs) text += fmt::format(" {}>{}", from, to);
    text +=
        fmt::format(" {} {} {} times {} {}\n", one.in, one.out, one.moved.value_or(-7), one.times, one.dtype);
  }
  return text;
}

// Between the ends of a reshard, or of the operands of an einsum where they lie.
std::string executed(const Case& c, const Trace& trace) {
  if (result(c).free) return "";
  if (is_reshard(c)) {
    const auto lacks = lack(Move{c.mesh, c.op.operands[0], result(c), c.rule}, trace);
    return fmt::format("{}\n{}\n", lacks ? lack_in_words(c.mesh, *lacks) : "no lack",
                       not_made(execution(c, c.op.operands[0], result(c)), trace).value_or("too much"));
  }
  if (!std::holds_alternative<Einsum>(c.op.kind) || quantizes(c.op)) return "";
  std::vector<Spec> operands;
  for (const Spec& operand : c.op.operands) operands.push_back(finished(operand));
  const std::size_t before = std::ranges::find_if(trace, reduces) - trace.begin();
  const auto steps = std::span(trace);
  const Layouts at{operands, result(c), before};
  return operands_not_met(c, at, steps.first(before)).value_or("too much") + "\n" +
         product_not_made(c, at, steps.subspan(before)).value_or("too much") + "\n";
}

std::string said(const Case& c, const Outcome& o) {
  const auto doubt = contradiction(c, o);
  const Collectives found = collectives_of(c, o);
  const Cost moves = cost(c, o);
  std::string text =
      said(o.trace) +
      fmt::format("{}\n{}\n{}\n{}\n{} {} {}\n", misfit(c.mesh, o.trace), untrue(c, o.trace, true),
                  is_reshard(c) && !result(c).free
                      ? received_too_little(c, fewest_received(c, held_slices(c, o, 0)), o.trace)
                      : "",
                  fmt::join(most_received(c.mesh, o.trace), ","), moves.moved, moves.bound, moves.best_known);
  text += fmt::format("{} {} {}\n", found.issued, found.merged, fmt::join(found.could, "; "));
  if (const auto safe = replica_safe(c, o.trace)) text += fmt::format("safe {}\n", *safe);
  if (!is_quantize(c))
    text += fmt::format("{} {}\n", another_split(c, o.trace), fmt::join(joined_axes(c.mesh, o.trace), ","));
  return text + executed(c, o.trace) + (doubt ? doubt->text : "no doubt") + "\n";
}

// A few that have to do with the line: what is done to a block along axes.
Trace plausible(Random& random, const Case& c) {
  Trace trace;
  const std::int64_t size = largest_block_bytes(c.mesh, c.op.operands[0], c.rule);
  std::int64_t held = size;
  for (std::int64_t n = 1 + random.below(3); n > 0; --n) {
    Collective one;
    one.kind = random.of(std::vector{"all-gather", "all-reduce", "reduce-scatter", "all-to-all",
                                     "collective-permute", "collective-broadcast"});
    draw_members(random, c.mesh, one);
    std::int64_t of = 1;
    for (const std::string& axis : one.axes) of *= std::ranges::find(c.mesh.axes, axis, &Axis::name)->size;
    for (const auto& group : one.groups) of = std::max<std::int64_t>(of, std::ssize(group));
    const std::int64_t before = held;
    if (one.kind == "all-gather") held *= of;
    if (one.kind == "reduce-scatter") held = (held + of - 1) / of;
    one.in = before, one.out = held;
    trace.push_back(one);
  }
  return trace;
}

std::string said_of_traces(Backends& backends, const std::string& name) {
  const std::size_t space = name.find(' ');
  const Case c = parse_case(name.substr(space + 1));
  const Attempts honest = ask(c, backends.named(name.substr(0, space)), {});
  const auto* outcome = std::get_if<Outcome>(&honest.first.answer);
  if (!outcome) return "no outcome";
  Random random{std::mt19937_64(fnv(name))};
  std::string text = said_of_blocks(c, *outcome) + said(c, *outcome);
  for (int i = 0; i < 24; ++i) {
    Outcome o = *outcome;
    o.received.reset();  // it was of another trace
    if (i % 4 == 3) o.trace = plausible(random, c);
    for (std::int64_t n = i % 8 == 3 ? 0 : 1 + random.below(2); n > 0; --n) change_trace(random, c, o.trace);
    for (std::int64_t n = random.below(5); n > 0; --n) o.groups.push_back(draw_axes(random, c.mesh));
    text += said(c, o);
  }
  return text;
}

std::vector<std::string> drawn_traces() {
  std::vector<std::string> names;
  Random random{std::mt19937_64(6)};
  while (names.size() < 700) {
    const Case c = draw_to_run(random);
    if (names.size() % 4 && !is_regular(c)) continue;
    names.push_back((names.size() % 2 ? "local " : "local,plan=ring ") + print(c));
  }
  return names;
}

TEST(Traces, OfWhatIsChangedIsSaidWhatWasSaid) {
  Backends backends;
  expect_pinned(PLUMB_GOLDEN "/traces.txt", drawn_traces,
                [&](const std::string& name) { return said_of_traces(backends, name); });
}

}  // namespace
}  // namespace plumb
