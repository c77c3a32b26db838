// plumb prove: a partitioner's output against its input.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>

#include "harness/backend/interrupt.h"
#include "harness/command/command.h"
#include "harness/command/dumps.h"
#include "harness/command/files.h"
#include "harness/command/flags.h"
#include "harness/command/proof.h"
#include "harness/record/environment.h"
#include "harness/record/journal.h"
#include "harness/report/finding.h"
#include "harness/report/progress.h"
#include "reference/hlo/prove/memory.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct ProveFlags {
  std::vector<std::string> paths, ranges;
  std::string module, budget, memory, record;
  std::uint64_t seed = 0;
  int draws = 0;  // as many as are made by default
  bool json = false, passes = false, strict = false;
};

// What ended a proof before its end.
struct Ended {
  std::string why;
};

// Watches a proof from its beginning: the time it may take, Ctrl-C, and how far it is.
struct Watch {
  double budget = 0;  // 0: no limit
  LongWork work{};
  std::string last = "before the first draw";  // or the last instruction

  // Called before every instruction.
  void look(const std::string& at) {
    last = at;
    pause();
    work.tell(at);
  }
  // And within long ones, in several threads at once.
  void pause() const {
    if (interrupted()) throw Interrupted();
    if (budget > 0 && work.seconds() > budget) throw Ended{"no time was left: " + last};
  }
};

std::string told(const hlo::Step& step) {
  const std::string loops =
      step.computed > step.all ? fmt::format(" ({} with those called)", step.computed) : "";
  return fmt::format("draw {} of {}, the module {} the partitioner, instruction {} of {}{}", step.draw,
                     step.draws, step.after ? "after" : "before", step.done, step.all, loops);
}

// The parameter of a number, of a name as the dump has it, or as the user's program has it.
std::int64_t parameter_named(const hlo::Module& module, const std::string& text, const std::string& flag) {
  const hlo::Computation& main = hlo::entry(module);
  std::string names;
  for (std::int64_t n = 0; n < std::ssize(main.parameters); ++n) {
    const auto& i = main.instructions[static_cast<std::size_t>(main.parameters[static_cast<std::size_t>(n)])];
    if (text == std::to_string(n) || text == i.name || text == i.op_name) return n;
    if (n < 8) names += (n > 0 ? ", " : "") + (i.op_name.empty() ? i.name : i.op_name);
    if (n == 8) names += ", ...";
  }
  throw bad_input(fmt::format("--range: there is no such parameter, only 0 to {}: {}",
                              std::ssize(main.parameters) - 1, names),
                  flag, 0);
}

std::pair<std::int64_t, hlo::Bounds> parse_range(const hlo::Module& module, const std::string& flag) {
  const std::size_t equals = flag.rfind('=');
  if (equals == flag.npos) throw bad_input("--range: expected PARAM=LO:HI", flag, flag.size());
  const char *next = flag.data() + equals + 1, *end = flag.data() + flag.size();
  const auto expected = [&](const std::string& what) {
    return bad_input("--range: expected " + what, flag, static_cast<std::size_t>(next - flag.data()));
  };
  const auto number = [&] {
    std::int64_t n = 0;
    const auto read = std::from_chars(next, end, n);
    if (read.ec != std::errc()) throw expected("a whole number");
    next = read.ptr;
    return n;
  };
  const std::int64_t low = number();
  if (next == end || *next != ':') throw expected("':'");
  const std::size_t second = static_cast<std::size_t>(++next - flag.data());
  const std::int64_t high = number();
  if (next != end) throw expected("the end");
  const std::size_t first = equals + 1;
  if (high < low) throw bad_input("--range: expected a number that is not below the first", flag, second);
  const std::int64_t p = parameter_named(module, flag.substr(0, equals), flag);
  const hlo::Computation& main = hlo::entry(module);
  const hlo::Shape& shape =
      main.instructions[static_cast<std::size_t>(main.parameters[static_cast<std::size_t>(p)])].shape;
  if (!is_integer(shape.type) && shape.type != hlo::Type::pred)
    throw bad_input(fmt::format("--range: {} holds no integers", print(shape, false)), flag, 0);
  for (const auto& [n, place] : {
           std::pair{low,  first },
           {high, second}
  })
    if (!hlo::has_number(shape.type, n))
      throw bad_input(fmt::format("--range: {} does not hold {}", print(shape, false), n), flag, place);
  return {
      p, {low, high, true}
  };
}

