// plumb sweep: one case over many meshes.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "adapters/protocol/json.h"
#include "harness/backend/interrupt.h"
#include "harness/backend/lookup.h"
#include "harness/command/command.h"
#include "harness/command/flags.h"
#include "harness/command/ledger.h"
#include "harness/record/environment.h"
#include "harness/report/finding.h"
#include "harness/report/progress.h"
#include "harness/sweep/bits.h"
#include "harness/sweep/data.h"
#include "harness/sweep/grid.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct SweepFlags {
  std::string line, record;
  bool resume = false;
  std::vector<std::string> axes;
  std::string devices;
  RunningFlags running;
  Output output;
};

std::vector<Sizes> meshes_of(const SweepFlags& flags, const Mesh& mesh) {
  if (!mesh.place.empty())
    throw bad_input("a sweep numbers its devices row-major", flags.line, flags.line.find("ids"));
  std::vector<AxisSizes> axes;
  for (const std::string& text : flags.axes) {
    axes.push_back(parse_axis_sizes(text));
    if (std::ranges::count(mesh.axes, axes.back().axis, &Axis::name) == 0)
      throw bad_input(
          fmt::format("--axis: there is no axis '{}', the case is on {}", axes.back().axis, print(mesh)),
          text, 0);
    const auto same = [&](const AxisSizes& a) { return a.axis == axes.back().axis; };
    if (std::ranges::count_if(axes, same) > 1)
      throw BadInput(fmt::format("--axis {0} stands twice; give all its sizes at once: --axis {0}=1,2,4",
                                 axes.back().axis));
  }
  if (flags.devices.empty()) {
    if (axes.empty()) throw BadInput("sweep over what? --axis dp=1,2,4 or --meshes 8");
    return combinations(mesh, axes);
  }
  if (!axes.empty()) throw BadInput("--axis and --meshes do not go together");
  std::vector<Sizes> all;
  for (std::int64_t n : parse_device_counts(flags.devices))
    for (Sizes& sizes : factorisations(n, mesh.axes.size())) all.push_back(std::move(sizes));
  return all;
}

// The cases of a sweep; cells[number] is the place of case `number`.
struct Swept {
  std::vector<Cell> cells;
  Cases cases;
  std::vector<std::size_t> places;
};

Swept swept_of(const Case& c, const std::vector<Sizes>& meshes) {
  Swept swept;
  std::vector<Row> rows;
  std::string why;
  for (const Sizes& sizes : meshes) {
    Cell cell{sizes};
    try {
      rows.push_back(parse_row(print(on_sizes(c, sizes)), "sweep", ""));
      swept.places.push_back(swept.cells.size());
    } catch (const BadInput& error) {
      cell.legal = false;
      why = error.what();
    }
    swept.cells.push_back(cell);
  }
  if (rows.empty()) throw BadInput(why);
  swept.cases = cases_of(std::move(rows));
  return swept;
}

// Results as the backend made them, by their lines.
struct Results {
  std::mutex lock;
  std::map<std::string, Tensor> all;
};

// Of the cases that were judged: what came of them is compared. None where one had no room or its rules no
// data.
std::string data_of(const Session& session, const std::vector<Judged>& judged, const Results& results) {
  std::vector<Digests> all;
  std::vector<Made> made;
  std::uint64_t seed = 0;
  for (const Judged& one : judged) {
    if (one.refused || one.record.verdict.status == Status::unsupported) continue;
    if (interrupted()) return "";
    const Case c = nth(session.cases, one.job.number);
    seed = data_seed(c);
    all.push_back(digests(c));
    if (const auto at = results.all.find(print(c)); at != results.all.end())
      made.push_back({print(c.mesh), all.back(), at->second});
  }
  return data_in_words(seed, all) + bits_in_words(made);
}

// Findings by what they are, an example of each: the smallest mesh comes first.
void print_examples(const std::vector<Judged>& judged, Paint paint) {
  std::vector<bool> seen(statuses);
  for (const Judged& j : judged) {
    const Status status = j.record.verdict.status;
    if (status == Status::pass || seen[static_cast<int>(status)]) continue;
    seen[static_cast<int>(status)] = true;
    fmt::print("\n{}", describe(j.record, repeat(j.record, j.asked), paint));
  }
}

