// For tests: programs by name, each started once.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "harness/backend/lookup.h"
#include "harness/run/ask.h"
#include "reference/words/testing/draw_case.h"

namespace plumb {

struct Backends {
  std::map<std::string, std::unique_ptr<Process>> all;
  Process& named(const std::string& name) {
    std::unique_ptr<Process>& one = all[name];
    if (!one) one = std::make_unique<Process>(find_backend(name));
    return *one;
  }
};

// Whether axes may stand for one another, and no array is empty.
inline bool is_regular(const Case& c) {
  return devices(c.mesh) > 1 && std::ranges::all_of(c.mesh.axes, [](const Axis& a) { return a.size <= 2; }) &&
         std::ranges::all_of(c.op.operands, [](const Spec& spec) { return elements(spec) > 1; });
}

}  // namespace plumb
