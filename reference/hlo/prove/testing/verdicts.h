// A small module and what two devices compute of it, to be edited by tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reference/hlo/prove/prove.h"

namespace plumb::hlo {

using Edits = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kBefore = R"(HloModule m, num_partitions=2

ENTRY %e {
  %x = f32[4,3] parameter(0), sharding={devices=[2,1]<=[2]}
  %y = f32[3] parameter(1), sharding={replicated}
  %n = s32[] parameter(2)
  %r0 = f32[4,3] copy(%x), sharding={devices=[2,1]<=[2]}
  ROOT %t = (f32[4,3], f32[3]) tuple(%r0, %y), sharding={{devices=[2,1]<=[2]}, {replicated}}
}
)";
constexpr const char* kAfter = R"(HloModule m, num_partitions=2

ENTRY %e {
  %x = f32[2,3] parameter(0)
  %y = f32[3] parameter(1)
  %n = s32[] parameter(2)
  %r0 = f32[2,3] copy(%x)
  ROOT %t = (f32[2,3], f32[3]) tuple(%r0, %y)
}
)";

inline Module edited(std::string text, const Edits& edits) {
  for (const auto& [from, to] : edits) {
    EXPECT_NE(text.find(from), text.npos) << from;
    text.replace(text.find(from), from.size(), to);
  }
  return parse(text, "m.txt");
}

// Each of the words, wherever it stands.
inline std::string with(std::string text, const Edits& words) {
  for (const auto& [from, to] : words)
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

inline Proof proof(const Edits& before, const Edits& after, const Edits* propagated = nullptr) {
  const Module whole = edited(kBefore, before), local = edited(kAfter, after);
  const Module chosen = propagated ? edited(kBefore, *propagated) : Module{};
  return prove({whole, local, propagated ? &chosen : nullptr}, {});
}

// The finding and why, or what is refused.
inline std::string told(const Edits& before, const Edits& after, const Edits* propagated = nullptr) {
  try {
    const Proof p = proof(before, after, propagated);
    return std::string(name(p.finding)) + (p.why.empty() ? "" : ": " + p.why);
  } catch (const BadModule& error) {
    const std::string said = error.what();
    const std::size_t at = said.find(": ") + 2;
    return said.substr(at, said.find('\n') - at);
  }
}

}  // namespace plumb::hlo
