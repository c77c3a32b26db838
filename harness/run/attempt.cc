#include "harness/run/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/backend/lookup.h"
#include "harness/record/environment.h"
#include "harness/run/ask.h"
#include "harness/run/digits.h"
#include "harness/run/engine.h"
#include "reference/words/text.h"

namespace plumb {

struct Subject::State {
  Settings settings;
  std::string backend;
  Process process;
  std::string files;                                     // files_hash()
  std::string line{};                                    // of the case that is asked
  std::map<DType, SaidOfEngine> doubts{};                // of its engine

  State(Command command, const Settings& all)
      : settings(all),
        backend(command.name),
        process(command, all.deadlines, waits(), all.greeted),
        files(files_hash(command)) {
    if (settings.parted)
      process.tell_end([this](const std::string& what) { settings.parted(backend, what); });
  }
  State(const State&) = delete;

  Waits waits() {
    if (!settings.waits) return {};
    return [this](const std::string& phase, double seconds, double most) {
      settings.waits({line, backend, phase, seconds, most});
    };
  }
};

namespace {

void say_versions(Record& record, const Hello& hello) {
  for (const auto& [what, version] : hello.versions) record.versions[what] = version;
  record.program = hello.name;
  if (!hello.device_kind.empty()) record.versions["devices"] = hello.device_kind;
}

// What it is asked of its engine, said where it is waited for.
SaidOfEngine asked_how_it_adds(Subject::State& state, DType dtype, Engine said) {
  const std::string line = std::exchange(state.line, "how its engine adds up");  // while it starts
  const auto question = question_of_engine(state.process, dtype);
  if (question) state.line += ", by " + print(*question);
  SaidOfEngine all{{}, "outside what it says that it takes"};
  if (question) all = said_of_engine(state.process, *question, said);
  state.line = line;
  return all;
}

// Whether it sums a product in f32, as far as it promises anything.
bool keeps_types(const Case& c, const Declared& promises) {
  const auto is_f32 = [](const Spec& spec) { return spec.dtype == DType::f32; };
  return (!promises.acc_unspecified && !promises.wire_unspecified) ||
         (std::ranges::all_of(c.op.operands, is_f32) && is_f32(result(c)));
}

void show_result(const Attempt& made, const Settings& settings) {
  if (!settings.results || !std::holds_alternative<Outcome>(made.answer) || !made.proofs.empty()) return;
  if (results(made.c).size() == 1) settings.results(made.c, whole_result(made));
}

}  // namespace

Subject::Subject(const std::string& backend, const Settings& settings) {
  Command command = find_backend(backend);
  name = command.name, asked = command.asked;
  state = std::make_unique<State>(std::move(command), settings);
  if (settings.most_bytes == 0) state->settings.most_bytes = machine().memory_bytes;
}
Subject::~Subject() = default;
Subject::Subject(Subject&&) noexcept = default;

Answered answered(const Case& c, Subject& subject, const Limits& limits) {
  Subject::State& state = *subject.state;
  const Settings& settings = state.settings;
  state.line = print(c);
  const bool wanted = settings.in_place && limits.reruns == 0 && !is_resolve(c) && in_place(c, state.process);
  refuse_what_does_not_fit(c, room_of(settings), {limits.reruns, wanted});
  state.process.allow(deadlines_for(c, settings));
  Answered all{ask(c, state.process, {limits.reruns, wanted, fits(c, room_of(settings))}), {}, limits, {}};
  show_result(all.made.first, settings);
  all.declared = declared(state.process);
  say_who(all.who, subject);
  all.apart = limits.reruns == 0 && !probed_dtype(c) && keep_small(all.made.first);
  return all;
}

Record judged_apart(const Answered& all) {
  Record record = examine(all.made, all.declared, all.limits);
  record.backend = all.who.backend, record.program = all.who.program;
  record.versions.update(all.who.versions);
  return record;
}

namespace {

// Where no finding speaks against a product's bits, its operands' digits may.
void see_digits(Record& record, const Case& c, const Answered& all, Process& process) {
  const Verdict& verdict = record.verdict;
  if (finding(verdict.status) || verdict.plan || verdict.in_place || record.scope == "none") return;
  ask_for_digits(c, all.made.first.operands, process, [&](const Attempt& other, int wide) {
    const std::size_t before = record.verdict.facts.size();
    add_other(record, other, all.declared);
    for (std::size_t i = before; i < record.verdict.facts.size(); ++i) {
      Fact& one = record.verdict.facts[i];
      one.seed.reset();  // its data are no seed's
      one.text = fmt::format("of one term a sum, the {} operand's 24 digits times 1: {}", wide ? "right" : "left", one.text);
    }
  });
  decide(record.verdict);
}

}  // namespace

Record judged_whole(const Case& c, const Answered& all, Subject& subject) {
  Record record = judged_apart(all);
  doubt_engine(record, c, subject);
  see_digits(record, c, all, subject.state->process);
  return record;
}

void doubt_engine(Record& record, const Case& c, Subject& subject) {
  Subject::State& state = *subject.state;
  const Declared promises = declared(state.process);
  const auto dtype = probed_dtype(c);
  if (record.verdict.rounded == 0 || !dtype) return;
  auto at = state.doubts.find(*dtype);
  if (at == state.doubts.end()) at = state.doubts.emplace(*dtype, asked_how_it_adds(state, *dtype, promises.engine)).first;
  std::optional<std::string> doubt = at->second.doubt;
  if (!at->second.refused.empty()) {
    const auto own = keeps_types(c, promises) ? said_by_own_line(state.process, c, promises.engine) : std::nullopt;
    if (own) doubt = own->doubt;
    if (!own) record.notes.push_back("how its engine adds up was not answered: " + at->second.refused);
  }
  if (!doubt) return;
  record.verdict.facts.push_back(fact(Status::mistrusted, *doubt));
  decide(record.verdict);
}

Record attempt(const Case& c, Subject& subject, const Limits& limits) {
  return judged_whole(c, answered(c, subject, limits), subject);
}

Room room_of(const Settings& settings) { return {settings.most_bytes, settings.cores}; }

Deadlines deadlines_for(const Case& c, const Settings& settings) {
  const double more = settings.cores > 0 ? seconds_of_work(c, settings.cores) : 0;
  return {settings.deadlines.start, settings.deadlines.compile + more, settings.deadlines.run + more};
}

Process& process_of(Subject& subject) { return subject.state->process; }

Process& process_for(const Case& c, Subject& subject) {
  subject.state->line = print(c);
  return subject.state->process;
}

const Settings& settings_of(const Subject& subject) { return subject.state->settings; }

void say_who(Record& record, Subject& subject) {
  record.backend = subject.name;
  if (!subject.state->files.empty()) record.versions["files"] = subject.state->files;
  if (const Hello* hello = subject.state->process.hello()) say_versions(record, *hello);
}

}  // namespace plumb
