#include "harness/run/ask.h"

#include <algorithm>
#include <map>
#include <random>

#include "harness/judge/proved.h"
#include "harness/run/timed.h"
#include "reference/check/check.h"
#include "reference/fill/fill.h"

namespace plumb {
namespace {

Read in_arena(Process& process) {
  return [&process](const Block& block, std::span<std::byte> into) { process.read(block, into); };
}

std::vector<Tensor> filled(const Case& c) {
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
  return operands;
}

Attempt asked(const Case& c, Process& process) {
  Attempt made{c, {}, {}, in_arena(process)};
  if (auto refusal = timed(made.ask_seconds, [&] { return process.refuses(c); })) {
    made.answer = std::move(*refusal);
    return made;
  }
  made.operands = timed(made.fill_seconds, [&] { return filled(c); });
  made.answer = timed(made.ask_seconds, [&] { return process.run(c, made.operands); });
  return made;
}

std::uint64_t drawn_now() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

bool any_refuted(const std::vector<Proven>& said) {
  return std::ranges::find(said, Proven::Answer::refuted, &Proven::answer) != said.end();
}

// The blocks travel, to be judged; they have to be those that were proved.
void fetch(Attempt& made, Process& process, std::uint64_t seed) {
  made.operands = timed(made.fill_seconds, [&] { return filled(made.c); });
  made.refuted = any_refuted(made.proofs);
  const std::vector<Proven> said = std::exchange(made.proofs, {});
  made.answer = timed(made.ask_seconds, [&] { return process.fetch(); });
  const auto* outcome = std::get_if<Outcome>(&made.answer);
  if (!outcome) return;
  if (const auto other = others_than_proved(made.c, *outcome, made.read, said, seed))
    made.answer = OffPage{other->text, "run", ""};
}

// The seed is drawn once the blocks are there, and whether they travel all the same once it is said that they
// are right.
Attempt asked_in_place(const Case& c, Process& process, bool fits) {
  Attempt made{c, {}, {}, in_arena(process)};
  made.answer = timed(made.ask_seconds, [&] { return process.run_in_place(c); });
  if (!std::holds_alternative<Outcome>(made.answer)) return made;
  const std::uint64_t seed = drawn_now();
  auto said = timed(made.ask_seconds, [&] { return process.check(seed); });
  if (auto* failed = std::get_if<Answer>(&said)) {
    made.answer = std::move(*failed);
    return made;
  }
  made.proofs = std::move(std::get<std::vector<Proven>>(said));
  const bool right =
      judge_proved(c, std::get<Outcome>(made.answer), made.proofs, declared(process)).has_value();
  if (!right || (fits && drawn_now() % 16 == 0)) fetch(made, process, seed);
  return made;
}

// The blocks of an outcome are taken out of the arena, which is about to be written anew.
void keep(Attempt& made) {
  const auto* outcome = std::get_if<Outcome>(&made.answer);
  if (!outcome) return;
  using Whose = std::pair<std::int64_t, std::int64_t>;  // device, result
  auto blocks = std::make_shared<std::map<Whose, std::vector<std::byte>>>();
  for (const Block& b : outcome->blocks) {
    std::vector<std::byte>& bytes = (*blocks)[{b.device, b.result}];
    bytes.resize(b.bytes);
    if (!bytes.empty()) made.read(b, bytes);
  }
  made.read = [blocks](const Block& b, std::span<std::byte> into) {
    std::ranges::copy(blocks->at({b.device, b.result}), into.begin());
  };
}

bool gave_data(const Attempt& made) { return std::holds_alternative<Outcome>(made.answer); }

}  // namespace

Case on_other_data(Case c) {
  c.seed = data_seed(c) + 1;
  return c;
}

Attempt ask_on(const Case& c, Process& process, std::vector<Tensor> operands) {
  Attempt made{on_other_data(c), std::move(operands), {}, in_arena(process)};
  made.answer = process.run(made.c, made.operands);
  return made;
}

Declared declared(const Process& process) {
  return process.hello() ? declared(process.hello()->capabilities) : Declared{};
}

bool in_place(const Case& c, Process& process) {
  return process.takes(c) && process.hello()->fills && prover(c).unprovable.empty();
}

namespace {

// One of the two results, whose blocks travel; they are kept, for those of the other travel too.
void fetch_timed(Attempt& made, Process& process, Which which) {
  if (made.operands.empty()) made.operands = timed(made.fill_seconds, [&] { return filled(made.c); });
  made.answer = timed(made.ask_seconds, [&] { return process.fetch(which); });
  keep(made);
}

// The same, proved where it lies.
void prove_timed(Attempt& made, Process& process, Which which) {
  auto said = timed(made.ask_seconds, [&] { return process.check(drawn_now(), which); });
  if (auto* failed = std::get_if<Answer>(&said)) {
    made.answer = std::move(*failed);
    return;
  }
  made.proofs = std::move(std::get<std::vector<Proven>>(said));
  if (judge_proved(made.c, std::get<Outcome>(made.answer), made.proofs, declared(process))) return;
  made.refuted = any_refuted(made.proofs);
  made.proofs.clear();
  fetch_timed(made, process, which);
}

}  // namespace

TimedAttempts ask_timed(const Case& c, Process& process, const TimingAsked& wanted, bool proved) {
  const bool fills = proved || (process.takes(c) && process.hello()->fills);
  Attempt asked{c, {}, {}, in_arena(process)};
  if (!proved) asked.operands = timed(asked.fill_seconds, [&] { return filled(c); });
  TimedAnswer said = timed(asked.ask_seconds, [&] {
    return process.bench(c, wanted, fills ? std::span<const Tensor>{} : asked.operands);
  });
  asked.answer = std::move(said.answer);
  TimedAttempts made{asked, std::move(asked), std::move(said.clocks)};
  const bool alone = wanted.timing.iterations == 1;
  for (Attempt* one : {&made.first, &made.last}) {
    if (alone && one == &made.first) continue;
    if (!gave_data(made.first) || !gave_data(made.last)) break;
    const Which which = one == &made.first ? Which::first : Which::last;
    proved ? prove_timed(*one, process, which) : fetch_timed(*one, process, which);
  }
  if (alone) made.first = made.last;
  return made;
}

bool keep_small(Attempt& made) {
  constexpr std::uint64_t most = 1 << 20;
  const auto* outcome = std::get_if<Outcome>(&made.answer);
  if (!outcome || !made.proofs.empty()) return false;
  Block all{.offset = UINT64_MAX};  // what they lie in
  std::uint64_t end = 0;
  for (const Block& b : outcome->blocks)
    if (b.bytes > 0) all.offset = std::min(all.offset, b.offset), end = std::max(end, b.offset + b.bytes);
  all.bytes = end > all.offset ? end - all.offset : 0;
  std::uint64_t held = all.bytes;
  for (const Tensor& operand : made.operands) held += operand.bytes.size();
  if (held > most) return false;
  const auto bytes = std::make_shared<std::vector<std::byte>>(all.bytes);
  if (all.bytes > 0) made.read(all, *bytes);
  made.read = [bytes, begin = all.offset](const Block& b, std::span<std::byte> into) {
    if (b.bytes > 0) std::copy_n(bytes->data() + (b.offset - begin), b.bytes, into.begin());
  };
  return true;
}

Attempts ask(const Case& c, Process& process, const Asking& asking) {
  const int reruns = asking.reruns;
  if (asking.in_place) return {asked_in_place(c, process, asking.fits), {}, {}};
  Attempts made{asked(c, process), {}, {}};
  if (reruns == 0 || is_resolve(c) || !gave_data(made.first)) return made;
  const Declared promises = declared(process);
  if (promises.data_none) return made;
  keep(made.first);
  made.other = asked(on_other_data(c), process);
  keep(*made.other);
  const std::uint64_t first = digest_of_attempt(made.first, promises);
  for (int i = 0; i < reruns; ++i) {
    Attempt& again =
        made.again.emplace_back(Attempt{c, {}, process.run(c, made.first.operands), in_arena(process)});
    if (!gave_data(again) || digest_of_attempt(again, promises) != first) break;
    again.read = made.first.read;  // of its bits, which are the same
  }
  return made;
}

}  // namespace plumb
