// For tests: all that a record says of a result, as text.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/record/record.h"

namespace plumb {

inline std::string said(const Fact& fact) {
  std::string text =
      fmt::format("{}: {}\n  {}\n  {}\n", name(fact.status), fact.text, fact.cause, fact.bound);
  if (fact.seed) text += fmt::format("  seed {}\n", *fact.seed);
  if (const auto& p = fact.place)
    text += fmt::format("  {} devices, {} elements; {} ({}) [{}] want {} got {}\n", p->devices, p->elements,
                        p->device, p->coordinates, fmt::join(p->index, ","), p->want, p->got);
  return text;
}

inline std::string said(const Record& r) {
  std::string text;
  for (const Fact& fact : r.verdict.facts) text += said(fact);
  const Verdict& v = r.verdict;
  text += fmt::format("{}{}{}{} {}\n", v.plan, v.alone, v.clones, v.untraced, v.rounded);
  text += fmt::format("{} {} {}\n", r.cost.moved, r.cost.bound, r.cost.best_known);
  text += fmt::format("{} {} {}\n", r.collectives.issued, r.collectives.merged,
                      fmt::join(r.collectives.could, "; "));
  text += fmt::format("{} {} {}\n", r.scope, r.certificate, fmt::join(r.notes, "; "));
  if (r.shown) text += fmt::format("{} {} {}\n", r.shown->operand[0], r.shown->operand[1], r.shown->sum);
  return text + (r.replica_safe ? fmt::format("replica safe: {}\n", *r.replica_safe) : "");
}

}  // namespace plumb
