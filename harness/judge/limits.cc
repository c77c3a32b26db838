#include "harness/judge/limits.h"

#include <fmt/format.h>

namespace plumb {
namespace {

// Whether the yardstick is the bound, not the best known.
bool is_bounded(const Case& c) { return is_reshard(c) && !result(c).free; }

std::int64_t yardstick(const Case& c, const Cost& cost) {
  return is_bounded(c) ? cost.bound : cost.best_known;
}

bool is_past(const Case& c, const Cost& cost, double most) {
  const std::int64_t least = yardstick(c, cost);
  return most >= 0 && cost.moved >= 0 && least >= 0 &&
         static_cast<double>(cost.moved) > most * static_cast<double>(least);
}

}  // namespace

std::optional<Fact> waste_fact(const Case& c, const Cost& cost, double most) {
  if (cost.at_most || !is_past(c, cost, most)) return std::nullopt;
  const bool bounded = is_bounded(c);
  const std::int64_t least = yardstick(c, cost);
  std::string text =
      fmt::format("moved {} bytes, {} {}", cost.moved, bounded ? "the fewest are" : "best known are", least);
  if (least > 0)
    text += fmt::format(": {:.2f} times, the limit is {}", double(cost.moved) / double(least), most);
  return fact(Status::wasteful, text);
}

std::optional<Fact> count_fact(const Collectives& count, double most) {
  if (most < 0 || static_cast<double>(count.issued) <= most * static_cast<double>(count.merged))
    return std::nullopt;
  return fact(Status::wasteful,
              fmt::format("took {} collective{}, its groups allow {}{}", count.issued,
                          count.issued == 1 ? "" : "s", count.merged,
                          count.could.empty() ? fmt::format(", the limit is {} times these", most)
                                              : fmt::format(": {}", fmt::join(count.could, ", "))));
}

std::optional<Fact> unjudged_fact(const Case& c, const Cost& cost, const Limits& limits) {
  const auto unjudged = [](const std::string& limit, const char* why) {
    return fact(Status::mistrusted, fmt::format("the limit of {} cannot be judged: {}", limit, why));
  };
  const std::string bytes = fmt::format("{} times the bytes", limits.max_waste);
  if (limits.max_waste >= 0 && cost.moved < 0)
    return unjudged(bytes, "the trace does not say how many moved");
  if (limits.max_waste >= 0 && yardstick(c, cost) < 0)
    return unjudged(bytes, "it is not known how few would do");
  if (cost.at_most && is_past(c, cost, limits.max_waste))
    return unjudged(bytes, "of its sends the trace says only how many each device can have moved");
  if (limits.max_collectives >= 0 && cost.moved < 0)
    return unjudged(fmt::format("{} times the collectives", limits.max_collectives),
                    "the trace does not say all that moved, nor how often");
  return std::nullopt;
}

}  // namespace plumb
