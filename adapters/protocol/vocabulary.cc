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

constexpr std::array<std::string_view, 14> others = {"pred", "s2",  "s4",  "s16", "s64",      "u2",  "u4",
                                                     "u8",   "u16", "u32", "u64", "f4e2m1fn", "c64", "c128"};

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

bool is_moved_type(const std::string& dtype) {
  return dtype_named(dtype) || std::ranges::find(others, dtype) != others.end();
}

std::string moved_types() {
  std::vector<std::string_view> all;
  for (const Format& f : formats()) all.push_back(f.name);
  all.insert(all.end(), others.begin(), others.end());
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace plumb
