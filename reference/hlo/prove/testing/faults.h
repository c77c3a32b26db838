// Faults planted in partitioned modules, for tests: each does to one instruction what a wrong partitioner
// might.
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

struct Fault {
  std::string name;
  // Changes the instruction, where it is one to which this can happen.
  std::function<bool(Module&, Computation&, Instruction&)> plant;
};

template <typename T>
T* setting(Instruction& i, Key key) {
  const auto found = std::ranges::find(i.attributes, key, &Attribute::key);
  return found == i.attributes.end() ? nullptr : std::get_if<T>(&found->value);
}

inline bool reduces(const Instruction& i) {
  return i.opcode == Opcode::all_reduce || i.opcode == Opcode::reduce_scatter;
}

// Writes out the groups, so that they can be changed one by one.
inline std::vector<Integers>* listed_groups(const Module& module, Instruction& i) {
  Groups* groups = setting<Groups>(i, Key::replica_groups);
  if (!groups || !find(i, Key::channel_id)) return nullptr;
  const auto lists = expand(*groups, module.partitions);
  *groups = Groups{};
  groups->lists = lists;
  return &groups->lists;
}

inline bool drop(Module&, Computation&, Instruction& i) {
  if (i.opcode != Opcode::all_reduce || i.operands.size() != 1) return false;
  i.opcode = Opcode::copy, i.attributes.clear();
  return true;
}

inline bool twice(Module&, Computation&, Instruction& i) {
  if (i.opcode != Opcode::all_reduce || i.operands.size() != 1 || !is_real(i.shape.type)) return false;
  i.opcode = Opcode::add, i.attributes.clear(), i.operands.push_back(i.operands[0]);
  return true;
}

inline bool other_sum(Module& module, Computation&, Instruction& i) {
  Calls* calls = setting<Calls>(i, Key::to_apply);
  if (!reduces(i) || !calls) return false;
  Computation changed = module.computations[static_cast<std::size_t>(calls->computations[0])];
  Instruction& root = changed.instructions[static_cast<std::size_t>(changed.root)];
  if (root.opcode != Opcode::add && root.opcode != Opcode::maximum) return false;
  root.opcode = root.opcode == Opcode::add ? Opcode::maximum : Opcode::add;
  calls->computations[0] = std::ssize(module.computations);
  module.computations.push_back(std::move(changed));  // last: `i` may move with the computations
  return true;
}

inline bool lose(Instruction& i, Key key) {
  return std::erase_if(i.attributes, [&](auto& a) { return a.key == key; });
}

inline bool lose_channel(Module&, Computation&, Instruction& i) {
  if (!reduces(i) || !lose(i, Key::channel_id)) return false;
  lose(i, Key::use_global_device_ids);
  if (Groups* groups = setting<Groups>(i, Key::replica_groups)) *groups = Groups{};
  return true;
}

inline bool lose_global_ids(Module&, Computation&, Instruction& i) {
  if (!reduces(i) || !lose(i, Key::use_global_device_ids)) return false;
  if (Groups* groups = setting<Groups>(i, Key::replica_groups)) *groups = Groups{};
  return true;
}

inline bool exchange_members(Module& module, Computation&, Instruction& i) {
  auto* groups = listed_groups(module, i);
  if (!groups || groups->size() < 2) return false;
  std::swap((*groups)[0].back(), (*groups)[1].front());
  return true;
}

inline bool reverse_members(Module& module, Computation&, Instruction& i) {
  auto* groups = listed_groups(module, i);
  if (!groups) return false;
  for (Integers& group : *groups) std::ranges::reverse(group);
  return true;
}

inline bool transpose_groups(Module& module, Computation&, Instruction& i) {
  auto* groups = listed_groups(module, i);
  if (!groups || groups->size() < 2 || (*groups)[0].size() < 2) return false;
  const std::size_t size =
      (*groups)[0].size();  // the same devices column by column, in groups of the same size
  Integers columns;
  for (std::size_t m = 0; m < size; ++m)
    for (const Integers& group : *groups) columns.push_back(group[m]);
  for (std::size_t n = 0; n < columns.size(); ++n) (*groups)[n / size][n % size] = columns[n];
  return true;
}

