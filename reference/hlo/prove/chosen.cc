#include "reference/hlo/prove/chosen.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "reference/hlo/prove/ways.h"

namespace plumb::hlo {
namespace {

// Whether devices may have to tell each other something for it.
bool moves_or_adds_up(Opcode opcode) {
  static constexpr Opcode kThese[] = {Opcode::concatenate,
                                      Opcode::dynamic_slice,
                                      Opcode::dynamic_update_slice,
                                      Opcode::gather,
                                      Opcode::pad,
                                      Opcode::reverse,
                                      Opcode::scatter,
                                      Opcode::convolution,
                                      Opcode::dot,
                                      Opcode::ragged_dot,
                                      Opcode::reduce,
                                      Opcode::reduce_window,
                                      Opcode::select_and_scatter,
                                      Opcode::sort,
                                      Opcode::topk};
  return opcode >= Opcode::all_gather || std::ranges::find(kThese, opcode) != std::end(kThese);
}

// Of numbers new ones are made.
bool computes(Opcode opcode) { return opcode <= Opcode::clamp; }

// Those that run for whole arrays.
Integers run_by(const Instruction& i) {
  Integers all;
  if (i.opcode < Opcode::async_done) return all;
  for (const Key key : {Key::to_apply, Key::calls, Key::called_computations, Key::branch_computations,
                        Key::body, Key::condition})
    for (const std::int64_t c : get<Calls>(i, key).computations) all.push_back(c);
  return all;
}

bool is_of(const Computation& c, const Instruction* i) {
  return !c.instructions.empty() && i >= c.instructions.data() && i <= &c.instructions.back();
}

void merge(Taken& into, const Taken& one) {
  into.answers |= one.answers;
  for (const auto& [i, within] : one.within) merge(into.within[i], within);
}

// A computation as one instruction runs it; none runs the outermost.
struct Running {
  std::size_t computation;
  const Chosen* chosen = nullptr;
  Running* caller = nullptr;
  const Instruction* by = nullptr;
  std::vector<char> known{};
};

// Keeps one of its operands, element by element. Of floats ways.h says which are kept.
bool is_pick(const Instruction& i) {
  return i.opcode == Opcode::minimum || i.opcode == Opcode::maximum || i.opcode == Opcode::clamp;
}
bool keeps_one(const Instruction& i) {
  return i.opcode == Opcode::select || (is_pick(i) && is_integer(i.shape.type));
}

// One by its call has the call's ways: so many for each of its instructions.
constexpr std::int64_t kWays = 3, kReached = -1, kPicked = -2;
std::pair<const Instruction*, std::int64_t> way(const Module& module, const Running& frame,
                                                const Instruction& i, std::int64_t answer) {
  const std::int64_t own = is_pick(i) ? kPicked - answer : answer;  // apart from those of borders.h
  if (!frame.by || frame.by->opcode != Opcode::call) return {&i, own};
  return {frame.by, kWays * (&i - module.computations[frame.computation].instructions.data()) + answer};
}

// The operand that an answer takes; of an operand the answer.
std::size_t operand_for(const Instruction& i, std::int64_t answer) {
  if (i.opcode == Opcode::select) return answer == 1 ? 1 : 2;
  return static_cast<std::size_t>(answer);
}
std::int64_t answer_of(const Instruction& i, std::size_t operand) {
  if (i.opcode == Opcode::select) return operand == 1 ? 1 : 0;
  return static_cast<std::int64_t>(operand);
}
std::int64_t answers_of(const Instruction& i) { return i.opcode == Opcode::clamp ? 3 : 2; }

// That one came to a result; of another instruction whoever ran it.
std::pair<const Instruction*, std::int64_t> reached(const Module& module, const Running& frame,
                                                    const Instruction& i) {
  if (!keeps_one(i) || !frame.by || frame.by->opcode != Opcode::call) return {&i, kReached};
  return {frame.by, kReached - way(module, frame, i, 0).second};
}

// Calls f(frame, instruction) of all that stands before an instruction of the last frame, each once, through
// what it runs and who calls it; goes on to those operands of which `reads(frame, instruction, n)` says yes.
template <typename F, typename Reads>
void each_before(const Module& module, std::deque<Running> runnings, std::int64_t from, F f, Reads reads) {
  if (runnings.size() > 1) runnings.back().caller = &runnings.front();  // its own copies
  std::vector<std::pair<Running*, std::int64_t>> open = {
      {&runnings.back(), from}
  };
  std::map<std::pair<const Running*, std::pair<const Instruction*, std::int64_t>>, Running*> ran;
  static const Chosen kNone;
  while (!open.empty()) {
    const auto [frame, n] = open.back();
    open.pop_back();
    const Computation& c = module.computations[frame->computation];
    frame->known.resize(c.instructions.size());
    if (std::exchange(frame->known[static_cast<std::size_t>(n)], 1)) continue;
    const Instruction& i = c.instructions[static_cast<std::size_t>(n)];
    f(*frame, i);
    if (i.opcode == Opcode::parameter && frame->by && frame->by->opcode == Opcode::call) {
      const auto number = std::ranges::find(c.parameters, n) - c.parameters.begin();
      open.push_back({frame->caller, frame->by->operands[static_cast<std::size_t>(number)]});
    }
    if (i.opcode != Opcode::call)
      for (std::size_t o = 0; o < i.operands.size(); ++o)
        if (reads(*frame, i, o)) open.push_back({frame, i.operands[o]});
    for (const std::int64_t called : run_by(i)) {
      Running*& inner = ran[{
          frame, {&i, called}
      }];
      if (!inner) {
        const auto within = frame->chosen ? frame->chosen->find(&i) : kNone.end();
        const bool known = frame->chosen && within != frame->chosen->end();
        const Chosen* taken = known ? &within->second.within : frame->chosen ? &kNone : nullptr;
        inner = &runnings.emplace_back(Running{static_cast<std::size_t>(called), taken, frame, &i});
      }
      open.push_back({inner, module.computations[inner->computation].root});
    }
  }
}

unsigned taken(const Running& frame, const Instruction& i) {
  const auto known = frame.chosen->find(&i);
  return known == frame.chosen->end() ? 0 : known->second.answers;
}

// Which operands of a minimum, a maximum or a clamp some element is; where two are equal another says so.
unsigned kept(const Instruction& i, const std::vector<Value<Twin>>& operands) {
  unsigned answers = 0;
  std::int64_t devices = 1;
  for (const auto& operand : operands) {
    const Array<Twin>& a = *operand.array;
    devices = std::max(devices, a.lanes > 1 && a.holders ? std::ssize(*a.holders) : a.lanes);
  }
  const std::int64_t size = count(i.shape.dims);
  const auto at = [&](std::size_t operand, std::int64_t device, std::int64_t n) {
    const Array<Twin>& a = *operands[operand].array;
    const std::int64_t own = count(a.dims);
    return a.integers[static_cast<std::size_t>(begin_on(a, device, own) + (own == 1 ? 0 : n))];
  };
  for (std::int64_t device = 0; device < devices; ++device)
    for (std::int64_t n = 0; n < size; ++n) {
      const std::int64_t a = at(0, device, n), b = at(1, device, n);
      if (i.opcode == Opcode::clamp)
        answers |= b < a ? 1u : b > at(2, device, n) ? 4u : 2u;
      else if (a != b)
        answers |= (a < b) == (i.opcode == Opcode::minimum) ? 1u : 2u;
    }
  return answers == 0 ? 3 : answers;
}

}  // namespace

void Selects::note(const Instruction& i, const std::vector<Value<Twin>>& operands, Chosen& chosen) const {
  if (all.contains(&i) && is_pick(i)) {
    chosen[&i].answers |= kept(i, operands);
  } else if (all.contains(&i)) {
    unsigned& answers = chosen[&i].answers;
    const auto& predicate = operands[0].array->integers;
    for (const std::int64_t answer : {0, 1})
      if (!(answers >> answer & 1) && std::ranges::find(predicate, answer) != predicate.end())
        answers |= 1u << answer;
  }
  for (const std::int64_t ran : run_by(i)) {
    const Computation& c = module.computations[static_cast<std::size_t>(ran)];
    for (auto one = chosen.begin(); one != chosen.end();) {
      if (!is_of(c, one->first)) {
        ++one;
        continue;
      }
      merge(chosen[&i].within[one->first], one->second);
      one = chosen.erase(one);
    }
  }
}

Selects selects_of(const Module& module, const std::set<const Instruction*>& free_of_parameters) {
  const std::set<const Computation*> inner = of_elements(module);
  Selects selects{module, free_of_parameters};
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      if (!keeps_one(i) || inner.contains(&c)) continue;
      // Of a select by the predicate.
      const Instruction& by =
          i.opcode == Opcode::select ? c.instructions[static_cast<std::size_t>(i.operands[0])] : i;
      if (by.opcode != Opcode::constant && !free_of_parameters.contains(&by)) selects.all.insert(&i);
    }
  return selects;
}

