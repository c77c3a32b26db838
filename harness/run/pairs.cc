#include "harness/run/pairs.h"

namespace plumb {

Pairs clock_pairs(const Case& c, Subject& subject, std::int64_t pairs) {
  Introduction known = make_known(c, subject);
  if (!known.failed.empty()) return {{}, {}, std::move(known.failed)};
  Process& process = process_of(subject);
  const auto said = process.limit({"both", 0, 2 * pairs});
  const auto* turns = std::get_if<std::vector<Clocked>>(&said);
  if (!turns && std::holds_alternative<Unsupported>(std::get<Answer>(said)))
    return {{},
            {},
            "it comes to no one call of a library that could be made by itself, or its backend has none to "
            "set its clock beside",
            false};
  if (!turns) return {{}, {}, "its ranks did not end their turns in time, or died"};
  const std::vector<double> took = samples(*turns, 1).nanoseconds;
  if (std::ssize(took) < 2 * pairs)
    return {{}, {}, "one of both took no time by the clock, which is too coarse"};
  if (const auto other = no_pass_on_other_data(c, subject)) return {{}, {}, not_timed(*other)};
  Pairs all;
  all.notes = std::move(known.notes);
  for (std::size_t i = 0; i + 1 < took.size(); i += 2) {
    const bool first = i % 4 == 0;
    all.ours.push_back(took[first ? i : i + 1]), all.plain.push_back(took[first ? i + 1 : i]);
  }
  return all;
}

}  // namespace plumb
