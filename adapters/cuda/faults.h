// The device of `cuda` with one fault: `plumb-cuda --fault NAME`, on a card as with `--device host`. `plumb
// liars` plants each.
#pragma once

#include <string>
#include <vector>

#include "adapters/cuda/device.h"

namespace plumb::cuda {

// What a kernel may have wrong that none of its elements shows: how it is launched, what it is told, when it
// ends.
struct KernelFault {
  std::string name;
  std::string says;                // what it does, in one phrase
  std::string status;              // the verdict that it must get
  std::string plan;                // on which it shows
  std::string flags;               // of `plumb run`, without which it cannot be seen
  std::vector<std::string> cases;  // in order; it must be seen on one of them
  void (*move)(const Moves&) = nullptr;
  void (*multiply)(const Products&) = nullptr;
  std::string engine = "ieee";           // by which it says it adds up products
  void (*otherwise)(Device&) = nullptr;  // what else is so of it
};

// A device with that fault, one in a process. Throws std::invalid_argument where there is no such fault.
const KernelFault& kernel_fault(const std::string& name);
const Device& faulty(const Device&, const KernelFault&);

// One JSON line for each: name, says, status, flags, cases, options.
std::string list_kernel_faults();

}  // namespace plumb::cuda
