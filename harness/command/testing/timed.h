// Cases that the tests of plumb bench time: two ranks of the backend of testing/fake.cc, whose clocks are planted.
#pragma once

#include <vector>

#include "adapters/protocol/json.h"
#include "harness/command/testing/tool.h"

namespace plumb {

const std::string line = "'on x=2: reshard f32[8@x] -> f32[8]'";

inline std::string fake(const std::string& faults) { return "bench --backend '" PLUMB_FAKE " " + faults + "' "; }

// The records of a file, without the lines that say which run they are of.
inline std::vector<nlohmann::json> lines_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<nlohmann::json> all;
  for (std::string one; std::getline(in, one);) all.push_back(parse_json(one));
  std::erase_if(all, [](const nlohmann::json& j) { return j.contains("started") || j.contains("ended"); });
  return all;
}

}  // namespace plumb
