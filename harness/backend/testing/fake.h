// The backend of testing/fake.cc, and a case for it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/backend/process.h"
#include "reference/words/text.h"

namespace plumb {

using Faults = std::vector<std::string>;

inline Command fake(const Faults& faults) {
  Command command{"fake", {PLUMB_FAKE}, {}};
  command.argv.insert(command.argv.end(), faults.begin(), faults.end());
  return command;
}

// f32[8] on x=devices, with operand elements 0, 1, 2...; `more` is appended to the line.
inline Case gather(const std::string& more = "", int devices = 2) {
  return parse_case("on x=" + std::to_string(devices) + ": reshard f32[8@x] -> f32[8]" + more);
}
inline std::vector<Tensor> operands(float first = 0) {
  Tensor t = zeros(DType::f32, {8});
  for (int i = 0; i < 8; ++i) store(DType::f32, t.bytes.data() + 4 * i, encode(DType::f32, first + i));
  return {t};
}

template <class Kind>
Kind expect(const Answer& answer) {
  if (const auto* kind = std::get_if<Kind>(&answer)) return *kind;
  ADD_FAILURE() << "the answer is number " << answer.index()
                << (std::get_if<Crashed>(&answer)   ? ": " + std::get<Crashed>(answer).what
                    : std::get_if<OffPage>(&answer) ? ": " + std::get<OffPage>(answer).what
                                                    : "");
  return {};
}

}  // namespace plumb
