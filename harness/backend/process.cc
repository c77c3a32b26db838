#include "harness/backend/process.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "adapters/protocol/clocked.h"
#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "harness/backend/process_state.h"

namespace plumb {

using nlohmann::json;

Process::Process(Command command, Deadlines deadlines, Waits waits, Greeted greeted)
    : state_(std::make_unique<ProcessState>()) {
  state_->command = std::move(command);
  state_->deadlines = deadlines;
  state_->waits = std::move(waits);
  state_->greeted = std::move(greeted);
}

Process::~Process() { stop(); }

void Process::stop() {
  if (state_->child) state_->part();
}

void Process::tell_end(Parted parted) { state_->parted = std::move(parted); }

void Process::allow(const Deadlines& deadlines) { state_->deadlines = deadlines; }

const Hello* Process::hello() const { return state_->hello ? &*state_->hello : nullptr; }
const Command& Process::command() const { return state_->command; }

int Process::starts_in_vain(std::int64_t devices) const {
  const auto at = state_->failed.find(devices);
  return at == state_->failed.end() ? 0 : at->second.first;
}

bool Process::takes(const Case& c) {
  if (auto refusal = refuses(c)) state_->refusal.emplace(c, std::move(*refusal));
  return !state_->refusal;
}

std::optional<Answer> Process::refuses(const Case& c) {
  ProcessState& s = *state_;
  if (auto unsaid = std::exchange(s.refusal, std::nullopt); unsaid && unsaid->first == c)
    return std::move(unsaid->second);
  // What is outside what it said before needs no new start.
  if (s.hello)
    if (auto unsupported = outside(s.hello->capabilities, c)) return *unsupported;
  if (auto failed = s.start_for(c.mesh)) return failed;
  if (auto unsupported = outside(s.hello->capabilities, c)) return *unsupported;
  if (auto unsupported = more_than_it_has(*s.hello, c)) return *unsupported;
  return std::nullopt;
}

Answer Process::run(const Case& c, std::span<const Tensor> operands) {
  if (auto refusal = refuses(c)) return *refusal;
  ProcessState& s = *state_;
  ++s.id;
  s.kept.reset();
  Layout layout = layout_of(c, operands);
  s.lay_out(layout, operands);
  s.child->forget_words();

  const Waiting w("compile", s.deadlines);
  const std::string request = run_request({s.id, w.left(), s.deadlines.run}, c, operands, layout);
  Answer answer = s.ask(request, {c, s.id, layout.free, s.hello->capabilities}, w);
  if (std::holds_alternative<Outcome>(answer))
    if (auto off = s.spoiled(operands, layout)) return *off;
  return answer;
}

Answer Process::run_in_place(const Case& c) {
  if (auto refusal = refuses(c)) return *refusal;
  ProcessState& s = *state_;
  ++s.id;
  s.kept.reset();
  Layout layout = layout_in_place(c);
  s.lay_out(layout, {});
  s.child->forget_words();
  const Waiting w("compile", s.deadlines);
  const std::string request = run_in_place_request({s.id, w.left(), s.deadlines.run}, c, layout);
  Answer answer = s.ask(request, {c, s.id, layout.free, s.hello->capabilities, true}, w);
  if (const auto* outcome = std::get_if<Outcome>(&answer)) s.kept = c, s.kept_blocks = outcome->blocks.size();
  return answer;
}

namespace {

// Whoever has not said that it runs may be warming up or under the clock.
void say_either_phase(Answer& answer) {
  std::visit(
      [](auto& said) {
        if constexpr (requires { said.phase; })
          if (said.phase == "compile") said.phase = "compile or run";
      },
      answer);
}

}  // namespace

TimedAnswer Process::bench(const Case& c, const TimingAsked& wanted, std::span<const Tensor> operands) {
  if (auto refusal = refuses(c)) return {*refusal, {}};
  ProcessState& s = *state_;
  if (!s.hello->times)
    return {
        Unsupported{"it times nothing", "hello"},
        {                  }
    };
  ++s.id;
  s.kept.reset();
  const auto& [timing, seconds] = wanted;
  Given given{operands, layout_of_bench(c, timing, operands)};
  s.lay_out(given.layout, operands);
  s.child->forget_words();
  const Deadlines before = std::exchange(
      s.deadlines, {s.deadlines.start, s.deadlines.compile + std::max(0.0, seconds - s.deadlines.run), seconds});
  const Waiting w("compile", s.deadlines);
  TimedAnswer said;
  Asked asked{c, s.id, given.layout.free, s.hello->capabilities, true, timing.iterations, &said.clocks};
  asked.agreed = timing.sync == Sync::window, asked.sent = machine_time();
  said.answer = s.ask(bench_request({s.id, w.left(), seconds}, c, timing, given), asked, w);
  s.deadlines = before;
  say_either_phase(said.answer);
  if (const auto* outcome = std::get_if<Outcome>(&said.answer))
    s.kept = c, s.kept_blocks = outcome->blocks.size(), s.kept_rates = rates_of(said.clocks);
  return said;
}

std::variant<std::vector<Proven>, Answer> Process::check(std::uint64_t seed, Which which) {
  ProcessState& s = *state_;
  assert(s.kept && s.child);
  ++s.id;
  Layout layout = layout_in_place(*s.kept);
  layout.arena = s.arena.size();
  s.arena.poison(layout.free, layout.due);
  const Waiting w("run", s.deadlines);
  const std::string request = check_request({s.id, w.left()}, layout, seed, which == Which::first);
  if (auto failed = s.send(request, w)) return *failed;
  const Asked asked{*s.kept, s.id, 0, s.hello->capabilities, true};
  if (auto failed = s.wait_for("checked", asked, [](const json&) {})) return *failed;
  std::vector<ProofRow> rows(s.kept_blocks);
  s.arena.read(layout.free, std::as_writable_bytes(std::span(rows)));
  std::vector<Proven> all;
  for (const ProofRow& r : rows) all.push_back(proven(r));
  return all;
}

std::variant<std::vector<Clocked>, Answer> Process::limit(const LimitAsked& limit) {
  ProcessState& s = *state_;
  assert(s.kept && s.child);
  ++s.id;
  Layout layout = layout_of_bench(*s.kept, {.iterations = limit.iterations}, {});
  s.lay_out(layout, {});
  const Waiting w("run", s.deadlines);
  const std::string request = limit_request({s.id, w.left()}, layout, limit);
  Asked asked{*s.kept, s.id, layout.free, s.hello->capabilities, true, limit.iterations};
  asked.sent = machine_time(), asked.rates = s.kept_rates;
  if (auto failed = s.send(request, w)) return *failed;
  std::variant<std::vector<Clocked>, Answer> said;
  if (auto failed = s.wait_for("timed", asked, [&](const json& message) {
        said = parse_clocks(field(message, "clock"), asked, s.arena);
      }))
    return *failed;
  return said;
}

Answer Process::fetch(Which which) {
  ProcessState& s = *state_;
  assert(s.kept && s.child);
  ++s.id;
  Layout layout = layout_of(*s.kept, {});
  s.lay_out(layout, {});
  const Waiting w("run", s.deadlines);
  const Case c = *s.kept;
  return s.ask(fetch_request({s.id, w.left()}, layout, which == Which::first),
               {c, s.id, layout.free, s.hello->capabilities}, w);
}

void Process::read(const Block& block, std::span<std::byte> into) const {
  state_->arena.read(block.offset, into.first(block.bytes));
}

std::vector<std::byte> Process::read(const Block& block) const {
  std::vector<std::byte> bytes(block.bytes);
  if (!bytes.empty()) read(block, bytes);
  return bytes;
}

}  // namespace plumb
