#include "reference/hlo/prove/subject.h"

#include <algorithm>

#include "reference/hlo/run/manual.h"
#include "reference/hlo/run/runs.h"

namespace plumb::hlo {
namespace {

const Instruction& root(const Module& module) {
  return entry(module).instructions[static_cast<std::size_t>(entry(module).root)];
}

const Instruction& parameter(const Module& module, std::size_t n) {
  return entry(module).instructions[static_cast<std::size_t>(entry(module).parameters[n])];
}

// The sharding of result n; nothing where none is written.
std::optional<Sharding> of_result(const Module& module, std::size_t n) {
  const Instruction& i = root(module);
  if (i.sharding.empty()) return std::nullopt;
  const Sharding& s = i.sharding[0];
  if (s.spread != Spread::tuple) return s;
  return n < s.parts.size() ? std::optional(s.parts[n]) : std::nullopt;
}

Division division_or_refuse(const Module& module, const Instruction& i, const Sharding& sharding,
                            const Shape& shape) {
  const auto division = divide(sharding, shape.dims.size(), module.partitions);
  if (!division) refuse(module, i, "unsupported: a result or parameter laid out as " + print(sharding));
  return *division;
}

// Whole arrays, which all devices know.
std::vector<Division> undivided(const std::vector<Shape>& shapes) {
  std::vector<Division> all;
  for (const Shape& shape : shapes)
    all.push_back({Integers(shape.dims.size(), 1), 1, {{Integers(shape.dims.size(), 0), 0}}});
  return all;
}

// Of an array; 0 of a tuple.
std::int64_t bits(const Shape& shape) {
  return shape.type == Type::tuple ? 0 : elements(shape) * row(shape.type).bits;
}

}  // namespace

std::vector<Shape> result_shapes(const Module& module) {
  const Shape& shape = root(module).shape;
  const std::vector<Shape> all = shape.type == Type::tuple ? shape.parts : std::vector{shape};
  for (const Shape& one : all)
    if (row(one.type).kind == Kind::none)
      refuse(module, root(module), "unsupported: a result that is no array");
  return all;
}

std::vector<Division> layouts(const Subject& subject, bool& as_propagated) {
  if (!subject.partitioned) return undivided(result_shapes(subject.before));
  const Module& before = subject.before;
  const std::vector<Shape> shapes = result_shapes(before);
  std::vector<Division> all;
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    auto sharding = of_result(before, n);
    const bool free = n < before.propagated_results.size() && before.propagated_results[n];
    if ((free || !sharding) && subject.propagated) {
      if (const auto chosen = of_result(*subject.propagated, n)) sharding = chosen, as_propagated = true;
    }
    // What is replicated after propagation says nothing there, and each device holds all of it.
    if (!sharding && subject.propagated && same_arrays(shapes[n], result_shapes(subject.after).at(n)))
      sharding = Sharding{}, as_propagated = true;
    if (!sharding && of_result(subject.after, n))
      refuse(before, "nothing is laid out here, but in AFTER: the two modules are exchanged");
    if (!sharding)
      refuse(before, root(before),
             "result " + std::to_string(n) +
                 (subject.propagated
                      ? " has no layout, neither here nor after propagation"
                      : " has no layout here; the module after propagation has one, and may be BEFORE: dump "
                        "it with --xla_dump_hlo_pass_re=spmd.*|shardy.*|sharding.*"));
    all.push_back(division_or_refuse(before, root(before), *sharding, shapes[n]));
  }
  return all;
}

std::vector<Division> parameter_layouts(const Subject& subject) {
  std::vector<Division> all;
  if (!subject.partitioned) {
    std::vector<Shape> shapes;
    for (std::size_t n = 0; n < entry(subject.before).parameters.size(); ++n)
      shapes.push_back(parameter(subject.before, n).shape);
    return undivided(shapes);
  }
  for (std::size_t n = 0; n < entry(subject.before).parameters.size(); ++n) {
    const Instruction &whole = parameter(subject.before, n), &local = parameter(subject.after, n);
    const bool known = subject.propagated && n < entry(*subject.propagated).parameters.size();
    const auto chosen = known ? parameter(*subject.propagated, n).sharding : std::vector<Sharding>{};
    const Sharding sharding = !whole.sharding.empty()   ? whole.sharding[0]
                              : !local.sharding.empty() ? local.sharding[0]
                              : !chosen.empty()
                                  ? chosen[0]  // the partitioner of JAX 0.12 leaves none in AFTER
                                  : Sharding{};
    all.push_back(division_or_refuse(subject.before, whole, sharding, whole.shape));
    const Shape held{whole.shape.type, tile_dims(whole.shape.dims, all.back()), {}, {}, {}};
    if (!same_arrays(held, local.shape))
      refuse(subject.after, local,
             "a device holds " + print(held, false) + " of parameter " + std::to_string(n) +
                 ", this module has " + print(local.shape, false));
  }
  return all;
}

