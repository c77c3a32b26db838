// What ranks say of a case once it was timed, in the same minute: what they could do at best.
#pragma once

#include <functional>
#include <map>

#include "harness/backend/process.h"
#include "harness/measure/bandwidth.h"
#include "harness/run/pace.h"

namespace plumb {

// What they cannot say is left out.
struct Besides {
  std::map<std::string, double> limits;  // with the bytes of the case, or of a product without what moves; of a sum, of its longest; of what is packed, of that
  std::vector<double> control;           // of one of them, in turns
  std::vector<Clocked> collectives;      // of one run more
  std::string lost;                      // AtBest::lost
};

// Who is asked what it could do at best: with the bytes of a case, by the rule by which its repetition was
// timed.
struct AtBest {
  Process& process;
  Deadlines deadlines;
  std::int64_t bytes;
  Pace pace;
  const std::function<void(const std::string& how)>& seen;  // told what is asked
  std::string lost{};               // what it was asked when its process went, and how
  std::vector<std::string> unseen{};  // which limits took no time by its clock
};

Besides ask_besides(AtBest, const Work&, const Samples& timed, const Trace&);

}  // namespace plumb
