#include "reference/hlo/prove/faults.h"

#include <algorithm>

namespace plumb::hlo {
namespace {

template <typename T>
T* setting(Instruction& i, Key key) {
  const auto found = std::ranges::find(i.attributes, key, &Attribute::key);
  return found == i.attributes.end() ? nullptr : std::get_if<T>(&found->value);
}

bool reduces(const Instruction& i) {
  return i.opcode == Opcode::all_reduce || i.opcode == Opcode::reduce_scatter;
}

// Writes out the groups, so that they can be changed one by one.
std::vector<Integers>* listed_groups(const Module& module, Instruction& i) {
  Groups* groups = setting<Groups>(i, Key::replica_groups);
  if (!groups || !find(i, Key::channel_id)) return nullptr;
  const auto lists = expand(*groups, module.partitions);
  *groups = Groups{};
  groups->lists = lists;
  return &groups->lists;
}

bool drop(Module&, Computation&, Instruction& i) {
  if (i.opcode != Opcode::all_reduce || i.operands.size() != 1) return false;
  i.opcode = Opcode::copy, i.attributes.clear();
  return true;
}

bool twice(Module&, Computation&, Instruction& i) {
  if (i.opcode != Opcode::all_reduce || i.operands.size() != 1 || !is_real(i.shape.type)) return false;
  i.opcode = Opcode::add, i.attributes.clear(), i.operands.push_back(i.operands[0]);
  return true;
}

bool other_sum(Module& module, Computation&, Instruction& i) {
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

bool lose(Instruction& i, Key key) {
  return std::erase_if(i.attributes, [&](auto& a) { return a.key == key; });
}

bool lose_channel(Module&, Computation&, Instruction& i) {
  if (!reduces(i) || !lose(i, Key::channel_id)) return false;
  lose(i, Key::use_global_device_ids);
  if (Groups* groups = setting<Groups>(i, Key::replica_groups)) *groups = Groups{};
  return true;
}

bool lose_global_ids(Module&, Computation&, Instruction& i) {
  if (!reduces(i) || !lose(i, Key::use_global_device_ids)) return false;
  if (Groups* groups = setting<Groups>(i, Key::replica_groups)) *groups = Groups{};
  return true;
}

bool exchange_members(Module& module, Computation&, Instruction& i) {
  auto* groups = listed_groups(module, i);
  if (!groups || groups->size() < 2) return false;
  std::swap((*groups)[0].back(), (*groups)[1].front());
  return true;
}

bool reverse_members(Module& module, Computation&, Instruction& i) {
  auto* groups = listed_groups(module, i);
  if (!groups) return false;
  for (Integers& group : *groups) std::ranges::reverse(group);
  return true;
}

bool transpose_groups(Module& module, Computation&, Instruction& i) {
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

bool rotate_targets(Module&, Computation&, Instruction& i) {
  auto* pairs = setting<std::vector<Pair>>(i, Key::source_target_pairs);
  if (!pairs || pairs->size() < 2) return false;
  const std::int64_t first = pairs->front()[1];
  for (std::size_t n = 0; n + 1 < pairs->size(); ++n) (*pairs)[n][1] = (*pairs)[n + 1][1];
  pairs->back()[1] = first;
  return true;
}

bool drop_pair(Module&, Computation&, Instruction& i) {
  auto* pairs = setting<std::vector<Pair>>(i, Key::source_target_pairs);
  if (!pairs || pairs->empty()) return false;
  pairs->pop_back();
  return true;
}

// A table of offsets, one for each device or tile.
bool is_table(const Instruction& i) {
  return i.opcode == Opcode::constant && i.shape.dims.size() == 1 && i.literal.integers.size() > 1;
}

bool exchange_entries(Module&, Computation&, Instruction& i) {
  if (!is_table(i)) return false;
  std::swap(i.literal.integers.front(), i.literal.integers.back());
  return true;
}

bool rotate_table(Module&, Computation&, Instruction& i) {
  if (!is_table(i)) return false;
  std::ranges::rotate(i.literal.integers, i.literal.integers.begin() + 1);
  return true;
}

bool exchange_starts(Module&, Computation&, Instruction& i) {
  const std::size_t first = i.opcode == Opcode::dynamic_slice ? 1 : 2;
  if (i.opcode != Opcode::dynamic_slice && i.opcode != Opcode::dynamic_update_slice) return false;
  if (i.operands.size() < first + 2) return false;
  std::swap(i.operands[first], i.operands[first + 1]);
  return true;
}

bool shift_slice(Module&, Computation& c, Instruction& i) {
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

bool exchange_parts(Module&, Computation& c, Instruction& i) {
  if (i.opcode != Opcode::concatenate || i.operands.size() < 2) return false;
  const auto shape = [&](std::size_t n) {
    return c.instructions[static_cast<std::size_t>(i.operands[n])].shape.dims;
  };
  if (shape(0) != shape(1) || i.operands[0] == i.operands[1]) return false;
  std::swap(i.operands[0], i.operands[1]);
  return true;
}

bool off_by_one(Module&, Computation&, Instruction& i) {
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

bool is_root(const Module& module, const Computation& c, const Instruction& i) {
  return &c == &entry(module) && &i == &c.instructions[static_cast<std::size_t>(c.root)];
}

// A loop that counts to a constant: one round fewer.
bool shorten_loop(Module& module, Computation&, Instruction& i) {
  if (i.opcode != Opcode::while_) return false;
  Calls* calls = setting<Calls>(i, Key::condition);
  Computation changed = module.computations[static_cast<std::size_t>(calls->computations[0])];
  for (Instruction& bound : changed.instructions) {
    if (bound.opcode != Opcode::constant || bound.shape.type != Type::s32 || bound.literal.integers[0] < 1)
      continue;
    --bound.literal.integers[0];
    calls->computations[0] = std::ssize(module.computations);
    module.computations.push_back(std::move(changed));
    return true;
  }
  return false;
}

bool lose_donor(Module& module, Computation& c, Instruction& i) {
  if (!is_root(module, c, i) || module.aliases.empty()) return false;
  module.aliases.pop_back();
  return true;
}

bool exchange_donors(Module& module, Computation& c, Instruction& i) {
  if (!is_root(module, c, i) || module.aliases.size() < 2) return false;
  std::swap(module.aliases.front().parameter, module.aliases.back().parameter);
  return true;
}

std::int64_t append(Computation& c, Instruction i) {
  c.instructions.push_back(std::move(i));
  return std::ssize(c.instructions) - 1;
}

// A device adds its number to the first result of floats.
bool part_replicas(Module& module, Computation& c, Instruction& i) {
  if (!is_root(module, c, i)) return false;
  Instruction root = i;
  std::size_t n = 0;
  const bool tuple = root.opcode == Opcode::tuple;
  const auto shape_of = [&](std::size_t k) {
    return tuple ? c.instructions[static_cast<std::size_t>(root.operands[k])].shape : root.shape;
  };
  while (tuple && n < root.operands.size() && !is_real(shape_of(n).type)) ++n;
  if (n == root.operands.size() || !is_real(shape_of(n).type)) return false;
  const Shape shape = shape_of(n), number{Type::u32, {}, {}, {}, {}}, real{shape.type, {}, {}, {}, {}};
  const std::int64_t result = tuple ? root.operands[n] : c.root;
  Instruction id{"planted.id", Opcode::partition_id, number}, own{"planted.own", Opcode::convert, real},
      all{"planted.all", Opcode::broadcast, shape}, sum{"planted.sum", Opcode::add, shape};
  own.operands = {append(c, id)};
  all.operands =
      {
          append(c, own)
  },
  all.attributes = {{Key::dimensions, Integers{}}};
  sum.operands = {result, append(c, all)};
  sum.op_name = c.instructions[static_cast<std::size_t>(result)].op_name;
  c.root = append(c, sum);
  if (tuple) root.operands[n] = c.root, c.root = append(c, root);
  return true;
}

}  // namespace

const std::vector<Fault>& faults() {
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
      {"a loop one round short",                       shorten_loop    },
      {"a donated buffer lost",                        lose_donor      },
      {"donated buffers exchanged",                    exchange_donors },
      {"replicas that differ",                         part_replicas   },
  };
  return kFaults;
}

std::optional<Module> planted(const Module& module, const Fault& fault, std::size_t c, std::size_t i) {
  Module faulty = module;
  faulty.computations.reserve(faulty.computations.size() + 1);  // a fault may add one
  if (!fault.plant(faulty, faulty.computations[c], faulty.computations[c].instructions[i])) return {};
  return faulty;
}

}  // namespace plumb::hlo
