// plumb sweep: one case over many meshes.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "harness/command/command.h"
#include "harness/command/flags.h"
#include "harness/command/session.h"
#include "harness/report/finding.h"
#include "harness/report/progress.h"
#include "harness/report/tally.h"
#include "harness/sweep/grid.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct Flags {
  std::string line;
  std::vector<std::string> axes;
  std::vector<std::int64_t> devices;
  Running running;
  Output output;
};

std::vector<Sizes> meshes_of(const Flags& flags, const Mesh& mesh) {
  if (!mesh.place.empty())
    throw bad_input("a sweep numbers its devices row-major", flags.line, flags.line.find("ids"));
  std::vector<AxisSizes> axes;
  for (const std::string& text : flags.axes) axes.push_back(parse_axis_sizes(text));
  if (flags.devices.empty()) {
    if (axes.empty()) throw BadInput("sweep over what? --axis dp=1,2,4 or --meshes 8");
    return combinations(mesh, axes);
  }
  if (!axes.empty()) throw BadInput("--axis and --meshes do not go together");
  std::vector<Sizes> all;
  for (std::int64_t n : flags.devices)
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
    Cell cell{sizes, Status::unrun, true};
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

// Findings by what they are, an example of each: the smallest mesh comes first.
void print_examples(const std::vector<Judged>& judged, Paint paint) {
  std::vector<bool> seen(statuses);
  for (const Judged& j : judged) {
    const Status status = j.record.verdict.status;
    if (status == Status::pass || seen[static_cast<int>(status)]) continue;
    seen[static_cast<int>(status)] = true;
    fmt::print("\n{}", describe(j.record, repeat(j.record, j.limits), paint));
  }
}

void sweep_backend(const Flags& flags, const Mesh& mesh, const Swept& swept, const std::string& backend,
                   Tally& tally) {
  const Paint paint = paint_for(flags.output.color, STDOUT_FILENO);
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < swept.places.size(); ++i) jobs.push_back({static_cast<std::int64_t>(i), 0});
  std::vector<Cell> cells = swept.cells;
  std::vector<Judged> judged;
  const Session session{swept.cases,
                        {backend},
                        settings(flags.running),
                        flags.running.jobs,
                        parse_budget(flags.running.budget),
                        flags.running.timeout};
  run(
      session, jobs,
      [&](Judged&& one) {
        cells[swept.places[one.job.number]].status = one.record.verdict.status;
        judged.push_back(std::move(one));
      },
      [] {});
  std::ranges::sort(judged, {}, [](const Judged& j) { return j.job.number; });
  for (const Judged& j : judged) add(tally, "sweep", j.record.backend, j.record.verdict);
  fmt::print("{}\n{}\n{}", judged.empty() ? backend : judged[0].record.backend, grid(mesh, cells, paint),
             in_words(mesh, cells));
  if (!flags.output.quiet) print_examples(judged, paint);
}

int sweep_command(const Flags& flags) {
  const Case c = parse_case(flags.line);
  const Swept swept = swept_of(c, meshes_of(flags, c.mesh));
  const std::vector<std::string> backends = backends_of(flags.running);
  resolved_names(backends);
  Tally tally;
  fmt::print("{}\n", print(c));
  for (const std::string& backend : backends) {
    fmt::print("\n");
    sweep_backend(flags, c.mesh, swept, backend, tally);
  }
  return exit_code(tally);
}

}  // namespace

void add_sweep(CLI::App& app, int& code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* sweep = app.add_subcommand("sweep", "Judge one case over many meshes, and say where it fails");
  sweep->add_option("case", flags->line, "One line of text; its arrays stay as they are")->required();
  sweep->add_option("--axis", flags->axes, "Sizes of an axis: dp=1,2,4 (may repeat)")
      ->allow_extra_args(false);
  sweep->add_option("--meshes", flags->devices, "Every mesh of this many devices: 8, or 4,8,16")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  add_running(*sweep, flags->running);
  add_output(*sweep, flags->output);
  sweep->callback([flags, &code] { code = sweep_command(*flags); });
}

}  // namespace plumb