// "512MiB", "4GiB" in bytes.
std::int64_t parse_memory(const std::string& text) {
  double size = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), size);
  const std::string unit(read.ptr, text.data() + text.size());
  const double scale = unit == "MiB" ? 0x1p20 : unit == "GiB" ? 0x1p30 : 0;
  if (read.ec != std::errc() || !(size > 0) || scale == 0 || size * scale > 0x1p62)
    throw bad_input("--memory: expected a size such as 512MiB or 4GiB", text, 0);
  return static_cast<std::int64_t>(size * scale);
}

// What memory a proof needs, of modules that belong together.
std::int64_t checked_bytes(const hlo::Subject& subject) {
  hlo::check(subject);
  return memory_needed(subject);
}

std::string in_mib(std::int64_t bytes) { return fmt::format("{} MiB", (bytes >> 20) + 1); }

// The user's ranges, one for each parameter that has any.
std::map<std::int64_t, hlo::Bounds> ranges_of(const ProveFlags& flags, const hlo::Module& module) {
  std::map<std::int64_t, hlo::Bounds> all;
  for (const std::string& range : flags.ranges)
    if (!all.insert(parse_range(module, range)).second)
      throw bad_input("--range: a second one of this parameter", range, 0);
  return all;
}

// What is drawn below zero of what indexes is no index: XLA clamps it, or leaves it out.
void say_below_zero(const std::map<std::int64_t, hlo::Bounds>& ranges, const hlo::Module& module) {
  const std::vector<hlo::Bounds> found = hlo::bounds_of(module);
  const hlo::Computation& main = hlo::entry(module);
  for (const auto& [p, range] : ranges)
    if (const auto n = static_cast<std::size_t>(p); range.low < 0 && found[n].indexes)
      fmt::print(stderr, "plumb: --range: %{} indexes, and is drawn below zero too\n",
                 main.instructions[static_cast<std::size_t>(main.parameters[n])].name);
}

// Whether nothing is listed or counted that no draw showed.
bool is_all_shown(const hlo::Proof& proof) {
  return proof.untaken.empty() && proof.unanswered.empty() && proof.borders.empty() && proof.apart.empty() &&
         proof.unshown.empty();
}

// What of a proof would be done again.
std::string repeated(const ProveFlags& flags, std::uint64_t seed) {
  std::string command = "plumb prove";
  for (const std::string& path : flags.paths) command += " " + shell_quoted(path);
  if (!flags.module.empty()) command += " --module " + shell_quoted(flags.module);
  for (const std::string& range : flags.ranges) command += " --range " + shell_quoted(range);
  if (flags.passes) command += " --passes";
  if (flags.strict) command += " --strict";
  if (flags.draws > 0) command += fmt::format(" --draws {}", flags.draws);
  return command + fmt::format(" --seed {}", seed);
}

// What all proofs of a command share.
struct Proving {
  const ProveFlags& flags;
  const Dumps& dumps;
  const hlo::Module* propagated;  // null: not dumped
  std::map<std::int64_t, hlo::Bounds> ranges;
  Watch watch{parse_budget(flags.budget)};
  std::int64_t most = flags.memory.empty() ? machine().memory_bytes : parse_memory(flags.memory);
  hlo::Wholes wholes{};  // what BEFORE computes, for all passes
  int agreed = 0;        // draws
  // By the key, and whether it is partitioned: many passes leave a module as it was, and AFTER is one of
  // them.
  std::map<std::pair<std::string, bool>, hlo::Proof> proofs{};

  std::optional<std::uint64_t> refuting{};  // a draw: the first pass that is wrong is wrong in it
  hlo::Sought sought{};                     // by locating
  std::function<hlo::Watch<hlo::Twin>(const hlo::Module&, const hlo::Proof&)> noting{};

