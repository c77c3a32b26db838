// Two ways to write one function, for tests.
#pragma once

#include <string>

#include "reference/hlo/prove/prove.h"

namespace plumb::hlo {

// A constant as an array: "%c" from "%cc", a scalar.
inline std::string constant_lines(const std::string& name, const std::string& number) {
  return "  %c" + name + " = f32[] constant(" + number + ")\n  %" + name + " = S broadcast(%c" + name +
         "), dimensions={}\n";
}

// Lines of x and y, each f32[2] on two devices; S is their shape. `one` is the whole function, `other` what a
// device computes.
inline Proof of_functions(const std::string& one, const std::string& other) {
  const auto module = [](const std::string& lines, const std::string& shape) {
    const std::string parameters =
        "  %x = S parameter(0), sharding={devices=[2]<=[2]}\n"
        "  %y = S parameter(1), sharding={devices=[2]<=[2]}\n";
    const std::string text =
        "HloModule m, num_partitions=2\n\nENTRY %e (x: S, y: S) -> S {\n" + parameters + lines + "}\n";
    std::string shaped;
    for (const char c : text) shaped += c == 'S' ? shape : std::string(1, c);
    return parse(shaped, "m.txt");
  };
  std::string laid = one;
  laid.insert(laid.rfind('\n'), ", sharding={devices=[2]<=[2]}");
  const Module before = module(laid, "f32[2]"), after = module(other, "f32[1]");
  return prove({before, after, nullptr}, {});
}

}  // namespace plumb::hlo
