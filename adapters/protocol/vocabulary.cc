#include "adapters/protocol/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/words/dtype.h"

namespace plumb {
namespace {

using By = ReducesBy;

constexpr auto ops = std::to_array<std::pair<std::string_view, By>>({
    {"add",      By::sum     },
    {"sum",      By::sum     },
    {"avg",      By::mean    },
    {"mean",     By::mean    },
    {"average",  By::mean    },
    {"max",      By::largest },
    {"maximum",  By::largest },
    {"min",      By::smallest},
    {"minimum",  By::smallest},
    {"and",      By::bits    },
    {"or",       By::bits    },
    {"xor",      By::bits    },
    {"band",     By::bits    },
    {"bor",      By::bits    },
    {"bxor",     By::bits    },
    {"land",     By::truth   },
    {"lor",      By::truth   },
    {"lxor",     By::truth   },
    {"mul",      By::product },
    {"multiply", By::product },
    {"prod",     By::product },
    {"product",  By::product },
});

constexpr auto others = std::to_array<std::pair<std::string_view, int>>({
    {"pred",     8  },
    {"s2",       2  },
    {"s4",       4  },
    {"s16",      16 },
    {"s64",      64 },
    {"u2",       2  },
    {"u4",       4  },
    {"u8",       8  },
    {"u16",      16 },
    {"u32",      32 },
    {"u64",      64 },
    {"f4e2m1fn", 4  },
    {"c64",      64 },
    {"c128",     128},
});

}  // namespace

std::optional<ReducesBy> reduces_by(const std::string& op) {
  const auto* at = std::ranges::find(ops, op, &std::pair<std::string_view, By>::first);
  return at == ops.end() ? std::nullopt : std::optional(at->second);
}

std::string op_words() {
  std::vector<std::string_view> all;
  for (const auto& [word, by] : ops) all.push_back(word);
  return fmt::format("{}", fmt::join(all, ", "));
}

bool is_moved_type(const std::string& dtype) { return bits_of(dtype) > 0; }

int bits_of(const std::string& dtype) {
  if (const auto of_a_line = dtype_named(dtype)) return 8 * format(*of_a_line).bytes;
  const auto* at = std::ranges::find(others, dtype, &std::pair<std::string_view, int>::first);
  return at == others.end() ? 0 : at->second;
}

std::string moved_types() {
  std::vector<std::string_view> all;
  for (const Format& f : formats()) all.push_back(f.name);
  for (const auto& [word, bits] : others) all.push_back(word);
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace plumb
