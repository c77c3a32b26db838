// What a backend with planted faults says of its table: `plumb liars` reads it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "adapters/protocol/json.h"

namespace plumb {

// One JSON line for each fault of `backend`: name, says, status, flags, cases, options, of which `more` are
// of all alike.
template <class Faults>
std::string fault_lines(const std::string& backend, const Faults& faults,
                        const std::vector<std::string>& more = {}) {
  std::string text;
  for (const auto& f : faults) {
    std::vector<std::string> options{"--fault", f.name, "--plan", f.plan};
    options.insert(options.end(), more.begin(), more.end());
    text += fmt::format(R"({{"name":{},"says":{},"status":{},"flags":{},"cases":{},"options":{}}})",
                        json_text(backend + "-" + f.name), json_text(f.says), json_text(f.status),
                        json_text(f.flags), dump(f.cases), dump(options)) +
            "\n";
  }
  return text;
}

}  // namespace plumb