  // Of modules that belong together, and that need so many bytes; `of` names the pass after which they were.
  hlo::Proof prove(const hlo::Subject& subject, std::int64_t bytes, const std::string& of) {
    const std::pair key{proof_key(subject.before, subject.after), subject.partitioned};
    if (const auto known = proofs.find(key); known != proofs.end()) return known->second;
    hlo::Options options{refuting.value_or(flags.seed),
                         flags.draws,
                         8,
                         ranges,
                         [&](const hlo::Step& step) {
                           if (of.empty()) agreed = step.draw - 1;
                           watch.look((of.empty() ? "" : of + ", ") + told(step));
                         },
                         [&] { watch.pause(); },
                         refuting.has_value(),
                         of.empty(),
                         noting};
    if (bytes > most) {
      const bool less = most < std::int64_t{1} << 20;
      throw Ended{fmt::format("it needs {} of memory, and there {} {}", in_mib(bytes), less ? "is" : "are",
                              less ? "less than one" : fmt::format("{} MiB", most >> 20))};
    }
    return proofs[key] = hlo::prove(subject, options, &wholes);
  }
};

// Judges the module after each pass, until `stop` says so of what it found: in a word, and the proof if there
// is one.
template <typename F>
void each_pass(Proving& proving, const hlo::Module& before, F stop) {
  for (const CompilerPass& pass : proving.dumps.passes) {
    std::string finding;
    std::optional<hlo::Proof> proof;
    try {
      const auto after = module_at(pass.file);
      const bool is_propagated =
          !pass.partitioned && proving.propagated && print(*after) == print(*proving.propagated);
      const hlo::Subject subject{before, is_propagated ? *proving.propagated : *after, proving.propagated,
                                 pass.partitioned};
      proof = proving.prove(subject, checked_bytes(subject), pass.name);
      finding = name(proof->finding);
    } catch (const hlo::BadModule& error) {
      finding = without_excerpt(error);
    }
    if (stop(pass, finding, proof)) return;
  }
}

// Proves, and says where what is refuted went wrong; where the budget or the memory ends it, so does the
// report say.
void judge(Proving& proving, const hlo::Subject& subject, ProofReport& report) {
  const ProveFlags& flags = proving.flags;
  hlo::Proof& proof = report.proof;
  proof.devices = subject.before.partitions, proof.seed = flags.seed;
  try {
    report.bytes = checked_bytes(subject);
    if (!flags.json)
      fmt::print(stderr, "plumb: {}: {}, {} of memory\n", report.subject, counted(proof.devices, "device"),
                 in_mib(report.bytes));
    proving.noting = hlo::watching(subject, proving.sought);
    proof = proving.prove(subject, report.bytes, "");
    const bool wrong = proof.finding == hlo::Finding::refuted || proof.finding == hlo::Finding::unsettled;
    if (proof.finding == hlo::Finding::refuted && !proof.directed && !flags.passes)
      proving.refuting = proof.seed;
    std::optional<hlo::Proof> later;  // of a pass behind the partitioner, which was right
    if ((wrong && !proof.by_itself) || flags.passes)
      each_pass(proving, subject.before,
                [&](const CompilerPass& pass, const std::string& finding,
                    const std::optional<hlo::Proof>& of_pass) {
                  const bool bad = finding == "refuted" || finding == "unsettled";
                  if (bad && report.pass.empty())
                    report.pass = pass.name, later = wrong ? std::nullopt : of_pass;
                  if (flags.passes) report.passes.push_back({pass.name, finding});
                  if (flags.passes && !flags.json) fmt::print("{:11} {}\n", finding, pass.name);
                  return bad && !flags.passes;
                });
    const auto look = [&](const hlo::Computation&, std::size_t) {
      proving.watch.look("looking for the instruction at fault");
    };
    if (later)
      proof = std::move(*later);  // the pass says where
    else
      report.place = locate(subject, proof, {look, [&] { proving.watch.pause(); }}, &proving.sought);
  } catch (const Ended& ended) {
    if (proof.finding == hlo::Finding::proven)
      proof.finding = hlo::Finding::unrun, proof.draws = proving.agreed;
    proof.why += (proof.why.empty() ? "" : "; ") + ended.why;
  } catch (const Interrupted&) {
    if (proof.finding == hlo::Finding::proven) throw;
    proof.why += std::string(proof.why.empty() ? "" : "; ") + "interrupted while it looked for the place";
  }
  report.seconds = proving.watch.work.seconds();
}

