#include "harness/run/attempt.h"

#include <fmt/format.h>

#include <chrono>

#include "harness/backend/process.h"
#include "harness/backend/resolve.h"
#include "harness/judge/claimed.h"
#include "harness/judge/judge.h"
#include "harness/judge/replicas.h"
#include "harness/judge/resolver.h"
#include "harness/judge/traffic.h"
#include "harness/record/environment.h"
#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {

struct Subject::State {
  Settings settings;
  std::string backend;
  Process process;
  std::string line{};  // of the case that is asked

  State(Command command, const Settings& all)
      : settings(all), backend(command.name), process(std::move(command), deadlines(), waits()) {}
  State(const State&) = delete;

  Deadlines deadlines() const {
    return {settings.start_seconds, settings.compile_seconds, settings.run_seconds};
  }
  Waits waits() {
    if (!settings.waits) return {};
    return [this](const std::string& phase, double seconds) {
      settings.waits({line, backend, phase, seconds});
    };
  }
};

namespace {

using Clock = std::chrono::steady_clock;

template <class F>
auto timed(double& seconds, F&& f) {
  const auto begin = Clock::now();
  auto value = f();
  seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  return value;
}

std::string in_words(double bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 6; ++unit) bytes /= 1024;
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

const char* in_words(Certificate::Scope scope) {
  switch (scope) {
    case Certificate::Scope::any_split:
      return "any split";
    case Certificate::Scope::this_split:
      return "this split";
    case Certificate::Scope::none:
      return "none";
  }
  return "";
}

Declared declared(const Capabilities& capabilities) {
  Declared d;
  d.clones = capabilities.clones;
  d.tail_undefined = capabilities.tail_undefined;
  d.acc_unspecified = capabilities.acc.unspecified;
  d.wire_unspecified = capabilities.wire.unspecified;
  d.parts_rounded = capabilities.parts_rounded;
  d.engine = capabilities.engine;
  d.data_none = capabilities.plans_only;
  return d;
}

void fail(Record& record, Status status, std::string text) {
  record.verdict.facts.push_back({status, std::move(text), {}, {}});
  record.verdict.status = status;
}

// What is not an outcome becomes its verdict here.
void take(Record& record, const Unsupported& answer) {
  fail(record, Status::unsupported,
       answer.source.empty() ? answer.reason : fmt::format("{} ({})", answer.reason, answer.source));
}
void take(Record& record, const Reneged& answer) {
  fail(record, Status::reneged, answer.message);
  record.last_words = answer.detail;
}
void take(Record& record, const Case& c, const Refused& answer) {
  record.verdict = judge_refusal(c, answer.message);
  record.last_words = answer.detail;
  if (record.verdict.facts.empty()) record.notes.push_back("refused: " + answer.message);
}
void take(Record& record, const Hung& answer) {
  fail(record, Status::hung, fmt::format("no reply within {:g} seconds of {}", answer.seconds, answer.phase));
  record.last_words = answer.last_words;
  record.processes = answer.processes;
}
void take(Record& record, const OffPage& answer) {
  fail(record, Status::malformed, fmt::format("{} (in {})", answer.what, answer.phase));
  record.last_words = answer.last_words;
}
void take(Record& record, const Crashed& answer) {
  fail(record, Status::crashed, fmt::format("{} (in {})", answer.what, answer.phase));
  record.last_words = answer.last_words;
}

void take(Record& record, const Case& c, const Answer& answer) {
  std::visit(
      [&](const auto& a) {
        using Kind = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<Kind, Refused>)
          take(record, c, a);
        else if constexpr (!std::is_same_v<Kind, Outcome>)
          take(record, a);
      },
      answer);
}

std::vector<Tensor> filled(const Case& c) {
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
  return operands;
}

Read read_of(Subject::State& state) {
  return [&](const Block& block, std::span<std::byte> into) { state.process.read(block, into); };
}

// What a backend made of a case.
struct Ran {
  const Case& c;
  Subject::State& state;
  const std::vector<Tensor>& operands;
  const Outcome& outcome;
};

// Runs the case on other data: what a backend kept of the run before is no answer to it.
void run_on_other_data(Record& record, const Ran& ran) {
  Case other = ran.c;
  other.seed = data_seed(ran.c) + 1;
  const std::vector<Tensor> operands = filled(other);
  const Answer answer = ran.state.process.run(other, operands);
  Record judged;
  if (const auto* outcome = std::get_if<Outcome>(&answer))
    judged.verdict = judge(WantedAll{other, operands, evaluate_all(other, operands), certificate(other)},
                           *outcome, read_of(ran.state), declared(ran.state.process.hello()->capabilities));
  else
    take(judged, other, answer);
  for (Fact& fact : judged.verdict.facts) {
    if (fact.status >= Status::mistrusted) continue;  // a doubt about data is one about these alone
    if (fact.status == Status::unsupported) fact.status = Status::reneged;
    fact.seed = other.seed;
    record.verdict.facts.push_back(std::move(fact));
  }
  if (record.last_words.empty()) record.last_words = std::move(judged.last_words);
}

