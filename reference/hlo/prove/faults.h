// Faults planted in partitioned modules: each does to one instruction what a wrong partitioner might.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

struct Fault {
  std::string name;
  // Changes the instruction, where it is one to which this can happen.
  std::function<bool(Module&, Computation&, Instruction&)> plant;
};

const std::vector<Fault>& faults();

// The module with the fault at instruction `i` of computation `c`; nothing where it cannot happen there.
std::optional<Module> planted(const Module&, const Fault&, std::size_t c, std::size_t i);

}  // namespace plumb::hlo