inline bool rotate_targets(Module&, Computation&, Instruction& i) {
  auto* pairs = setting<std::vector<Pair>>(i, Key::source_target_pairs);
  if (!pairs || pairs->size() < 2) return false;
  const std::int64_t first = pairs->front()[1];
  for (std::size_t n = 0; n + 1 < pairs->size(); ++n) (*pairs)[n][1] = (*pairs)[n + 1][1];
  pairs->back()[1] = first;
  return true;
}

inline bool drop_pair(Module&, Computation&, Instruction& i) {
  auto* pairs = setting<std::vector<Pair>>(i, Key::source_target_pairs);
  if (!pairs || pairs->empty()) return false;
  pairs->pop_back();
  return true;
}

// A table of offsets, one for each device or tile.
inline bool is_table(const Instruction& i) {
  return i.opcode == Opcode::constant && i.shape.dims.size() == 1 && i.literal.integers.size() > 1;
}

inline bool exchange_entries(Module&, Computation&, Instruction& i) {
  if (!is_table(i)) return false;
  std::swap(i.literal.integers.front(), i.literal.integers.back());
  return true;
}

inline bool rotate_table(Module&, Computation&, Instruction& i) {
  if (!is_table(i)) return false;
  std::ranges::rotate(i.literal.integers, i.literal.integers.begin() + 1);
  return true;
}

inline bool exchange_starts(Module&, Computation&, Instruction& i) {
  const std::size_t first = i.opcode == Opcode::dynamic_slice ? 1 : 2;
  if (i.opcode != Opcode::dynamic_slice && i.opcode != Opcode::dynamic_update_slice) return false;
  if (i.operands.size() < first + 2) return false;
  std::swap(i.operands[first], i.operands[first + 1]);
  return true;
}

inline bool shift_slice(Module&, Computation& c, Instruction& i) {
  auto* ranges = setting<std::vector<Range>>(i, Key::slice);
  if (!ranges) return false;
  const Integers& dims = c.instructions[static_cast<std::size_t>(i.operands[0])].shape.dims;
  for (std::size_t d = 0; d < ranges->size(); ++d) {
    Range& r = (*ranges)[d];
    if (r.end < dims[d]) return ++r.begin, ++r.end, true;
    if (r.begin > 0) return --r.begin, --r.end, true;
  }
  return false;
}

inline bool exchange_parts(Module&, Computation& c, Instruction& i) {
  if (i.opcode != Opcode::concatenate || i.operands.size() < 2) return false;
  const auto shape = [&](std::size_t n) {
    return c.instructions[static_cast<std::size_t>(i.operands[n])].shape.dims;
  };
  if (shape(0) != shape(1) || i.operands[0] == i.operands[1]) return false;
  std::swap(i.operands[0], i.operands[1]);
  return true;
}

inline bool off_by_one(Module&, Computation&, Instruction& i) {
  auto* direction = setting<std::string>(i, Key::direction);
  if (!direction || i.shape.dims.empty()) return false;
  if (*direction == "LT")
    *direction = "LE";
  else if (*direction == "GE")
    *direction = "GT";
  else
    return false;
  return true;
}

inline const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      {"an all-reduce dropped",                        drop            },
      {"an all-reduce that adds a device's own value", twice           },
      {"add for max, max for add",                     other_sum       },
      {"a channel dropped",                            lose_channel    },
      {"global ids dropped",                           lose_global_ids },
      {"members of two groups exchanged",              exchange_members},
      {"members reversed",                             reverse_members },
      {"groups transposed",                            transpose_groups},
      {"targets rotated",                              rotate_targets  },
      {"a pair dropped",                               drop_pair       },
      {"two entries of a table exchanged",             exchange_entries},
      {"a table rotated",                              rotate_table    },
      {"start indices exchanged",                      exchange_starts },
      {"a slice shifted",                              shift_slice     },
      {"parts of a concatenation exchanged",           exchange_parts  },
      {"a mask off by one",                            off_by_one      },
  };
  return kFaults;
}

}  // namespace plumb::hlo
