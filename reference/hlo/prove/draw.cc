#include "reference/hlo/prove/draw.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>

#include "reference/hlo/run/integers.h"
#include "reference/hlo/run/manual.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {
namespace {

// Of every eight draws, by the seed.
enum class Draw : std::uint8_t { plain, mixed, one_sign, least, quarter, greatest, other_sign, ties };
Draw draw_of(std::uint64_t seed) { return static_cast<Draw>(seed % 8); }

// Number n of the stream of SplitMix64 that begins at `state`.
constexpr std::uint64_t split(std::uint64_t state, std::uint64_t n) {
  return mixed(state + (n + 1) * 0x9e3779b97f4a7c15u);
}

constexpr int kLargeBits = 10;    // of the larger integers
constexpr std::int64_t kRun = 4;  // of integers that are the same, as the numbers of packed texts are

// What floats are where there are ties: zero, three that are drawn, and up to four constants of the module
// that are of their size, since with these they may be compared.
struct Few {
  static constexpr std::size_t kDrawn = 3, kConstants = 4;
  std::uint64_t key = 0;
  std::vector<double> constants{};

  std::uint64_t size() const { return 1 + kDrawn + constants.size(); }
};

Few few_of(const Module& module, std::uint64_t seed) {
  Few few{split(0, seed)};
  // In every other draw with ties all over without constants: with fewer numbers more are the same.
  if (!has_zeros(seed) || (has_ties(seed) && seed / 8 % 2 == 0)) return few;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      if (i.opcode != Opcode::constant || !i.shape.dims.empty() || i.literal.reals.empty()) continue;
      const double x = i.literal.reals[0], size = std::fabs(x);
      const bool known = std::ranges::count(few.constants, x) > 0 || few.constants.size() == Few::kConstants;
      if (size >= 0x1p-5 && size <= 0x1p5 && !known) few.constants.push_back(x);
    }
  return few;
}

// Of a draw, and of an argument of this key.
double scale_of(Draw draw, std::uint64_t key) {
  constexpr std::uint64_t kSizes = 11;
  if (draw == Draw::plain || draw == Draw::ties) return 1;
  if (draw == Draw::mixed) return 0x1p-3;
  return std::ldexp(0x1p-5, static_cast<int>(mixed(key + 1) % kSizes));
}

// A dimension along which one slice is not as all others are, which are as the one at `other`.
struct Aloneness {
  std::int64_t extent = 1, stride = 1, alone = 0;
  std::int64_t at(std::int64_t n) const { return n / stride % extent; }
  std::int64_t other() const { return (alone + 1) % extent; }
};

// An argument, element by element: each is what the argument's key and its place alone say.
struct Argument {
  Shape shape;
  Draw draw;
  const Few& few;  // that all arguments share
  std::uint64_t key = 0;
  double scale = 1;
  bool negative = false;                 // the sign, where there is one
  std::int64_t all = 0;                  // elements
  std::int64_t from = 0, to = 0;         // between which integers
  std::int64_t low = -1, high = -1;      // where the least integer stands, and the greatest
  std::optional<std::int64_t> others{};  // what all others are
  std::int64_t run = 1;                  // so many integers, one after the other, are the same
  std::vector<std::int64_t> asked{};     // a quarter of them are one of these
  std::vector<std::int64_t> borders{};   // another of these
  std::vector<std::int64_t> placed{};    // or half of these
  std::int64_t turn = 0, from_turn = 0;  // or all, by turns
  std::int64_t step = 1;                 // by which one comes here and there to all
  std::int64_t extent = 1, stride = 0;   // of the dimension along which each slice is one of few
  std::vector<Aloneness> lines{};        // along which one is alone
  Moved moved{};
  std::shared_ptr<const Argument> toward{};  // where it is moved to

  std::uint64_t bits(std::int64_t n) const { return split(key, static_cast<std::uint64_t>(n)); }
  // The quarters of a mixed array: any, of one sign, with ties, of the other sign.
  std::int64_t quarter(std::int64_t n) const { return 4 * n / all; }

  bool tied(std::int64_t n) const {
    return all > 1 && (draw == Draw::ties || (draw == Draw::mixed && quarter(n) == 2));
  }
  bool negative_at(std::int64_t n, std::uint64_t random) const {
    if (lines.empty() && (draw == Draw::one_sign || draw == Draw::other_sign)) return negative;
    if (lines.empty() && draw == Draw::mixed && all > 1 && quarter(n) % 2 == 1)
      return negative == (quarter(n) == 1);
    return (random & 1) == 0;
  }

