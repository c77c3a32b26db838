// plumb liars: every planted fault must be caught, and the honest backend must raise no alarm.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <set>

#include "adapters/protocol/json.h"
#include "harness/backend/lookup.h"
#include "harness/command/command.h"
#include "harness/command/flags.h"
#include "harness/command/liars_hlo.h"
#include "harness/command/session.h"
#include "harness/report/finding.h"
#include "harness/report/table.h"
#include "reference/hlo/module/module.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct LiarFlags {
  std::vector<std::string> only, modules;
  std::string keep;
  int seeds = 40;
  int jobs = 1;
  Output output;
};

// One planted fault: what it does, the verdict that must name it, the cases on which it shows.
struct Liar {
  std::string backend, name, says;
  Status status = Status::wrong;
  RunningFlags running;  // what `plumb run` would be given
  std::vector<std::string> cases;
};

// "--max-waste 1 --reruns 1 --timeout 2"
RunningFlags running_of(const std::string& flags) {
  CLI::App app;
  RunningFlags running;
  add_running(app, running);
  app.parse(flags);
  return running;
}

// A row of the liar's table is an option of it; one of a program of several ranks says its arguments.
Liar liar_from_json(const nlohmann::json& j, const std::vector<std::string>& argv) {
  const std::string name = j.at("name");
  std::string backend = "liar,fault=" + name;
  if (const auto options = j.find("options"); options != j.end()) {
    backend = "";
    for (const std::string& argument : argv) backend += argument + " ";
    for (const auto& argument : *options) backend += argument.get<std::string>() + " ";
    backend.pop_back();
  }
  Liar liar{backend, name, j.at("says"), Status::wrong, running_of(j.at("flags")), {}};
  const auto status = status_named(j.at("status").get<std::string>());
  if (!status) throw std::runtime_error(fmt::format("liar {}: there is no such status", liar.name));
  liar.status = *status;
  liar.cases = j.at("cases").get<std::vector<std::string>>();
  return liar;
}

// The rows that a program itself lists, which is the last word of how it is started.
std::vector<Liar> listed_by(const std::vector<std::string>& argv) {
  const std::string command = shell_quoted(argv.back()) + " --list";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) throw std::runtime_error(argv.back() + " cannot be started");
  std::string all;
  for (char buffer[4096]; std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe.get());)
    all.append(buffer, n);
  std::vector<Liar> rows;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    if (end > at)
      rows.push_back(liar_from_json(parse_json(std::string_view(all).substr(at, end - at)), argv));
    at = end + 1;
  }
  if (rows.empty()) throw std::runtime_error(command + " names no fault");
  return rows;
}

// Those of one process, those of kernels, and where there is an MPI those of real ranks.
std::vector<Liar> liars() {
  std::vector<Liar> all = listed_by(find_backend("liar,fault=none").argv);
  std::ranges::move(listed_by(find_backend("cuda,device=host").argv), std::back_inserter(all));
  for (const Known& known : known_backends()) {
    if (known.name != "mpi") continue;
    if (!known.available)
      fmt::print("mpi is not here, and no fault of real ranks is planted: {}\n", known.mend);
    else
      std::ranges::move(listed_by(find_backend("mpi,np=4").argv), std::back_inserter(all));
  }
  return all;
}

std::vector<Row> rows_of(const Liar& liar) {
  std::vector<Row> rows;
  for (const std::string& line : liar.cases) rows.push_back(parse_row(line, liar.name, "liar " + liar.name));
  return rows;
}

std::vector<Judged> judge_all(const Session& session) {
  std::vector<Job> jobs;
  for (std::int64_t n = 0; n < count(session.cases); ++n) jobs.push_back({n, 0});
  std::vector<Judged> all;
  run(
      session, jobs, [&](Judged&& one) { all.push_back(std::move(one)); }, [] {});
  return all;
}

// What the verdicts were: "wrong", or "3 wrong, 1 pass".
std::string statuses_of(const std::vector<Judged>& all) {
  std::array<std::int64_t, statuses> n{};
  for (const Judged& one : all) ++n[static_cast<int>(one.record.verdict.status)];
  std::string text;
  for (int s = 0; s < statuses; ++s)
    if (n[s] > 0)
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ",
                          n[s] == static_cast<std::int64_t>(all.size()) ? "" : fmt::format("{} ", n[s]),
                          name(static_cast<Status>(s)));
  return text;
}

