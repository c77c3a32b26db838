#include "reference/hlo/prove/alone.h"

#include <algorithm>

#include "reference/hlo/prove/brought.h"
#include "reference/hlo/run/fold.h"
#include "reference/hlo/run/groups.h"

namespace plumb::hlo {
namespace {

const Computation& called_by(const Module& module, const Instruction& i) {
  return module.computations[static_cast<std::size_t>(get<Calls>(i, Key::to_apply).computations.at(0))];
}

const Instruction& reduced(const Computation& c, const Instruction& reduction) {
  return c.instructions[static_cast<std::size_t>(reduction.operands[0])];
}

// How its lines lie over devices; of one tile where they are not cut, of none where that is not known.
Parts parts_of(const Module& propagated, const Computation& c, const Instruction& reduction) {
  const Instruction& operand = reduced(c, reduction);
  const auto devices = static_cast<std::size_t>(propagated.partitions);
  if (operand.sharding.empty() || operand.sharding[0].spread == Spread::manual)
    return {{1}, Integers(devices), {}};  // replicated, or each device's own
  const auto division = divide(operand.sharding[0], operand.shape.dims.size(), propagated.partitions);
  if (!division) return {};
  Parts parts{{}, Integers(devices), {}};
  for (const std::int64_t d : get<Integers>(reduction, Key::dimensions)) {
    const std::int64_t tiles = division->tiles[static_cast<std::size_t>(d)];
    parts.tiles.push_back(tiles);
    for (std::size_t device = 0; device < devices; ++device)
      parts.part[device] =
          parts.part[device] * tiles + division->shares[device].tile[static_cast<std::size_t>(d)];
  }
  return parts;
}

// Those of an all-reduce of the program itself: each member holds one.
Parts parts_of(const Instruction& all_reduce, std::int64_t devices) {
  const std::vector<Integers> groups = groups_of(all_reduce, devices);
  const Ranks ranks = ranks_of(groups, devices);
  return {{std::ssize(groups[0])}, ranks.rank, ranks.group};
}

bool are_cut(const Parts& parts) { return count(parts.tiles) > 1; }

// What two modules have in common of a reduction; its name is another.
auto looks_of(const Computation& c, const Instruction& reduction) {
  const Shape& shape = reduced(c, reduction).shape;
  return std::tuple{shape.type, shape.dims, get<Integers>(reduction, Key::dimensions)};
}

// What the root of a computation is made of.
std::set<std::int64_t> read_for_root(const Computation& c) {
  std::set<std::int64_t> read = {c.root};
  for (std::int64_t n = std::ssize(c.instructions) - 1; n >= 0; --n)  // operands stand above
    if (const Integers& operands = c.instructions[static_cast<std::size_t>(n)].operands; read.contains(n))
      read.insert(operands.begin(), operands.end());
  return read;
}

// By what a reduction of one array, or an all-reduce of one, is made that has no other value of most parts.
// A sum that comes to a result has another wherever a part of it is missing.
std::optional<Opcode> made_by(const Module& module, const Instruction& i,
                              const std::set<const Instruction*>& brought) {
  const bool one = (i.opcode == Opcode::reduce && i.operands.size() == 2) ||
                   (i.opcode == Opcode::all_reduce && i.operands.size() == 1);
  if (!one || i.shape.type == Type::tuple) return std::nullopt;
  const auto by = only_operation(called_by(module, i));
  const bool predicates = i.shape.type == Type::pred;
  const bool is = by && (predicates ? *by == Opcode::or_ || *by == Opcode::and_
                                    : *by == Opcode::maximum || *by == Opcode::minimum ||
                                          (*by == Opcode::add && !brought.contains(&i)));
  return is ? by : std::nullopt;
}

bool is_of_one(const Module& module, const Computation& c, const Instruction& i) {
  if (i.opcode == Opcode::reduce) return elements(reduced(c, i).shape) == elements(i.shape);
  return groups_of(i, module.partitions)[0].size() == 1;
}

}  // namespace

Shared shared_out(const Subject& subject, const std::set<const Instruction*>& free_of_parameters) {
  // By their looks; where such as look alike lie in several ways, which of them is meant is not known.
  std::map<decltype(looks_of(subject.before.computations[0], {})), std::vector<Parts>> known;
  if (subject.propagated)
    for (const Computation& c : subject.propagated->computations)
      for (const Instruction& i : c.instructions)
        if (i.opcode == Opcode::reduce && i.operands.size() == 2)
          known[looks_of(c, i)].push_back(parts_of(*subject.propagated, c, i));
  const auto parts = [&](const Computation& c, const Instruction& i) -> Parts {
    if (i.opcode != Opcode::reduce) return parts_of(i, subject.before.partitions);
    const auto found = known.find(looks_of(c, i));
    if (found == known.end()) return {};
    const std::vector<Parts>& all = found->second;
    const auto is_first = [&](const Parts& one) {
      return one.tiles == all[0].tiles && one.part == all[0].part;
    };
    if (std::ranges::none_of(all, [](const Parts& one) { return one.part.empty() || are_cut(one); }))
      return {{1}, {}, {}};
    return std::ranges::all_of(all, is_first) ? all[0] : Parts{};
  };
  const std::set<const Instruction*> brought = brought_to_results(subject.before);
  Shared all;
  for (const Computation& c : subject.before.computations) {
    const std::set<std::int64_t> read = read_for_root(c);
    for (const std::int64_t n : read) {
      const Instruction& i = c.instructions[static_cast<std::size_t>(n)];
      const auto by = made_by(subject.before, i, brought);
      if (!by || free_of_parameters.contains(&i) || is_of_one(subject.before, c, i)) continue;
      Parts lie = parts(c, i);
      if (lie.tiles.empty() || are_cut(lie))
        all.insert({
            &i, {*by, std::move(lie)}
        });
    }
  }
  return all;
}

void draw_alone(const Module& module, std::vector<Bounds>& bounds, int tried) {
  const Computation& main = entry(module);
  for (std::size_t p = 0; p < bounds.size(); ++p) {
    const auto rank = main.instructions[static_cast<std::size_t>(main.parameters[p])].shape.dims.size();
    if (rank == 0) continue;
    // Of all arrays alike: all dimensions, the first, the last; then of each any.
    const std::uint64_t all = (std::uint64_t{1} << rank) - 1,
                        any = mixed(static_cast<std::uint64_t>(tried) * bounds.size() + p);
    const std::uint64_t dims = tried % 4 == 0   ? all
                               : tried % 4 == 1 ? 1
                               : tried % 4 == 2 ? std::uint64_t{1} << (rank - 1)
                                                : any & all;
    for (std::size_t d = 0; d < rank; ++d)
      if (dims >> d & 1) bounds[p].alone.push_back(static_cast<std::int64_t>(d));
  }
}

}  // namespace plumb::hlo
