#include "reference/hlo/prove/straddle.h"

#include <algorithm>
#include <cmath>

#include "reference/hlo/prove/draw.h"
#include "reference/hlo/prove/prints.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

// A place of a comparison, the how-manieth time that it is computed.
struct Where {
  std::int64_t time = 0, at = 0;
};

// A run: `off` says on which side of the turn the place was, and how far; 0 on it.
struct Far {
  double t = 0, off = 0;
  Where place{};
  bool is_of_zero = false, is_of_one_sign = false, is_last = false;
  double error = 0;    // of `off`
  double largest = 0;  // side anywhere
};

// Ends a run.
struct Enough {};

constexpr double kSame = 0x1p-60;  // how far off what is the same counts as

// Floats that move by one number: `sign` 2^t as large, or t of the way to those of another seed.
struct Motion {
  const Approach& what;
  std::uint64_t seed;
  double sign = 1;
  std::optional<std::uint64_t> toward{};
  double unit = what.known.largest;
  bool by_ones = what.known.by_ones();

  std::vector<Bounds> moved(double t) const {
    std::vector<Bounds> bounds = what.bounds;
    for (Bounds& b : bounds) b.moved = toward ? Moved{*toward, t, 1} : Moved{0, 0, sign * std::exp2(t)};
    return bounds;
  }

  // Of numbers of one sign by what one is of the other, in logarithms: of what is a power that is straight.
  double off(const Twin& left, const Twin& right) const {
    const double a = left.real, b = right.real;
    if (is_same(left, right) || (by_ones && a == b)) return is_greater(*what.at, left, right) ? kSame : -kSame;
    if (a == 0 || b == 0) return (a - b) / (unit > 0 ? unit : std::max(std::fabs(a), std::fabs(b)));
    if ((a < 0) == (b < 0)) return std::log(a / b) * (a < 0 ? -1 : 1);
    return (a - b) / std::max(std::fabs(a), std::fabs(b));
  }

  // At a place, or where as many are on one side of it as on the other: there what others are tells most.
  std::optional<Far> run(double t, const Where* place) const {
    constexpr std::size_t kMost = 4096;
    if (--what.runs < 0) return std::nullopt;
    Pairs pairs{seed};
    std::vector<Far> all;
    double largest = 0;
    std::int64_t time = 0;
    const auto seen = [&](const Instruction& i, const std::vector<Value<Twin>>& operands, const auto&) {
      if (&i != what.at) return;
      if (!place || place->time == time)
        each_place(operands, [&](const Twin& a, const Twin& b, std::int64_t at) {
          if ((place && at != place->at) || !finite_all({a.real, b.real}) || all.size() == kMost) return;
          largest = std::max({largest, std::fabs(a.real), std::fabs(b.real)});
          const double size =
              a.real == 0 || b.real == 0 ? unit : std::max(std::fabs(a.real), std::fabs(b.real));
          all.push_back({
              t,
              off(a, b),
              {time, at},
              a.real == 0 || b.real == 0,
              a.real * b.real > 0,
              is_last(*what.at, a, b),
              (a.error + b.error) / size
          });
        });
      if (place && time == place->time) throw Enough{};
      ++time;
    };
    Machine<Pairs> machine{what.module, pairs, what.module.partitions, seen, nullptr, what.pulse};
    try {
      evaluate(machine, entry(what.module), drawn(what.module, moved(t), seed), {});
    } catch (const Enough&) {
    } catch (const Disagreement&) {
      return std::nullopt;
    }
    if (all.empty()) return std::nullopt;
    const auto middle = all.begin() + std::ssize(all) / 2;
    std::ranges::nth_element(all, middle, {}, &Far::off);
    middle->largest = largest;
    return *middle;
  }

  bool is_near(const Far& one) const {
    constexpr double kClear = 16;
    return std::fabs(one.off) < std::max(kNearest, kClear * one.error) || (by_ones && one.is_last);
  }