// Runs the case again, after a run on other data, and compares bits.
void rerun(Record& record, const Ran& ran, const Read& read) {
  const auto& [c, state, operands, first] = ran;
  const std::uint64_t before = digest(first, read);
  run_on_other_data(record, ran);
  for (int i = 0; i < state.settings.reruns; ++i) {
    const Answer answer = state.process.run(c, operands);
    const auto* outcome = std::get_if<Outcome>(&answer);
    if (outcome && digest(*outcome, read) == before) continue;
    record.verdict.facts.push_back({Status::unstable,
                                    outcome ? fmt::format("rerun {} gave other bits", i + 1)
                                            : fmt::format("rerun {} gave no result", i + 1),
                                    {},
                                    {}});
    return;
  }
}

void judged(Record& record, const Ran& ran) {
  const auto& [c, state, operands, outcome] = ran;
  if (is_resolve(c)) {
    record.notes = outcome.notes;
    record.times.run = outcome.run_seconds;
    record.verdict = timed(record.times.judge, [&] { return judge_resolver(c, outcome); });
    return;
  }
  const std::vector<Tensor> wholes = timed(record.times.reference, [&] { return evaluate_all(c, operands); });
  const Certificate proof = certificate(c);
  record.certificate = proof.text;
  record.scope = in_words(proof.scope);
  if (proof.shown && shows_less(c, *proof.shown)) record.shown = proof.shown;
  if (outcome.traced) record.trace = outcome.trace;
  record.notes = outcome.notes;
  record.times.compile = outcome.compile_seconds;
  record.times.run = outcome.run_seconds;
  const Read read = read_of(state);
  const Declared promises = declared(state.process.hello()->capabilities);
  if (promises.engine != Engine::ieee) record.engine = model(promises.engine).name;
  if (const std::int64_t rows = masked_rows(c, promises))
    record.notes.push_back(
        fmt::format("{} rows of the tail are masked: the backend leaves them undefined", rows));
  record.verdict = timed(record.times.judge, [&] {
    return judge(WantedAll{c, operands, wholes, proof}, outcome, read, promises);
  });
  record.verdict.untraced = !outcome.traced;
  record.cost = cost(c, outcome);
  const Case claimed = as_claimed(c, outcome);
  if (record.verdict.status == Status::pass && !promises.data_none) {
    auto doubt = short_fact(result(c).free ? cost(claimed, outcome) : record.cost);
    if (!doubt) doubt = contradiction(claimed, outcome, record.verdict);
    if (doubt) record.verdict.facts.push_back(*doubt);
  }
  if (auto waste = waste_fact(c, record.cost, state.settings.max_waste))
    record.verdict.facts.push_back(*waste);
  if (outcome.traced) record.collectives = collectives_of(claimed, outcome);
  if (auto waste = count_fact(record.collectives, state.settings.max_collectives))
    record.verdict.facts.push_back(*waste);
  if (record.verdict.facts.empty())
    if (auto doubt =
            unjudged_fact(c, record.cost, {state.settings.max_waste, state.settings.max_collectives}))
      record.verdict.facts.push_back(*doubt);
  record.replica_safe = replica_safe(claimed, outcome.trace);
  if (state.settings.reruns > 0 && !promises.data_none) rerun(record, ran, masked(claimed, read, promises));
  decide(record.verdict);
}

}  // namespace

// Operands and result, whole; what is also in the arena twice: the operands, and the blocks of the result.
void refuse_what_does_not_fit(const Case& c, const Settings& settings) {
  if (is_resolve(c)) return;  // it holds no data
  double need = 0;
  const auto all_devices = static_cast<double>(devices(c.mesh));
  for (const Spec& spec : results(c))
    need += static_cast<double>(bytes(spec)) +
            2.0 * all_devices * static_cast<double>(largest_block_bytes(c.mesh, spec, c.rule));
  for (const Spec& operand : c.op.operands)
    need += 2.0 * static_cast<double>(bytes(operand)) * static_cast<double>(parts(c.mesh, operand));
  if (settings.reruns > 0) need *= 2;  // the same of other data
  const auto most = static_cast<double>(settings.most_bytes);
  if (need > most)
    throw DoesNotFit(fmt::format("this case would hold {}, more than the {} there are\n  {}", in_words(need),
                                 in_words(most), print(c)));
}

Subject::Subject(const std::string& backend, const Settings& settings) {
  Command command = resolve(backend);
  name = command.name;
  state = std::make_unique<State>(std::move(command), settings);
  if (settings.most_bytes == 0) state->settings.most_bytes = machine().memory_bytes;
}
Subject::~Subject() = default;
Subject::Subject(Subject&&) noexcept = default;

Record attempt(const Case& c, Subject& subject) {
  Subject::State& state = *subject.state;
  refuse_what_does_not_fit(c, state.settings);
  Record record;
  record.line = state.line = print(c);
  record.backend = subject.name;
  if (const auto refusal = timed(record.times.backend, [&] { return state.process.refuses(c); })) {
    take(record, c, *refusal);
  } else {
    const auto operands = timed(record.times.fill, [&] { return filled(c); });
    const Answer answer = timed(record.times.backend, [&] { return state.process.run(c, operands); });
    if (const auto* outcome = std::get_if<Outcome>(&answer))
      judged(record, {c, state, operands, *outcome});
    else
      take(record, c, answer);
  }
  if (const Hello* hello = state.process.hello()) {
    for (const auto& [what, version] : hello->versions) record.versions[what] = version;
    record.program = hello->name;
    if (!hello->device_kind.empty()) record.versions["devices"] = hello->device_kind;
  }
  return record;
}

}  // namespace plumb