// The jobs that the record lacks; what it has goes to `judged`.
std::vector<Job> jobs_of_sweep(const Session& session, Ledger& ledger, const ByKey& known,
                               std::vector<Judged>& judged) {
  const std::string name = resolved_names(session.backends).front();
  const std::string asked = find_backend(session.backends.front()).asked;
  std::vector<Job> jobs;
  for (std::int64_t i = 0; i < count(session.cases); ++i) {
    const Job job{i, 0};
    const Record* before = recorded(known, print(nth(session.cases, i)), name);
    if (recalled(ledger, session, job, before))
      judged.push_back({job, *before, false, asked});
    else
      jobs.push_back(job);
  }
  return jobs;
}

// The grid of one backend. Ctrl-C leaves its cells unrun; whether it came.
bool sweep_backend(const SweepFlags& flags, Session session, const Swept& swept, Ledger& ledger) {
  Results results;
  session.settings.results = [&](const Case& c, const Tensor& whole) {
    const std::lock_guard held(results.lock);
    results.all[print(c)] = whole;
  };
  std::vector<Judged> judged;
  const ByKey known = flags.resume ? by_key(ledger.journal->before()) : ByKey{};
  const std::vector<Job> jobs = jobs_of_sweep(session, ledger, known, judged);
  ledger.progress = {0, static_cast<std::int64_t>(jobs.size()), 0, 0};
  const auto begin = std::chrono::steady_clock::now();
  bool cut_short = false;
  try {
    run(
        session, jobs,
        [&](Judged&& one) {
          judged.push_back(one);
          take(ledger, session.cases, std::move(one));
        },
        [&] {
          tick(ledger, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        });
  } catch (const Interrupted&) {
    cut_short = true;
  }
  std::ranges::sort(judged, {}, [](const Judged& j) { return j.job.number; });
  std::vector<Cell> cells = swept.cells;
  for (const Judged& j : judged) {
    Cell& cell = cells[swept.places[j.job.number]];
    cell.status = j.record.verdict.status;
    cell.pass = pass_of(j.record.verdict);
  }
  clear_line(ledger);
  const Mesh mesh = parse_case(flags.line).mesh;
  fmt::print("\n{}\n{}\n{}{}", judged.empty() ? session.backends[0] : judged[0].record.backend,
             drawn_grid(mesh, cells, ledger.paint), conditions_in_words(mesh, cells),
             data_of(session, judged, results));
  if (!flags.output.quiet) print_examples(judged, ledger.paint);
  std::fflush(stdout);
  return cut_short;
}

int sweep_command(const SweepFlags& flags) {
  Case c = parse_one(flags.line);
  if (!c.seed && !is_resolve(c)) c.seed = 0;  // one for all meshes
  const double budget = parse_budget(flags.running.budget);
  const Swept swept = swept_of(c, meshes_of(flags, c.mesh));
  const std::vector<std::string> backends = backends_of(flags.running);
  resolved_names(backends);
  Ledger ledger;
  ledger.paint = paint_for(flags.output.color, STDOUT_FILENO);
  ledger.say_findings = false;
  ledger.show_progress = !flags.output.quiet;
  ledger.environment = dump(environment());
  open_record(ledger, flags.record, flags.resume);
  fmt::print("{}\n", print(c));
  for (const std::string& backend : backends) {
    Session session{swept.cases,          {backend},          settings(flags.running),
                    flags.running.limits, flags.running.jobs, budget};
    session.parted = says_parted(ledger);
    if (sweep_backend(flags, session, swept, ledger)) return 130;
  }
  const int code = exit_code(ledger.tally);
  return code == 0 && !ledger.origin.afterwards.empty() ? 1 : code;
}

}  // namespace

void add_sweep(CLI::App& app, int& code) {
  auto flags = std::make_shared<SweepFlags>();
  CLI::App* sweep = app.add_subcommand("sweep", "Judge one case over many meshes, and say where it fails");
  sweep->add_option("case", flags->line, "One line of text; its arrays stay as they are")->required();
  sweep->add_option("--axis", flags->axes, "Sizes of an axis: dp=1,2,4 (may repeat)")
      ->check(not_empty("NAME=SIZE,SIZE,..."))
      ->allow_extra_args(false);
  sweep->add_option("--meshes", flags->devices, "Every mesh of this many devices: 8, or 4,8,16")
      ->check(not_empty("numbers of devices, as in 4,8,16"));
  add_running(*sweep, flags->running);
  sweep->add_option("--record", flags->record, "Append a JSON line for each mesh")->check(file_name());
  sweep->add_flag("--resume", flags->resume, "Skip what the record has");
  add_output(*sweep, flags->output);
  sweep->callback([flags, &code] {
    flags->line = parse_row(flags->line, "", "").line;
    code = sweep_command(*flags);
  });
}

}  // namespace plumb
