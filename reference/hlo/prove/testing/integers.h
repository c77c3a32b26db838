// Programs of integers of two devices, for tests.
#pragma once

#include <string>

#include "reference/hlo/prove/prove.h"

namespace plumb::hlo {

struct Bodies {
  std::string whole, part;
};

// A program of two devices, `body` of the whole and of a part: f: f32[8192] cut in two, x: s32[8] and n:
// s32[] everywhere. In two draws.
inline Proof proved(const Bodies& body) {
  const auto text = [](const std::string& size, const std::string& sharding, const std::string& body_text) {
    return "HloModule m, num_partitions=2\n\nENTRY %e {\n  %f = f32[" + size + "] parameter(0)" +
           (sharding.empty() ? "" : ", sharding={devices=[2]<=[2]}") + "\n  %x = s32[8] parameter(1)" +
           (sharding.empty() ? "" : ", sharding={replicated}") + "\n  %n = s32[] parameter(2)" +
           (sharding.empty() ? "" : ", sharding={replicated}") + "\n" + body_text + "}\n";
  };
  const Module before = parse(text("8192", "cut", body.whole), "b.txt"),
               after = parse(text("4096", "", body.part), "a.txt");
  return prove({before, after, nullptr}, {.draws = 2});
}

}  // namespace plumb::hlo