// Whether a case of the fault has the verdict that names it, and none has another finding.
bool caught(const Liar& liar, const std::vector<Judged>& all) {
  const auto status = [](const Judged& one) { return one.record.verdict.status; };
  return std::ranges::count(all, liar.status, status) > 0 && std::ranges::all_of(all, [&](const Judged& one) {
           return status(one) == liar.status || !finding(status(one));
         });
}

int run_liars(const std::vector<Liar>& all) {
  int survivors = 0;
  std::vector<std::vector<std::string>> rows = {
      {"liar", "verdict", "caught", "what it does"}
  };
  for (const Liar& liar : all) {
    const Cases cases = cases_of(rows_of(liar));
    const std::vector<Judged> judged =
        judge_all({cases, {liar.backend}, settings(liar.running), liar.running.limits});
    const bool good = caught(liar, judged);
    survivors += !good;
    rows.push_back({liar.name, statuses_of(judged),
                    good ? "yes" : fmt::format("NO, expected {}", name(liar.status)), liar.says});
  }
  fmt::print("{}", columns(rows, 4));
  return survivors;
}

// The same cases, with other data each time. How many alarms there were.
std::int64_t run_honest(const std::vector<Liar>& all, const LiarFlags& flags, Paint paint) {
  std::vector<Row> rows;
  std::set<std::string> seen;
  for (const Liar& liar : all)
    for (Row& row : rows_of(liar))
      for (const Pattern& pattern : parse_pattern(row.line))
        for (std::int64_t n = 0; n < count(pattern); ++n) {
          Case c = nth(pattern, n);
          for (int seed = 0; seed < flags.seeds; ++seed) {
            c.seed = seed;
            if (std::string line = print(c); seen.insert(line).second)
              rows.push_back({std::move(line),
                              "honest",
                              row.origin,
                              "",
                              0,
                              0,
                              {},
                              liar.running.limits.max_waste,
                              liar.running.limits.max_collectives});
          }
        }
  std::int64_t alarms = 0;
  const Cases cases = cases_of(std::move(rows));
  for (const Judged& one : judge_all({cases, {"local"}, {}, {}, flags.jobs})) {
    if (!finding(one.record.verdict.status)) continue;
    ++alarms;
    fmt::print("{}", describe(one.record, repeat(one.record, one.asked), paint));
  }
  fmt::print("the honest backend: {} in {}, {}\n", counted(count(cases), "case"),
             counted(flags.seeds, "seed"), counted(alarms, "alarm"));
  return alarms;
}

int liars_command(const LiarFlags& flags) {
  if (!flags.modules.empty()) {
    try {
      return liars_in_modules({flags.modules, flags.only, flags.seeds, flags.keep}) > 0 ? 1 : 0;
    } catch (const hlo::BadModule& error) {
      throw BadInput(error.what());
    }
  }
  std::vector<Liar> all = liars();
  for (const std::string& only : flags.only)
    if (std::ranges::count(all, only, &Liar::name) == 0)
      throw BadInput(fmt::format("there is no liar '{}'; plumb liars shows them all", only));
  if (!flags.only.empty())
    std::erase_if(all, [&](const Liar& l) { return std::ranges::count(flags.only, l.name) == 0; });
  const int survivors = run_liars(all);
  fmt::print("\n{} of {} liars caught\n", all.size() - survivors, all.size());
  std::fflush(stdout);
  const std::int64_t alarms =
      flags.seeds > 0 ? run_honest(all, flags, paint_for(flags.output.color, STDOUT_FILENO)) : 0;
  return survivors > 0 || alarms > 0 ? 1 : 0;
}

}  // namespace

void add_liars(CLI::App& app, int& code) {
  auto flags = std::make_shared<LiarFlags>();
  CLI::App* liars = app.add_subcommand("liars", "Plant each known fault and see it caught");
  liars->add_option("fault", flags->only, "Only these");
  liars
      ->add_option("--hlo", flags->modules,
                   "Folders of XLA's dumps: plant faults in every module after the partitioner instead")
      ->allow_extra_args(false);
  liars
      ->add_option("--keep", flags->keep,
                   "With --hlo: append the programs, the faults that move no result and some that do to this "
                   "file, for scripts/confirm-harm")
      ->check(file_name());
  liars->add_option("--seeds", flags->seeds, "Seeds in which the honest backend must raise no alarm")
      ->check(whole_number(0, 100'000))
      ->capture_default_str();
  liars->add_option("--jobs", flags->jobs, "Honest cases at a time")
      ->check(whole_number(1, most_jobs))
      ->capture_default_str();
  add_output(*liars, flags->output);
  liars->callback([flags, &code] { code = liars_command(*flags); });
}

}  // namespace plumb