  // Of two runs on unlike sides two that are near.
  std::optional<std::pair<Far, Far>> between(Far a, Far b, const Where& place) const {
    constexpr int kMost = 32;
    for (int tried = 0; tried < kMost; ++tried) {
      if (is_near(a) && is_near(b)) return std::pair{a, b};
      const bool a_is_far = is_near(b) || (!is_near(a) && std::fabs(a.off) > std::fabs(b.off));
      const Far& far = a_is_far ? a : b;
      const double goal = std::copysign(std::max(kNearest, 16 * far.error) / 4, far.off);
      double t = a.t + (goal - a.off) * (b.t - a.t) / (b.off - a.off);
      const bool is_flat = std::min(std::fabs(a.off), std::fabs(b.off)) == kSame;
      if (is_flat || tried % 3 == 2 || !((t > a.t && t < b.t) || (t < a.t && t > b.t))) t = (a.t + b.t) / 2;
      if (t == a.t || t == b.t) return std::nullopt;  // it jumps there
      const std::optional<Far> one = run(t, &place);
      if (!one || one->off == 0) return std::nullopt;
      ((one->off < 0) == (a.off < 0) ? a : b) = *one;
    }
    return std::nullopt;
  }

  // The other answer wherever it is near where it turns.
  void turn(const std::vector<Value<Twin>>& operands, Value<Twin>& held) const {
    static const Array<Twin> kZero{Type::f32, {}, 1, {}, {Twin{}}, {}};
    Array<Twin> other = *held.array;
    const std::int64_t size = count(other.dims);
    const Array<Twin>&a = *operands[0].array, &b = operands.size() == 1 ? kZero : *operands[1].array;
    for (std::int64_t n = 0; n < other.lanes * size; ++n) {
      const auto of = [&](const Array<Twin>& side) {
        return side.reals[static_cast<std::size_t>(n) % side.reals.size()];
      };
      const Twin left = of(a), right = of(b);
      const auto is_there = [&] {
        return std::fabs(off(left, right)) <= kNear || (by_ones && is_last(*what.at, left, right));
      };
      if (!finite_all({left.real, right.real}) || !is_there()) continue;
      if (is_real(other.type))
        other.reals[static_cast<std::size_t>(n)] = negated(other.reals[static_cast<std::size_t>(n)]);
      else
        other.integers[static_cast<std::size_t>(n)] ^= 1;
    }
    held = value(std::move(other));
  }

  // Of what all results are on a draw; of the other answer. None where devices part.
  std::optional<std::uint64_t> print(const std::vector<Bounds>& bounds, bool turned) const {
    if (--what.runs < 0) return std::nullopt;
    Pairs pairs{seed};
    Machine<Pairs> machine{what.module, pairs, what.module.partitions, {}, nullptr, what.pulse};
    if (turned)
      machine.instead = [&](const Instruction& i, const std::vector<Value<Twin>>& operands,
                            Value<Twin>& held) {
        if (&i == what.at) turn(operands, held);
      };
    std::uint64_t all = 0;
    try {
      for (const Value<Twin>& result :
           results_of(evaluate(machine, entry(what.module), drawn(what.module, bounds, seed), {})))
        all = mixed(all + print_of(*result.array, what.module.partitions));
    } catch (const Disagreement&) {
      return std::nullopt;
    }
    return all;
  }

  // Whether what is decided reaches a result; none where no runs are left to ask.
  std::optional<bool> is_seen(const Straddle& pair) const {
    const auto one = print(pair.draws[1], false), other = print(pair.draws[1], true);
    return one && other ? std::optional(*one != *other) : std::nullopt;
  }

  std::optional<Straddle> from(const Far& start, double t) const {
    const std::optional<Far> other = run(t, &start.place);
    if (!other || other->off == 0 || (other->off < 0) == (start.off < 0)) return std::nullopt;
    const auto both = between(start, *other, start.place);
    if (!both) return std::nullopt;
    const auto& [a, b] = *both;
    if (std::max(a.error, b.error) > kNear) return std::nullopt;  // nobody can tell which is larger
    return Straddle{
        seed, {moved((a.off < 0 ? a : b).t), moved((a.off < 0 ? b : a).t)}
    };
  }

