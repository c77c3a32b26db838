#include "reference/hlo/prove/folded.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "reference/hlo/prove/twin.h"

namespace plumb::hlo {
namespace {

constexpr std::size_t kMostSources = 100;   // of which products of three are tried
constexpr std::size_t kMostConstants = 64;  // of an array that a compiler may have computed

template <typename F>
void each_constant(const Module& module, F f) {
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions)
      if (i.opcode == Opcode::constant) f(i);
}

double calculated(char operation, double a, double b) {
  switch (operation) {
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '+':
      return a + b;
    default:
      return a - b;
  }
}

std::string bracketed(const std::string& text) {
  return text.find(' ') == text.npos ? text : "(" + text + ")";
}

Source calculated(char operation, const Source& a, const Source& b, std::uint64_t key) {
  Pairs pairs{key};
  const Opcode opcode = operation == '*'   ? Opcode::multiply
                        : operation == '/' ? Opcode::divide
                        : operation == '+' ? Opcode::add
                                           : Opcode::subtract;
  return {pairs.binary(opcode, a.is, b.is), bracketed(a.text) + " " + operation + " " + bracketed(b.text)};
}

// A constant that is looked for.
struct Wanted {
  double value = 0;
  Type type = Type::f32;
  std::vector<Source> meanings;
};

struct Hunt {
  const std::vector<Source>& sources;
  std::vector<Wanted> wanted;  // ascending by size
  std::uint64_t key = 0;

  // Where a number of this size may be: the constants that it is near.
  template <typename F>
  void near(double x, F f) {
    const double size = std::fabs(x);
    if (!(size > 0) || std::isinf(size)) return;
    const auto below = [](const Wanted& w, double s) { return std::fabs(w.value) < s; };
    const double wide = size * 0x1p-3;  // the formats with the fewest digits
    for (auto w = std::lower_bound(wanted.begin(), wanted.end(), size - wide, below);
         w != wanted.end() && std::fabs(w->value) <= size + wide; ++w)
      f(*w);
  }

  bool rounds_to(double x, const Wanted& w) const {
    return std::fabs(rounded(x, w.type)) == std::fabs(w.value);
  }

  void found(Wanted& w, Source source) const {
    if ((source.is.real < 0) != (w.value < 0)) source = {negated(source.is), "-" + bracketed(source.text)};
    const Residue it = identity(key, source.is);
    for (const Source& other : w.meanings)
      if (identity(key, other.is) == it) return;
    w.meanings.push_back(std::move(source));
  }

  template <typename Make>
  void try_one(double exact, Make make) {
    near(exact, [&](Wanted& w) {
      if (rounds_to(exact, w)) found(w, make());
    });
  }

  void one() {
    const Source unit{
        {1, 0, {1}, {}},
        "1"
    };
    for (const Source& s : sources) {
      try_one(s.is.real, [&] { return s; });
      try_one(1 / s.is.real, [&] { return calculated('/', unit, s, key); });
    }
  }

  // Calls f(operation, a, b) for every pair and operation that is another number.
  template <typename F>
  void each_pair(F f) const {
    for (std::size_t a = 0; a < sources.size(); ++a)
      for (std::size_t b = 0; b < sources.size(); ++b) {
        f('/', a, b);
        if (b > a) continue;
        for (const char operation : {'*', '+', '-'}) f(operation, a, b);
      }
  }

  void two() {
    each_pair([&](char operation, std::size_t a, std::size_t b) {
      try_one(calculated(operation, sources[a].is.real, sources[b].is.real),
              [&] { return calculated(operation, sources[a], sources[b], key); });
    });
  }

  void three() {
    each_pair([&](char inner, std::size_t a, std::size_t b) {
      const double pair = calculated(inner, sources[a].is.real, sources[b].is.real);
      for (const Source& c : sources)
        for (const char outer : {'*', '/', '\\', '+', '-'}) {  // \ is division the other way round
          const auto at = [&](double x) {
            return outer == '\\' ? c.is.real / x : calculated(outer, x, c.is.real);
          };
          near(at(pair), [&](Wanted& w) {
            if (!rounds_to(at(pair), w) && !rounds_to(at(rounded(pair, w.type)), w)) return;
            const Source both = calculated(inner, sources[a], sources[b], key);
            found(w, outer == '\\' ? calculated('/', c, both, key) : calculated(outer, both, c, key));
          });
        }
    });
  }
};

std::vector<Wanted> lacking(const Module& before, const Module& after) {
  std::set<double> known{0};
  each_constant(before,
                [&](const Instruction& i) { known.insert(i.literal.reals.begin(), i.literal.reals.end()); });
  std::map<double, Type> all;
  each_constant(after, [&](const Instruction& i) {
    std::set<double> here;
    for (const double x : i.literal.reals)
      if (std::isfinite(x) && !known.contains(x)) here.insert(x);
    if (here.size() > kMostConstants) return;
    for (const double x : here) all.emplace(x, i.shape.type);
  });
  std::vector<Wanted> wanted;
  for (const auto& [value, type] : all) wanted.push_back({value, type, {}});
  std::ranges::sort(wanted, {}, [](const Wanted& w) { return std::fabs(w.value); });
  return wanted;
}

}  // namespace

std::string decimal(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  if (std::strtof(text, nullptr) != static_cast<float>(x)) std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}

std::vector<Source> constants_of(const Module& module) {
  std::map<double, Source> all;
  const auto take = [&](double x) {
    if (std::isfinite(x) && x != 0)
      all.try_emplace(std::fabs(x), Source{special(0, std::fabs(x)), decimal(std::fabs(x))});
  };
  each_constant(module, [&](const Instruction& i) {
    if (i.literal.reals.size() > kSeveral) return;
    for (const double x : i.literal.reals) take(x);
    if (i.shape.dims.empty() && is_integer(i.shape.type)) take(static_cast<double>(i.literal.integers.at(0)));
  });
  std::vector<Source> list;
  for (auto& [size, source] : all) list.push_back(std::move(source));
  return list;
}

std::set<const Instruction*> free_of_parameters(const Module& module) {
  std::set<const Instruction*> free;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      const auto is_free = [&](std::int64_t o) {
        const Instruction& operand = c.instructions[static_cast<std::size_t>(o)];
        return operand.opcode == Opcode::constant || free.contains(&operand);
      };
      if (i.opcode < Opcode::call && !i.operands.empty() && std::ranges::all_of(i.operands, is_free))
        free.insert(&i);
    }
  return free;
}

std::vector<Folded> folded_constants(const Module& before, const Module& after,
                                     const std::vector<Source>& sources, std::uint64_t key) {
  Hunt hunt{sources, lacking(before, after), key};
  std::vector<Folded> folded;
  const auto settle = [&] {
    for (Wanted& w : hunt.wanted)
      if (!w.meanings.empty()) folded.push_back({w.value, w.meanings});
    std::erase_if(hunt.wanted, [](const Wanted& w) { return !w.meanings.empty(); });
    return hunt.wanted.empty();
  };
  if (settle()) return folded;
  hunt.one();
  if (settle()) return folded;
  hunt.two();
  if (settle() || sources.size() > kMostSources) return folded;
  hunt.three();
  settle();
  return folded;
}

}  // namespace plumb::hlo