  bool is_alone(std::int64_t n) const {
    return std::ranges::all_of(lines, [&](const Aloneness& line) { return line.at(n) == line.alone; });
  }
  // The element whose number element n has.
  std::int64_t shared(std::int64_t n) const {
    if (lines.empty() || is_alone(n)) return n;
    for (const Aloneness& line : lines) n += (line.other() - line.at(n)) * line.stride;
    return n;
  }
  // Of what is alone, and of what all others are, each has a size of its own: some limit lies between them.
  double scale_at(std::int64_t n) const {
    return lines.empty() ? scale : scale_of(Draw::one_sign, split(key, is_alone(n) ? 1 : 2));
  }

  Twin number(std::uint64_t first, std::uint64_t second, bool below, double largest) const {
    const double size = (static_cast<double>(second >> 11) * 0x1p-53 * 1.5 + 0.5) * largest;
    return {below ? -size : size, 0, residue(static_cast<unsigned __int128>(first)), {}};
  }
  // Whose number element n has.
  std::int64_t sliced(std::int64_t n) const {
    constexpr std::int64_t kSlices = 3;
    if (stride == 0) return n;
    const std::int64_t place = n / stride % extent;
    const auto slice = static_cast<std::int64_t>(bits(place) >> 32) % std::min(extent, kSlices);
    return n + (slice - place) * stride;
  }
  Twin real(std::int64_t n) const {
    Twin x = own(n);
    if (toward) x.real += moved.part * (toward->own(n).real - x.real);
    x.real *= moved.size;
    return x;
  }
  Twin own(std::int64_t n) const {
    const double size = scale_at(n);
    n = sliced(shared(n));
    if (!tied(n)) {
      const std::uint64_t second = mixed(bits(n) + key);
      return number(bits(n), second, negative_at(n, second), size);
    }
    const std::uint64_t which = bits(n) % few.size();
    if (which == 0) return {};
    if (which > Few::kDrawn) {
      const double x = few.constants[which - Few::kDrawn - 1];
      return {x, 0, residue_of(x), {}};
    }
    std::uint64_t first = split(few.key, which);
    if (!lines.empty()) first = mixed(first + std::bit_cast<std::uint64_t>(size));  // one number, one real
    const std::uint64_t second = mixed(first + few.key);
    return number(first, second, (second & 1) == 0, size);
  }

  // The how manyth of those that are placed element n is, which stand here and there; -1: none of them.
  std::int64_t place(std::int64_t n) const {
    if (placed.empty()) return -1;
    if (turn > 0) return (from_turn + n) / turn;
    const auto at = static_cast<std::int64_t>(static_cast<__int128>(n) * step % all);
    return at < (all + 1) / 2 ? at : -1;
  }
  std::int64_t integer(std::int64_t n) const {
    n = shared(n);
    const auto least = static_cast<std::uint64_t>(from);
    const std::uint64_t span = static_cast<std::uint64_t>(to) - least + 1;  // 0: any of 64 bits
    if (turn == 0 && (n == low || n == high)) return wrap(shape.type, n == low ? from : to);
    if (others) return *others;
    const std::uint64_t random = bits(n - n % run), quarter = random >> 62, which = random >> 32;
    if (const std::int64_t at = place(n); at >= 0)
      return wrap(shape.type, placed[static_cast<std::size_t>(at) % placed.size()]);
    if (!asked.empty() && quarter == 0) return wrap(shape.type, asked[which % asked.size()]);
    if (!borders.empty() && quarter == 1) return wrap(shape.type, borders[which % borders.size()]);
    return wrap(shape.type, static_cast<std::int64_t>(least + (span == 0 ? random : random % span)));
  }
};

// The ends, and both sides of what halves and quarters begin with: of an array in 2, 4 or 8 tiles every other
// one is met.
void place_single(Argument& a) {
  const std::int64_t half = a.from + (a.to - a.from + 1) / 2, quarter = (a.to - a.from + 1) / 4;
  const std::pair<Draw, std::int64_t> places[] = {
      {Draw::least,    a.from          },
      {Draw::plain,    half - 1        },
      {Draw::mixed,    half            },
      {Draw::quarter,  a.from + quarter},
      {Draw::one_sign, a.to - quarter  },
      {Draw::greatest, a.to            }
  };
  for (const auto& [draw, at] : places)
    if (a.draw == draw) a.from = a.to = std::clamp(at, a.from, a.to);
}