int prove_modules(const ProveFlags& flags) {
  hlo::keep_memory();
  const std::string& first = flags.paths[0];
  const bool folder = flags.paths.size() == 1;
  if (!folder && (!flags.module.empty() || flags.passes))
    throw BadInput("--module and --passes are of a folder of dumps; two modules were given");
  Dumps dumps;
  if (folder)
    dumps = chosen_dumps(first, flags.module);
  else
    dumps.before = first, dumps.after = flags.paths[1];
  std::unique_ptr<Journal> journal;
  journal = journal_of(flags.record);
  const auto before = module_at(dumps.before), after = module_at(dumps.after),
             propagated = module_at(dumps.propagated);
  const hlo::Subject subject{*before, *after, propagated ? &*propagated : nullptr};
  ProofReport report;
  report.module = before->name, report.key = proof_key(*before, *after);
  report.subject =
      folder ? fmt::format("{}: {}", first, dumps.module) : fmt::format("{} {}", first, flags.paths[1]);
  if (!dumps.note.empty()) fmt::print(stderr, "plumb: {}: {}\n", report.subject, dumps.note);
  Proving proving{flags, dumps, subject.propagated, ranges_of(flags, subject.before)};
  say_below_zero(proving.ranges, subject.before);
  judge(proving, subject, report);
  // A draw that refutes does so by itself, but where integers were put for it; all else is of all draws.
  if (report.proof.directed || report.proof.finding != hlo::Finding::refuted) report.proof.seed = flags.seed;
  report.again = repeated(flags, report.proof.seed);
  fmt::print("{}", flags.json ? json_text(report) + '\n' : in_words(report));
  std::fflush(stdout);  // a record that cannot be written loses no verdict
  if (journal && report.proof.finding != hlo::Finding::unrun)
    journal->append(record_of(report), dump(environment()));
  const hlo::Finding finding = report.proof.finding;
  if (interrupted()) throw Interrupted();
  if (finding == hlo::Finding::unrun) return 2;
  const bool proven = finding == hlo::Finding::proven && report.pass.empty();
  return proven && (!flags.strict || is_all_shown(report.proof)) ? 0 : 1;
}

}  // namespace

void add_prove(CLI::App& app, int& code) {
  auto flags = std::make_shared<ProveFlags>();
  CLI::App* prove = app.add_subcommand("prove",
                                       "Whether a module of HLO computes, partitioned, what it computes "
                                       "whole: on every device, in exact arithmetic");
  prove
      ->add_option("PATHS", flags->paths,
                   "A folder of XLA's dumps, or the module before and the one after the partitioner")
      ->required()
      ->expected(1, 2);
  prove->add_option("--module", flags->module, "Which module of the folder, module_0001.jit_step");
  prove->add_option("--seed", flags->seed, "Of the first draw")->check(whole_number(0, ~std::uint64_t{0}));
  prove
      ->add_option("--draws", flags->draws,
                   "How many draws must agree; default: 2, and 8 where the arguments are fewer than 4,096 "
                   "numbers or a single integer indexes")
      ->check(whole_number(1, 1000));
  prove
      ->add_option("--range", flags->ranges,
                   "PARAM=LO:HI, between which an integer parameter is drawn (may repeat); PARAM is its "
                   "number or name")
      ->allow_extra_args(false);
  prove->add_option("--memory", flags->memory,
                    "Begin nothing that needs more: 512MiB, 4GiB; default: the machine's");
  prove->add_option("--budget", flags->budget, "End after this time: 90s, 10m, 2h; default: no limit");
  prove->add_option("--record", flags->record, "Append what came of it to this file")->check(file_name());
  prove->add_flag("--passes", flags->passes,
                  "Judge the module after every pass that XLA dumped (--xla_dump_hlo_pass_re=.*)");
  prove->add_flag(
      "--strict", flags->strict,
      "Exit code 1 also where what is proven lists ways that no draw took, or counts comparisons that had "
      "one answer or came to where they turn in no draw");
  prove->add_flag("--json", flags->json, "Print it as JSON");
  prove->callback([flags, &code] {
    try {
      code = prove_modules(*flags);
    } catch (const hlo::BadModule& error) {
      throw BadInput(error.what());
    }
  });
}

}  // namespace plumb
