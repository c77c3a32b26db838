// The cases of many rows, made one at a time.
#pragma once

#include <string>
#include <vector>

#include "harness/select/pattern.h"
#include "harness/select/row.h"

namespace plumb {

// A row and the cases it stands for.
struct Group {
  Row row;
  std::vector<Pattern> patterns;
  std::vector<std::int64_t> picked;  // of a sample: which of its cases
};

struct Cases {
  std::vector<Group> groups;
  std::vector<std::int64_t> ends;  // ends[g]: how many cases the groups 0 to g have
};

// At the sizes that each row says. Throws BadInput with the row's origin before the message.
Cases cases_of(std::vector<Row> rows);

std::int64_t count(const Cases&);
Case nth(const Cases&, std::int64_t n);
const Row& row_of(const Cases&, std::int64_t n);
const Mesh& mesh_of(const Cases&, std::int64_t n);

}  // namespace plumb