// Those in which numbers are as large as they get, of either sign.
bool has_asked(Draw draw) {
  return draw == Draw::mixed || draw == Draw::least || draw == Draw::quarter || draw == Draw::greatest;
}

// Of those that index nothing, below zero as far as above.
std::int64_t largest_drawn(Type type) { return std::int64_t{1} << std::min(row(type).bits - 1, kLargeBits); }

// Arrays of integers that index nothing: small ones, larger ones, those of one sign. Predicates: half of them
// hold, one, all but one, none, all.
void widen(Argument& a, std::size_t p, std::uint64_t seed) {
  const bool sparse = a.draw == Draw::mixed || a.draw == Draw::least || a.draw == Draw::greatest;
  if (a.shape.type == Type::pred && sparse) {
    const std::uint64_t kind = (seed / 2 + seed / 8 + p) % 4;
    a.others = static_cast<std::int64_t>(kind % 2);
    if (kind != 1) a.low = -1;
    if (kind != 0) a.high = -1;
  }
  if (row(a.shape.type).kind != Kind::signed_integer) return;
  if (a.draw != Draw::plain && a.draw != Draw::ties) {
    const std::int64_t most = largest_drawn(a.shape.type);
    a.from = -most, a.to = most - 1;
  }
  const bool one_sign = a.draw == Draw::one_sign || a.draw == Draw::other_sign;
  if (one_sign) (a.negative ? a.to : a.from) = a.negative ? -1 : 0;
  if (one_sign || a.draw == Draw::mixed) a.run = kRun;
  if (has_asked(a.draw) && std::ranges::count(a.asked, 0) == 0) a.asked.push_back(0);
}

// A single one that indexes nothing, and says of no loop how long it runs.
void widen_single(Argument& a) {
  if (row(a.shape.type).kind != Kind::signed_integer) return;
  if (has_asked(a.draw)) a.to = largest_drawn(a.shape.type) - 1;
}

// Along dimensions of one extent, of all arguments, the same slice is alone.
void set_alone(Argument& a, const Bounds& bounds, std::uint64_t seed) {
  if (bounds.alone.empty()) return;
  for (const std::int64_t d : bounds.alone) {
    Aloneness& line = a.lines.emplace_back();
    line.extent = a.shape.dims[static_cast<std::size_t>(d)];
    for (auto k = static_cast<std::size_t>(d) + 1; k < a.shape.dims.size(); ++k)
      line.stride *= a.shape.dims[k];
    line.alone = static_cast<std::int64_t>(split(split(2, seed), static_cast<std::uint64_t>(line.extent)) %
                                           static_cast<std::uint64_t>(line.extent));
  }
  a.low = a.high = -1, a.others = std::nullopt, a.run = 1;
  a.asked = bounds.asked, a.borders = bounds.borders;
}

// All of one draw.
struct Drawing {
  const Module& module;
  const std::vector<Bounds>& bounds;
  std::uint64_t seed;
  Few few = few_of(module, seed);
};

Argument argument(const Drawing& drawing, std::size_t p) {
  const auto& [module, bounds, seed, few] = drawing;
  const Computation& main = entry(module);
  const Instruction& parameter = main.instructions[static_cast<std::size_t>(main.parameters[p])];
  if (row(parameter.shape.type).kind == Kind::none)
    refuse(module, parameter, "unsupported: a parameter that is no array");
  Argument a{parameter.shape, draw_of(seed), few, split(split(0, seed), p)};
  a.scale = scale_of(a.draw, a.key), a.moved = bounds[p].moved;
  if (a.moved.part != 0) {
    std::vector<Bounds> still = bounds;
    still[p].moved = {};
    a.toward = std::make_shared<const Argument>(argument({module, still, a.moved.toward, few}, p));
  }
  a.negative = ((split(split(1, seed / 8), p) & 1) == 0) != (a.draw == Draw::other_sign);
  a.all = elements(a.shape), a.from = bounds[p].low, a.to = bounds[p].high;
  if (a.all == 1 && bounds[p].any) widen_single(a);
  if (a.all == 1 && seed / 8 % 2 == 0) place_single(a);
  if (a.all == 1 && !bounds[p].placed.empty()) a.from = a.to = bounds[p].placed[0];
  if (a.all < 2) return a;
  const auto all = static_cast<std::uint64_t>(a.all),
             low = mixed(a.key) % all;  // masks and clamps show at the ends
  a.low = static_cast<std::int64_t>(low);
  a.high = static_cast<std::int64_t>((low + 1 + mixed(~a.key) % (all - 1)) % all);
  if (has_asked(a.draw)) a.asked = bounds[p].asked, a.borders = bounds[p].borders;
  if (bounds[p].any) widen(a, p, seed);
  if (const auto at = static_cast<std::size_t>(bounds[p].sliced); bounds[p].sliced >= 0) {
    a.extent = a.shape.dims[at], a.stride = 1;
    for (std::size_t d = at + 1; d < a.shape.dims.size(); ++d) a.stride *= a.shape.dims[d];
  }
  set_alone(a, bounds[p], seed);
  a.placed = bounds[p].placed, a.turn = bounds[p].turn, a.from_turn = bounds[p].from;
  if (a.placed.empty()) return a;
  a.run = 1, a.step = 1 + static_cast<std::int64_t>(a.key % all);
  while (std::gcd(a.step, a.all) != 1) ++a.step;
  return a;
}

}  // namespace

