// What AFTER computes, as numbers by which it is found again.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "reference/hlo/prove/laid.h"
#include "reference/hlo/prove/prints.h"

namespace plumb::hlo {

// The numbers of what AFTER computes: all, those of each of the user's operations, and of each collective the
// first.
struct Printed {
  // What a collective gives when it first runs.
  struct Told {
    std::vector<std::uint64_t> prints;
    Sums given, taken;  // `taken`: of its first operand
  };
  std::unordered_set<std::uint64_t> all{};
  std::unordered_map<std::string, std::unordered_set<std::uint64_t>> of{};  // by op_name
  std::unordered_map<const Instruction*, Told> told{};
  // What each instruction holds when it first runs, in their order; null: it is not kept, and no later one
  // is.
  using Held = std::shared_ptr<const Array<Twin>>;
  std::vector<std::pair<const Instruction*, Held>> held{};

  // Of an operation that AFTER has, what others compute does not count: a program may compute a value twice.
  bool contains(std::uint64_t print, const std::string& op_name) const;
};

// Of so many elements, 16 MiB, what a module holds is kept.
constexpr std::int64_t kMostKept = std::int64_t{1} << 20;

// Notes what a module computes, one instruction after the other.
struct Printing {
  const std::set<Ends> ends;
  const Pairs pairs;
  const std::int64_t devices;
  Printed& printed;
  std::int64_t elements = 0;  // noted
  const Array<Twin>* last = nullptr;
  std::vector<std::uint64_t> own{};  // of the last
  std::unordered_set<const Instruction*> ran{};

  void note(const Instruction&, const std::vector<Value<Twin>>& operands, const Value<Twin>& held);
};

}  // namespace plumb::hlo
