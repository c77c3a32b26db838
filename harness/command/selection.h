// Which cases a command is about.
#pragma once

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
void add_selection(CLI::App&, Selection&);

// The chosen cases: those that the condition selects (but for their status), of these the sample, of
// this the shard. No line stands twice.
struct Chosen {
  Cases cases;
  std::vector<std::int64_t> numbers;  // of `cases`
  Where where;
};
Chosen choose(const Selection&);  // throws BadInput

// "48 cases on local", for --dry-run; the exit code. Throws BadInput where there is none.
int say_planned(const Chosen&, const std::vector<std::string>& backends);

// The flags as a record keeps them: {"suites":["smoke"],"where":"op=einsum",...}, without those not given.
// Law: read again they are the same.
nlohmann::json selection_in_words(const Selection&);
Selection selection_from_words(const nlohmann::json&);  // throws Malformed

}  // namespace plumb
