// What became of a case from one run to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/judge/verdict.h"

namespace plumb {

// Of two verdicts; what a pass rests on and the last four need more than that (compare.h). A finding is *silent* where values or
// places are wrong and nothing says so; else it is a refusal (hung, crashed, malformed, reneged), or a doubt
// about what is right (mistrusted, wasteful).
//
//   from \ to      pass      doubt       silent      refusal     unsupported   waived
//   pass           same      regression  regression  regression  lost          waived
//   doubt          fixed     changed *   worse       changed     hidden        waived
//   silent         fixed     changed     changed *   changed     hidden        waived
//   refusal        fixed     changed     worse       changed *   hidden        waived
//   unsupported    gained    exposed     exposed     exposed     same          waived
//   waived         fixed     regression  regression  regression  hidden        same
//   * same where the status is the same        unrun on either side: uncompared
enum class Change : std::uint8_t {
  same,
  regression,  // a pass, or waived, that is a finding
  worse,       // that said what failed, or was right at too high a price, and is silently wrong
  lost,        // coverage: a pass that is unsupported, or rests on less: a plan, clones, no trace, a proof in place
  hidden,      // a finding that is unsupported: never fixed
  exposed,     // a finding where nothing could be judged before
  changed,     // another finding
  fixed,
  gained,  // coverage: a pass where nothing could be judged before, or less
  waived,
  vanished,  // selected by the new run's own words, and not there
  fresh,     // only there now
  costlier,  // the same verdict, and more bytes moved
  cheaper,
  uncompared  // not run on either side, or not selected now
};
constexpr int change_kinds = 15;
std::vector<Change> all_changes();  // in the order in which a reader wants them
bool is_told(Change);               // not what is the same or not compared

Change change(Status from, Status to);

std::string_view name(Change);  // regression, worse, coverage lost, ...
std::optional<Change> change_named(std::string_view);

}  // namespace plumb