void check_pair(const Subject& subject) {
  const Module &before = subject.before, &after = subject.after;
  const auto same = [&](std::int64_t a, std::int64_t b, const char* what) {
    if (a != b)
      refuse(after, "not the same program: " + std::to_string(a) + " " + what + (a == 1 ? "" : "s") +
                        " before, " + std::to_string(b) + " after");
  };
  same(before.partitions, after.partitions, "partition");
  same(std::ssize(entry(before).parameters), std::ssize(entry(after).parameters), "parameter");
  same(std::ssize(result_shapes(before)), std::ssize(result_shapes(after)), "result");
  check_runs(before, before), check_runs(after, before);
  if (before.partitions < 2) refuse(before, "one partition: nothing was partitioned");
  for (const Module* module : {&before, &after})
    if (module->replicas != 1) refuse(*module, "unsupported: more replicas than one");
}

void check_results(const Subject& subject, const std::vector<Division>& results) {
  const Module& after = subject.after;
  const std::vector<Shape> wholes = result_shapes(subject.before), locals = result_shapes(after);
  for (std::size_t n = 0; n < results.size(); ++n) {
    const Shape &whole = wholes[n], &local = locals[n];
    const Shape held{whole.type, tile_dims(whole.dims, results[n]), {}, {}, {}};
    if (!same_arrays(held, local))
      refuse(after, root(after),
             "a device holds " + print(held, false) + " of result " + std::to_string(n) +
                 ", this module has " + print(local, false));
  }
}

void check(const Subject& subject) {
  bool as_propagated = false;
  check_pair(subject);
  check_results(subject, layouts(subject, as_propagated));
  parameter_layouts(subject);
}

std::optional<LostAlias> lost_alias(const Subject& subject) {
  const auto shape_of = [](Shape shape, const Integers& path) {
    for (const std::int64_t n : path) {
      if (n < 0 || n >= std::ssize(shape.parts)) return Shape{};
      shape = Shape(shape.parts[static_cast<std::size_t>(n)]);
    }
    return shape;
  };
  const auto lost = [](const Alias& a, const std::string& before, const std::string& after) {
    return LostAlias{before + "result " + print_list(a.result) + " in the memory of parameter " +
                         std::to_string(a.parameter) + after,
                     a.parameter};
  };
  const auto in_place_of = [](const Alias& a, const std::vector<Alias>& all) {
    return std::ranges::find_if(all, [&](const Alias& other) {
      return other.result == a.result && other.parameter == a.parameter && other.within == a.within;
    });
  };
  for (const Alias& a : subject.before.aliases) {
    const auto kept = in_place_of(a, subject.after.aliases);
    if (kept == subject.after.aliases.end()) return lost(a, "no longer ", "");
    if (a.kind == "must-alias" && kept->kind != a.kind)
      return lost(a, "", ", where it must be and now only may");
  }
  for (const Alias& a : subject.after.aliases) {
    if (std::ranges::find(subject.before.aliases, a) != subject.before.aliases.end()) continue;
    const auto meets = [&](const Alias& other) {
      return other.result == a.result || (other.parameter == a.parameter && other.within == a.within);
    };
    const bool once = std::ranges::count_if(subject.after.aliases, meets) == 1;
    if (once && in_place_of(a, subject.before.aliases) != subject.before.aliases.end()) continue;
    const bool there = a.parameter >= 0 && a.parameter < std::ssize(entry(subject.after).parameters);
    if (!there ||
        bits(shape_of(root(subject.after).shape, a.result)) !=
            bits(shape_of(parameter(subject.after, static_cast<std::size_t>(a.parameter)).shape, a.within)))
      return lost(a, "", ", of another size");
    if (!once) return lost(a, "", ", one of both twice");
    const Donor donor{a.parameter, a.within};
    if (std::ranges::find(subject.before.donors, donor) == subject.before.donors.end())
      return lost(a, "", ", which nobody gives away");
  }
  return std::nullopt;
}

}  // namespace plumb::hlo
