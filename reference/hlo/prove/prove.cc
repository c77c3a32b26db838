#include "reference/hlo/prove/prove.h"

#include <algorithm>
#include <functional>

#include "reference/hlo/prove/alone.h"
#include "reference/hlo/prove/straddle.h"
#include "reference/hlo/prove/ways.h"
#include "reference/hlo/prove/whole.h"

namespace plumb::hlo {
namespace {

// Draws of BEFORE for ways that none has gone, and how many of them are judged.
constexpr int kSearched = 48, kJudged = 16;

// Behind one that is proven draws in doubt are bad luck, so many times.
constexpr int kMadeGood = 3;

// More draws of what is proven, in each of which BEFORE goes some way that none of the first has gone. For
// those of arrays only such with ties: in the others each element was a draw.
Proof sought_ways(Trial& trial, Proof proof, std::uint64_t seed) {
  std::vector<Way> wanted = untaken(trial.subject.before, trial.paths);
  std::erase_if(wanted,
                [](const Way& way) { return way.kind == Way::integers || way.kind == Way::no_number; });
  int judged = 0;
  for (int tried = 0; !wanted.empty() && tried < kSearched && judged < kJudged; ++tried, ++seed) {
    const auto is_sought = [&](const Way& way) { return way.kind == Way::scalar || has_ties(seed); };
    if (std::ranges::none_of(wanted, is_sought)) continue;
    Proof one = blank_draw(trial, proof.draws, seed);
    const Whole& whole = whole_of(trial, one, false);
    const auto goes = [&](const Way& way) { return is_sought(way) && went(whole.paths, way); };
    if (whole.ended || std::ranges::none_of(wanted, goes)) continue;
    const bool scalar =
        std::ranges::any_of(wanted, [&](const Way& way) { return way.kind == Way::scalar && goes(way); });
    one = *judged_draw(trial, one, false);
    if (one.finding == Finding::refuted) return one;
    if (one.finding == Finding::unsettled) return shown_by_more(trial, std::move(one), seed + 1);
    judged += scalar;
    std::erase_if(wanted, [&](const Way& way) { return way.kind == Way::array && went(trial.paths, way); });
  }
  return proof;
}

// What draws are sought for: what no proven draw has shown, how a draw is aimed at it, and whether BEFORE
// shows one of it there.
template <typename Thing>
struct Aim {
  std::function<std::vector<Thing>(int tried)> open;
  std::function<void(Proof& one, int tried)> aim;
  std::function<bool(const Thing&, const Proof& one, Whole&)> shows;
};

// More draws of what is proven, while something is open; those are judged in which BEFORE shows some of it.
template <typename Thing>
Proof sought(Trial& trial, Proof proof, std::uint64_t seed, const Aim<Thing>& what) {
  int judged = 0;
  for (int tried = 0; tried < kSearched && judged < kJudged; ++tried, ++seed) {
    const std::vector<Thing> open = what.open(tried);
    if (open.empty()) break;
    Proof one = blank_draw(trial, proof.draws, seed);
    one.directed = true, what.aim(one, tried);
    Whole& whole = whole_of(trial, one, false);
    if (whole.ended ||
        std::ranges::none_of(open, [&](const Thing& thing) { return what.shows(thing, one, whole); }))
      continue;
    one = judged_draw(trial, std::move(one), whole), ++judged;
    if (one.finding == Finding::refuted) return one;
    if (one.finding == Finding::unsettled) return shown_by_more(trial, std::move(one), seed + 1);
  }
  return proof;
}

// For what reductions keep.
Proof sought_picks(Trial& trial, Proof proof, std::uint64_t seed) {
  const auto open = [&](int tried) {
    std::vector<Pick> all = picks_of(trial.before_pickings, trial.picked, trial.after_picked);
    std::erase_if(all, [&](const Pick& pick) { return tried >= pick.tries || has(trial.picked, pick); });
    return all;
  };
  const auto aim = [&](Proof& one, int tried) { draw_slices(trial.subject.before, one.bounds, tried); };
  const auto shows = [](const Pick& pick, const Proof&, Whole& whole) { return has(whole.picked, pick); };
  return sought<Pick>(trial, std::move(proof), seed, {open, aim, shows});
}

// Reductions of BEFORE of which in no proven draw a part alone decided for some who lack it.
std::vector<const Instruction*> never_alone(const Trial& trial) {
  std::vector<const Instruction*> all;
  for (const Computation& c : trial.subject.before.computations)
    for (const Instruction& i : c.instructions)
      if (const auto shown = trial.alone.find(&i);
          shown != trial.alone.end() && shown->second != ways_to_lack(trial.shared_out.at(&i)))
        all.push_back(&i);
  return all;
}

// For these, in which one slice of arrays is not as all others are.
Proof sought_alone(Trial& trial, Proof proof, std::uint64_t seed) {
  const auto open = [&](int) { return never_alone(trial); };
  const auto aim = [&](Proof& one, int tried) { draw_alone(trial.subject.before, one.bounds, tried); };
  const auto shows = [&](const Instruction* reduction, const Proof& one, Whole& whole) {
    return (decides_alone(trial, one, whole, {reduction}) & ~trial.alone.at(reduction)) != 0;
  };
  return sought<const Instruction*>(trial, std::move(proof), seed, {open, aim, shows});
}

// For what selects hide: single integers lie anywhere, or near where some comparison turns, each by itself,
// so that several conditions hold together.
Proof sought_choices(Trial& trial, Proof proof, std::uint64_t seed) {
  constexpr std::int64_t kAround = 8;
  if (hidden(trial.selects, trial.paths).empty()) return proof;
  const Borders turns = borders_of(trial.subject.before, trial.blank.bounds, trial.before_turns, Which::all);
  const auto open = [&](int) { return hidden(trial.selects, trial.paths); };
  const auto aim = [&](Proof& one, int tried) {
    for (std::size_t p = 0; tried % 4 != 0 && p < turns.size(); ++p) {
      const std::uint64_t any = mixed(mixed(one.seed) + p);
      if (turns[p].empty() || any % 8 == 0) continue;
      const std::int64_t turn = turns[p][any / 8 % turns[p].size()];
      const auto off = static_cast<std::int64_t>(any >> 32) % (2 * kAround + 1) - kAround;
      one.bounds[p].placed = {
          std::clamp(tried % 2 ? turn : turn + off, one.bounds[p].low, one.bounds[p].high)};
    }
  };
  const auto shows = [](const Hidden& hides, const Proof&, Whole& whole) {
    return whole.paths.contains(hides.way);
  };
  return sought<Hidden>(trial, std::move(proof), seed, {open, aim, shows});
}

// Whether it is known of two that are equal that none were: by a comparison that the reduction calls.
bool is_told_within(const Module& module, const Pick& pick, const std::vector<Way>& ways) {
  const Integers calls = get<Calls>(*pick.at, Key::to_apply).computations;
  const auto& inner = module.computations[static_cast<std::size_t>(calls.at(0))].instructions;
  const auto asks = [&](const Way& way) {
    return way.kind == Way::array && way.at >= inner.data() && way.at < inner.data() + inner.size();
  };
  return pick.tie && std::ranges::any_of(ways, asks);
}

// What was compared, but near where it turns on one side at most; what decides about whole arrays first.
std::vector<const Instruction*> never_near(const Trial& trial, double within) {
  std::vector<const Instruction*> all;
  for (const bool scalar : {true, false})
    for (const Computation& c : trial.subject.before.computations)
      for (const Instruction& i : c.instructions) {
        const auto apart = trial.near.find(&i);
        if (i.shape.dims.empty() != scalar || apart == trial.near.end()) continue;
        if (apart->second.farther() > within) all.push_back(&i);
      }
  return all;
}

// In so many runs of BEFORE that are not judged: in more where more draws cost nothing either.
int most_runs(const Trial& trial) {
  constexpr int kMost = 64, kMostOfFew = 256;
  const auto loops = [](const Computation& c) {
    return std::ranges::count(c.instructions, Opcode::while_, &Instruction::opcode) > 0;
  };
  return trial.draws > 2 && std::ranges::none_of(trial.subject.before.computations, loops) ? kMostOfFew
                                                                                           : kMost;
}

// Where a reduction that keeps one of many only decides the one that is kept stands elsewhere in another
// draw.
int straddles_of(const Trial& trial) {
  constexpr int kPlaces = 4;
  const auto keeps = [](const auto& one) { return one.second.by != Opcode::add; };
  return std::ranges::any_of(trial.shared_out, keeps) ? kPlaces : 1;
}

// What is so near may be another value and hardly another number: the same pair, farther and farther apart.
Proof shown_farther(Trial& trial, const Straddle& pair, Proof open) {
  constexpr int kFarthest = 9;
  trial.by_errors = true;
  for (int steps = 0; steps <= kFarthest; ++steps)
    for (const std::vector<Bounds>& bounds : farther(pair, steps)) {
      Proof one = blank_draw(trial, open, pair.seed);
      one.bounds = bounds;
      std::optional<Proof> found = judged_draw(trial, std::move(one), false);
      if (found && found->finding == Finding::refuted) return *std::move(found);
    }
  return shown_by_more(trial, std::move(open), pair.seed + 1);
}

// Judges both draws of a pair; what they say where one is not proven.
std::optional<Proof> wrong_side(Trial& trial, const Proof& proof, const Straddle& pair) {
  for (const std::vector<Bounds>& bounds : pair.draws) {
    Proof one = blank_draw(trial, proof.draws, pair.seed);
    one.directed = true, one.bounds = bounds;
    std::optional<Proof> found = judged_draw(trial, one, false);
    if (!found) continue;
    if (found->finding == Finding::refuted) return found;
    if (found->finding == Finding::unsettled) return shown_farther(trial, pair, *std::move(found));
  }
  return std::nullopt;
}

// For these, two draws each, one on either side.
Proof sought_near(Trial& trial, Proof proof, std::uint64_t seed) {
  constexpr std::uint64_t kSeeds = 16;  // from one place to the next
  int runs = most_runs(trial), judged = 0;
  for (const Instruction* at : never_near(trial, kNearest)) {
    const int most = at->shape.dims.empty() ? straddles_of(trial) : 1;
    for (int n = 0; n < most && runs > 0 && judged < kJudged; ++n) {
      if (n == 0 && trial.near.at(at).farther() <= kNearest) break;
      const auto pair =
          straddle({trial.subject.before, trial.blank.bounds, at, trial.near.at(at),
                    seed + kSeeds * static_cast<std::uint64_t>(n), telling(trial, proof, false), runs});
      if (!pair) break;
      judged += 2;
      if (pair->shown == true)
        trial.unshown.erase(at);
      else if (n == 0 && pair->shown == false)
        trial.unshown.insert(at);
      if (std::optional<Proof> wrong = wrong_side(trial, proof, *pair)) return *std::move(wrong);
    }
  }
  return proof;
}

// Of both modules, ascending.
Borders all_borders(const Trial& trial, Which which) {
  Borders all = borders_of(trial.subject.before, trial.blank.bounds, trial.before_turns, which);
  const Borders after = borders_of(trial.subject.after, trial.blank.bounds, trial.after_turns, which);
  for (std::size_t p = 0; p < all.size(); ++p) {
    all[p].insert(all[p].end(), after[p].begin(), after[p].end());
    all[p] = few(std::move(all[p]));
  }
  return all;
}

// All that no draw met, of both modules.
Unmet wanted_borders(const Trial& trial) {
  const auto& [before, after, propagated, partitioned] = trial.subject;
  Unmet whole = unmet(before, trial.blank.bounds, trial.before_turns, trial.paths),
        held = unmet(after, trial.blank.bounds, trial.after_turns, trial.paths);
  for (const std::string& name : held.names) whole.names.push_back("after: " + name);
  whole.summed.merge(held.summed);
  for (std::size_t p = 0; p < whole.borders.size(); ++p) {
    whole.borders[p].insert(whole.borders[p].end(), held.borders[p].begin(), held.borders[p].end());
    for (const std::int64_t x : trial.ends[p])
      if (!trial.met[p].contains(x)) whole.borders[p].push_back(x);
  }
  return whole;
}

// At most so many more draws.
constexpr int kMostPlaced = 16;

// A draw as `one` has it, from `seed` on, which is moved behind it; what it says where it is not proven.
std::optional<Proof> wrong_draw(Trial& trial, const Proof& one, std::uint64_t& seed) {
  std::optional<Proof> judged;
  for (int again = 0; again < trial.options.redraws; ++again) {
    judged = judged_draw(trial, blank_draw(trial, one, seed++), false);
    if (judged && judged->finding != Finding::mistrusted) break;
  }
  if (judged && judged->finding == Finding::unsettled) return shown_by_more(trial, *judged, seed);
  return judged && judged->finding == Finding::refuted ? judged : std::nullopt;
}

Proof sought_borders(Trial& trial, Proof proof, std::uint64_t seed) {
  Placing placing{trial.subject.before};
  for (int placed = 0; placed < kMostPlaced; ++placed) {
    Proof one = blank_draw(trial, proof.draws, seed);
    one.directed = true;
    if (!placing.place(one.bounds, wanted_borders(trial))) break;
    if (std::optional<Proof> wrong = wrong_draw(trial, one, seed)) return *std::move(wrong);
  }
  return proof;
}

// What two arrays are where comparisons turn, each with each: where one masks the other's, both are met.
Proof sought_masks(Trial& trial, Proof proof, std::uint64_t seed) {
  auto pairs = masked_together(trial.subject.before, trial.options.pause);
  pairs.merge(masked_together(trial.subject.after, trial.options.pause));
  if (pairs.empty()) return proof;
  const Borders all = all_borders(trial, Which::all);
  const Computation& main = entry(trial.subject.before);
  int placed = 0;
  for (const auto& [p, q] : pairs) {
    const std::int64_t own = std::ssize(all[p]), of_both = own * std::ssize(all[q]);
    const std::int64_t size = elements(main.instructions[static_cast<std::size_t>(main.parameters[p])].shape);
    for (std::int64_t from = 0; from < of_both && placed < kMostPlaced; from += size, ++placed) {
      Proof one = blank_draw(trial, proof.draws, seed);
      one.directed = true;
      for (const auto& [parameter, turn] : {
               std::pair{p, std::int64_t{1}},
               std::pair{q, own            }
      }) {
        Bounds& b = one.bounds[parameter];
        b.placed = all[parameter], b.turn = turn, b.from = from;
      }
      if (std::optional<Proof> wrong = wrong_draw(trial, one, seed)) return *std::move(wrong);
    }
  }
  return proof;
}

}  // namespace

std::string_view name(Finding finding) {
  static constexpr std::string_view kNames[] = {"proven", "refuted", "unsettled", "mistrusted", "unrun"};
  return kNames[static_cast<int>(finding)];
}

Proof prove(const Subject& subject, const Options& options, Wholes* shared) {
  Proof proof;
  proof.devices = subject.before.partitions;
  check_pair(subject);
  const std::vector<Division> results = layouts(subject, proof.as_propagated);
  check_results(subject, results);
  const std::vector<Division> cuts = parameter_layouts(subject);
  proof.bounds = bounds_of(subject.before, options.pause);
  if (const std::optional<LostAlias> lost = lost_alias(subject)) {
    raise(proof, Finding::refuted, lost->why);
    const Integers& parameters = entry(subject.before).parameters;
    if (lost->parameter >= 0 && lost->parameter < std::ssize(parameters))
      proof.at = Spot{true, static_cast<std::size_t>(subject.before.entry),
                      static_cast<std::size_t>(parameters[static_cast<std::size_t>(lost->parameter)])};
    return proof;
  }
  for (const auto& [parameter, range] : options.ranges)
    proof.bounds.at(static_cast<std::size_t>(parameter)) = range;
  proof.integers = integers_drawn(subject.before, proof.bounds);
  const auto before = free_of_parameters(subject.before), after = free_of_parameters(subject.after);
  Wholes own;
  Trial trial{subject,
              options,
              options.draws > 0 ? options.draws : draws_of(subject.before, proof.bounds),
              cuts,
              results,
              proof,
              shared ? *shared : own,
              shared != nullptr && !options.hold_last,
              turns_of(subject.before, before, options.pause),
              turns_of(subject.after, after, options.pause),
              pickings_of(subject.before, before),
              pickings_of(subject.after, after),
              shared_out(subject, before),
              selects_of(subject.before, before),
              limits_of(subject.before),
              runs_beside(subject.before)};
  trial.ends = all_borders(trial, Which::ends), trial.met.resize(trial.ends.size());
  std::uint64_t seed = options.seed;
  int more = kMadeGood;
  for (int draw = 1; draw <= trial.draws; ++draw) {
    if (draw < trial.draws && !options.one_draw) draw_two(trial, draw, seed);
    proof = settled_draw(trial, draw, seed);
    while (proof.finding == Finding::mistrusted && draw > 1 && more-- > 0)
      proof = settled_draw(trial, draw, seed);
    if (proof.finding != Finding::proven || options.one_draw) return proof;
  }
  proof = sought_ways(trial, proof, seed);
  if (proof.finding != Finding::proven) return proof;
  proof = sought_choices(trial, proof, seed);
  if (proof.finding != Finding::proven) return proof;
  proof = sought_picks(trial, proof, seed);
  if (proof.finding != Finding::proven) return proof;
  proof = sought_near(trial, proof, seed);
  if (proof.finding != Finding::proven) return proof;
  proof = sought_alone(trial, proof, seed);
  if (proof.finding != Finding::proven) return proof;
  proof = sought_borders(trial, proof, seed);
  if (proof.finding != Finding::proven) return proof;
  proof = sought_masks(trial, proof, seed);
  if (proof.finding != Finding::proven) return proof;
  proof.borders = wanted_borders(trial).names;
  for (const Instruction* at : never_near(trial, kNear))
    if (const double part = trial.near.at(at).farther(); part < Apart::kNever)  // else a way is not taken
      proof.apart["%" + at->name] = part;
  for (const Instruction* at : trial.unshown) proof.unshown.push_back("%" + at->name);
  std::ranges::sort(proof.unshown);
  const std::vector<Way> ways = untaken(subject.before, trial.paths);
  for (const Pick& pick : picks_of(trial.before_pickings, trial.picked, trial.after_picked))
    if (is_told(pick) && !has(trial.picked, pick) && !is_told_within(subject.before, pick, ways))
      proof.untaken.push_back(print(pick));
  for (const Instruction* reduction : never_alone(trial)) {
    const auto is_told = [&](const Way& way) { return way.at == reduction && way.kind != Way::integers; };
    if (std::ranges::none_of(ways, is_told))
      proof.untaken.push_back("%" + reduction->name + " by a part alone");
  }
  for (const Hidden& one : hidden(trial.selects, trial.paths)) proof.untaken.push_back(one.text);
  for (const Way& way : ways)
    (way.kind == Way::integers ? proof.unanswered : proof.untaken).push_back(print(way));
  return proof;
}

}  // namespace plumb::hlo
