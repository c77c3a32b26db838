// Which call of a library is a round of a plan, and what is in it of whom.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "adapters/plan/plan.h"
#include "adapters/protocol/outcome.h"
#include "adapters/rank/blocks.h"

namespace plumb {

// The cells that go from one device to another, in the order of the plan.
using CellList = std::vector<std::uint32_t>;
using Lanes = std::map<std::pair<std::int64_t, std::int64_t>, CellList>;

// The call that does what a round says: the one that it is named after, where each member sends all others
// the same cells (all-gather), or is sent the same cells of their parts by all others (reduce-scatter); else
// an exchange. Of processes that hold several devices each: an exchange among all.
struct RoundCall {
  enum class Kind : std::uint8_t { stays, all_gather, reduce_scatter, all_reduce, all_to_all, permute };
  Kind kind = Kind::stays;
  std::vector<AxisId> axes;  // along which the groups lie
  Lanes lanes;
};
RoundCall call_of(const Holder&, const Leg&, const Round&);

const char* name(RoundCall::Kind);

// "all-gather over x.y", what is to stand behind its kind there.
std::string call_in_words(const Collective&, const std::string& behind = "");

// What a device sends each other member of its fibre, or is sent by each.
const CellList& given(const RoundCall&, const std::vector<std::int64_t>& fibre, std::int64_t device);
const CellList& taken(const RoundCall&, const std::vector<std::int64_t>& fibre, std::int64_t device);

// What a device adds up itself, with all others of its fibre.
CellList kept(const Round&, std::int64_t device);

// What a device gives to a call, and gets of it.
struct Amount {
  std::int64_t in = 0, out = 0;
};

// The call as the trace says it: `in` and `out` of those that have most, and of every device. What a
// library's all-reduce moves is its own; of a reduce-scatter it is what each share takes at least, one part
// from every other member. In elements.
struct Called {
  Collective said;
  std::vector<Amount> each;
};
Called as_said(const Mesh&, const RoundCall&, const Leg&, const Round&);

std::string reduction_taken(const Leg&);  // by the trace's word: add, max, min

}  // namespace plumb
