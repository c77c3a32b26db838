// `local` with one fault: what a broken framework looks like from outside.
#pragma once

#include <string_view>
#include <vector>

#include "adapters/local/local.h"

namespace plumb::liar {

using local::Seams;

// A fault is one row: a function on a plan, a block or a reply, applied at `local`'s seams. A plan or a
// block on which it does not apply it leaves as it is.
struct Fault {
  std::string_view name;
  std::string_view says;                // what it does, in one phrase
  std::string_view status;              // the verdict that it must get
  std::string_view flags;               // of `plumb run`, without which it cannot be seen
  std::vector<std::string_view> cases;  // in order, in one process; it must be seen on one of them
  Seams seams;
  bool plans = false;  // it gives no data (data=none)
};

}  // namespace plumb::liar