int draws_of(const Module& module, const std::vector<Bounds>& bounds) {
  constexpr std::int64_t kFew = 4096;
  std::int64_t all = 0;
  bool indexes = false;
  const Computation& main = entry(module);
  for (std::size_t p = 0; p < main.parameters.size(); ++p) {
    const Shape& shape = main.instructions[static_cast<std::size_t>(main.parameters[p])].shape;
    all += elements(shape);
    indexes = indexes || (bounds[p].indexes && elements(shape) == 1);
  }
  return all < kFew || indexes ? 8 : 2;
}

std::vector<std::string> integers_drawn(const Module& module, const std::vector<Bounds>& bounds) {
  std::vector<std::string> all;
  const Computation& main = entry(module);
  for (std::size_t p = 0; p < main.parameters.size(); ++p) {
    const Instruction& i = main.instructions[static_cast<std::size_t>(main.parameters[p])];
    if (!is_integer(i.shape.type)) continue;
    Bounds between = bounds[p];
    if (between.any) {
      if (row(i.shape.type).kind != Kind::signed_integer) continue;  // any number of its type
      const std::int64_t most = largest_drawn(i.shape.type);
      between.high = most - 1;
      if (elements(i.shape) > 1) between.low = -most;
    }
    std::string line = (i.op_name.empty() ? "%" + i.name : i.op_name) + " " + print(i.shape, false) + " " +
                       std::to_string(between.low) + " to " + std::to_string(between.high);
    for (const std::int64_t x : between.asked)
      if (x < between.low || x > between.high) line += ", or " + std::to_string(x);
    all.push_back(std::move(line));
  }
  return all;
}

bool is_plain(std::uint64_t seed) { return draw_of(seed) == Draw::plain; }
bool has_ties(std::uint64_t seed) { return draw_of(seed) == Draw::ties; }
bool has_zeros(std::uint64_t seed) { return has_ties(seed) || draw_of(seed) == Draw::mixed; }

std::vector<Value<Twin>> drawn(Pairs& pairs, const Module& module, const std::vector<Bounds>& bounds,
                               const std::vector<Division>& cuts) {
  const Drawing drawing{module, bounds, pairs.key};
  std::vector<Value<Twin>> arguments;
  for (std::size_t p = 0; p < cuts.size(); ++p) {
    const Argument a = argument(drawing, p);
    const Array<Twin> fill = poison(pairs, a.shape.type);
    arguments.push_back(value(
        is_real(a.shape.type) ? cut(a.shape, cuts[p], fill, [&a](std::int64_t n) { return a.real(n); })
                              : cut(a.shape, cuts[p], fill, [&a](std::int64_t n) { return a.integer(n); })));
  }
  return arguments;
}

std::vector<Value<Twin>> drawn(const Module& module, const std::vector<Bounds>& bounds, std::uint64_t seed) {
  const Drawing drawing{module, bounds, seed};
  std::vector<Value<Twin>> arguments;
  for (std::size_t p = 0; p < entry(module).parameters.size(); ++p) {
    const Argument a = argument(drawing, p);
    auto array = like<Twin>(a.shape, 1);
    visit(array, [&](const auto& kind) {
      auto& to = elements_of(array, kind);
      to.resize(static_cast<std::size_t>(elements(a.shape)));
      each_part(elements(a.shape), 8, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n)
          if constexpr (std::is_same_v<std::decay_t<decltype(kind)>, std::vector<std::int64_t>>)
            to[static_cast<std::size_t>(n)] = a.integer(n);
          else
            to[static_cast<std::size_t>(n)] = a.real(n);
      });
    });
    arguments.push_back(value(std::move(array)));
  }
  return arguments;
}

}  // namespace plumb::hlo