  std::optional<Straddle> by_size(const Far& start) const {
    const std::optional<Far> twice = run(1, &start.place);
    if (!twice || std::fabs(twice->off - start.off) < kNearest) return std::nullopt;
    if (twice->off * start.off < 0) return from(start, 1);
    // Where it would turn if it went on so, and farther either way.
    const double on = -start.off / (twice->off - start.off);
    for (const double t : {on + std::copysign(0.25, on), 4.0, -4.0, 12.0, -12.0})
      if (std::fabs(t) < 40)
        if (auto found = from(start, t)) return found;
    return std::nullopt;
  }
};

double apart_by(double from, double to, double times) { return to + (to - from) * (times - 1) / 2; }

std::uint64_t without_zeros(std::uint64_t seed) {
  while (has_zeros(seed)) ++seed;
  return seed;
}

// Where one side is zero both signs of what is next to nothing.
std::optional<Straddle> by_nothing(const Motion& motion, const Far& start) {
  const double nothing = std::log2(kNearest) - 2;
  Motion other = motion;
  other.sign = -1;
  const auto one = motion.run(nothing, &start.place), two = other.run(nothing, &start.place);
  if (!one || !two || !motion.is_near(*one) || !motion.is_near(*two)) return std::nullopt;
  if (motion.what.at->shape.dims.empty() && (one->off < 0) == (two->off < 0)) return std::nullopt;
  return Straddle{
      motion.seed, {motion.moved(nothing), other.moved(nothing)}
  };
}

}  // namespace

std::array<std::vector<Bounds>, 2> farther(const Straddle& pair, int steps) {
  const double times = std::exp2(2 * steps);
  std::array<std::vector<Bounds>, 2> draws = pair.draws;
  for (const std::size_t side : {0, 1})
    for (std::size_t p = 0; p < draws[side].size(); ++p) {
      const Moved &own = pair.draws[side][p].moved, &other = pair.draws[1 - side][p].moved;
      Moved& moved = draws[side][p].moved;
      moved.part = apart_by(other.part, own.part, times), moved.size = apart_by(other.size, own.size, times);
    }
  return draws;
}

std::optional<Straddle> straddle(const Approach& what) {
  constexpr int kFirst = 8, kToward = 4;
  std::vector<std::pair<Motion, Far>> starts;
  std::optional<Straddle> unseen;  // the first that no result shows
  const auto shows = [&](const Motion& motion, std::optional<Straddle> found) -> std::optional<Straddle> {
    if (!found) return found;
    found->shown = motion.is_seen(*found);
    if (found->shown == true) return found;
    if (!unseen) unseen = std::move(found);
    return std::nullopt;
  };
  std::uint64_t seed = what.seed;
  for (int n = 0; n < kFirst; ++n, ++seed) {
    seed = without_zeros(seed);
    for (const double sign : {1.0, -1.0}) {
      Motion motion{what, seed, sign};
      std::optional<Far> start = motion.run(0, nullptr);
      if (start && motion.unit == 0) motion.unit = start->largest, start = motion.run(0, &start->place);
      if (!start || start->off == 0) continue;
      if (start->is_of_zero && !what.at->shape.dims.empty())
        if (auto found = shows(motion, by_nothing(motion, *start))) return found;
      if (start->is_of_one_sign)
        if (auto found = shows(motion, motion.by_size(*start))) return found;
      starts.push_back({motion, *start});
    }
  }
  for (auto& [motion, start] : starts) {
    std::uint64_t other = motion.seed;
    for (int m = 0; motion.sign > 0 && m < kToward; ++m) {
      motion.toward = other = without_zeros(other + 1);
      if (auto found = shows(motion, motion.from(start, 1))) return found;
    }
  }
  for (auto& [motion, start] : starts)
    if (motion.toward.reset(); start.is_of_zero)
      if (auto found = shows(motion, by_nothing(motion, start))) return found;
  return unseen;
}

}  // namespace plumb::hlo