void note_reached(const Selects& selects, const Chosen& chosen, Paths& paths) {
  const Module& module = selects.module;
  const auto note = [&](const Running& frame, const Instruction& i) {
    const bool is_one = selects.all.contains(&i);
    if (!is_one && !moves_or_adds_up(i.opcode) && !computes(i.opcode)) return;
    paths.insert(reached(module, frame, i));
    for (std::int64_t answer = 0; is_one && answer < answers_of(i); ++answer)
      if (taken(frame, i) >> answer & 1) paths.insert(way(module, frame, i, answer));
  };
  const auto reads = [&](const Running& frame, const Instruction& i, std::size_t n) {
    if (!selects.all.contains(&i) || (n == 0 && !is_pick(i))) return true;
    return (taken(frame, i) >> answer_of(i, n) & 1) != 0;
  };
  const auto main = static_cast<std::size_t>(module.entry);
  each_before(module,
              {
                  Running{main, &chosen}
  },
              module.computations[main].root, note, reads);
}

namespace {

// Whether a predicate is made of a comparison of integers that had one answer.
bool is_counted(const Module& module, const std::deque<Running>& runnings, std::int64_t predicate,
                const Paths& paths) {
  bool is = false;
  const auto look = [&](const Running& frame, const Instruction& i) {
    const Computation& c = module.computations[frame.computation];
    if (i.opcode != Opcode::compare) return;
    const Type of = c.instructions[static_cast<std::size_t>(i.operands[0])].shape.type;
    is = is || (!is_real(of) && paths.contains({&i, 0}) != paths.contains({&i, 1}));
  };
  const auto reads = [&](const Running& frame, const Instruction& i, std::size_t n) {
    const Computation& c = module.computations[frame.computation];
    return c.instructions[static_cast<std::size_t>(i.operands[n])].shape.type == Type::pred;
  };
  each_before(module, runnings, predicate, look, reads);
  return is;
}

}  // namespace

