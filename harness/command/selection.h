// Which cases a command is about.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/select/cases.h"
#include "harness/select/where.h"

namespace CLI {
class App;
}

namespace plumb {

// The flags as they were given.
struct Selection {
  std::vector<std::string> lines, suites, files, sizes;
  std::string where, shard;
  std::int64_t sample = 0;
  std::uint64_t seed = 0;
};
void add_selection(CLI::App&, Selection&, bool status = true);  // whether --where may look into a record

// Whether a record says of a line what status= asks for; nothing where nobody asks.
using OfStatus = std::function<bool(const std::string& line)>;

// The chosen cases: those that the condition selects, of these the sample, of this the shard. A shard that is
// of no sample does not depend on what is asked: records of shards may be looked into while they grow. No line
// stands twice.
struct Chosen {
  Cases cases;
  std::vector<std::int64_t> numbers;  // of `cases`
  Where where;
};
Where condition_of(const Selection&);                // throws BadInput
Chosen choose(const Selection&, const OfStatus& = {});  // throws BadInput

// "48 cases on local", for --dry-run; the exit code. Throws BadInput where there is none.
int say_planned(std::int64_t cases, const std::vector<std::string>& backends);

// The flags as a record keeps them: {"suites":["smoke"],"where":"op=einsum",...}, without those not given.
// Law: read again they are the same.
nlohmann::json selection_in_words(const Selection&);
Selection selection_from_words(const nlohmann::json&);  // throws Malformed

}  // namespace plumb
