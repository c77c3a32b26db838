// A condition on cases, in words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/verdict.h"
#include "harness/select/where_keys.h"

namespace plumb {

// Terms with spaces between them, all of which must hold:
//   op=einsum devices>=8 dtype=bf16,f16 axis.dp>=2 is=uneven status=wrong,diverged text~'f32[8@x'
struct Where {
  std::vector<Comparison> terms;
};

// Throws BadInput at the character; the message lists the keys where one is unknown. What stands before `at` is
// another's.
Where parse_where(std::string_view text, std::size_t at = 0);

// Whether every term but `status` holds.
bool matches(const Where&, const Case&);

// `status` is that of the record; absent where it has none (status=none selects those).
bool matches(const Where&, std::optional<Status> status);
bool asks_status(const Where&);

}  // namespace plumb