std::vector<Hidden> hidden(const Selects& selects, const Paths& paths) {
  const Module& module = selects.module;
  std::vector<Hidden> all;
  const auto look = [&](const std::deque<Running>& runnings, const Instruction& i) {
    if (!selects.all.contains(&i) || !paths.contains(reached(module, runnings.back(), i))) return;
    for (std::int64_t answer = 0; answer < answers_of(i); ++answer) {
      const auto own = way(module, runnings.back(), i, answer);
      if (paths.contains(own)) continue;
      const bool counted = is_pick(i) || is_counted(module, runnings, i.operands[0], paths);
      bool hides = false;
      const auto before = [&](const Running&, const Instruction& one) {
        const bool matters =
            moves_or_adds_up(one.opcode) || (!counted && computes(one.opcode) && is_real(one.shape.type) &&
                                             !selects.free_of_parameters.contains(&one));
        hides = hides || (matters && !paths.contains({&one, kReached}));
      };
      each_before(module, runnings, i.operands[operand_for(i, answer)], before,
                  [](const Running&, const Instruction&, std::size_t) { return true; });
      const std::string in = own.first == &i ? "" : " in %" + own.first->name;
      const std::string which = is_pick(i) ? " operand " + std::to_string(answer)
                                : answer   ? " true"
                                           : " false";
      if (hides) all.push_back({own, "%" + i.name + which + in});
    }
  };
  std::set<std::int64_t> called;
  for (std::size_t c = 0; c < module.computations.size(); ++c)
    for (const Instruction& call : module.computations[c].instructions)
      if (call.opcode == Opcode::call) {
        const std::int64_t of = run_by(call)[0];
        called.insert(of);
        std::deque<Running> runnings = {Running{c}};
        runnings.push_back(Running{static_cast<std::size_t>(of), nullptr, nullptr, &call});
        for (const Instruction& i : module.computations[static_cast<std::size_t>(of)].instructions)
          look(runnings, i);
      }
  for (std::size_t c = 0; c < module.computations.size(); ++c)
    if (!called.contains(static_cast<std::int64_t>(c)))
      for (const Instruction& i : module.computations[c].instructions) look({Running{c}}, i);
  return all;
}

}  // namespace plumb::hlo
