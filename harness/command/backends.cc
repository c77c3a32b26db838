// plumb backends and plumb doctor: what can run here, and what mends the rest.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "harness/backend/lookup.h"
#include "harness/command/command.h"
#include "harness/command/flags.h"
#include "harness/command/help.h"
#include "harness/command/options.h"
#include "harness/record/environment.h"
#include "harness/report/table.h"
#include "harness/select/suite.h"
#include "reference/exact/blas.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

void print_backends() {
  std::vector<std::vector<std::string>> rows = {
      {"backend", "here", "what, and what makes it available"}
  };
  for (const Known& known : known_backends())
    rows.push_back({known.name, known.available ? "yes" : "no", known.available ? known.what : known.mend});
  fmt::print("{}", columns(rows, 3));
}

int print_all() {
  print_backends();
  fmt::print("\n{}", wrapped(options_of_backends(), 100));
  return 0;
}

// Every option of a backend: its values, what each means, and which one is meant where none is given.
int print_options(const std::string& name) {
  if (const std::size_t end = name.find_first_of("@,"); end != name.npos)
    throw bad_input("the options are those of every release: expected a name alone, such as jax", name, end);
  const BackendRow& row = row_named(name);
  std::vector<std::vector<std::string>> lines;
  for (const BackendOption& o : row.options) {
    if (o.values.empty() || !o.help.empty()) lines.push_back({o.name + "=...", "", o.help});
    for (const auto& [value, help] : o.values)
      lines.push_back({o.name + "=" + value, value == o.standard ? "default" : "", help});
  }
  fmt::print("{}: {}\n{}", row.name, row.what, columns(lines, 3));
  return 0;
}

// What ctest may use at a time (--resource-spec-file). Ranks wait more than they compute: a machine of few
// processors has as many as the largest test asks for.
int print_resources() {
  constexpr int most_of_a_test = 16;
  const std::filesystem::path cards = "/proc/driver/nvidia/gpus";
  std::vector<std::string> gpus;
  if (std::filesystem::is_directory(cards))
    for ([[maybe_unused]] const auto& card : std::filesystem::directory_iterator(cards))
      gpus.push_back(fmt::format(R"({{"id":"{}","slots":1}})", gpus.size()));
  fmt::print(
      R"({{"version":{{"major":1,"minor":0}},"local":[{{"ranks":[{{"id":"0","slots":{}}}],"gpus":[{}]}}]}})",
      std::max(machine().cores, most_of_a_test), fmt::join(gpus, ","));
  fmt::print("\n");
  return 0;
}

int doctor() {
  const Machine m = machine();
  fmt::print("plumb     {}\n", version() + (revision().empty() ? "" : " (" + revision() + ")"));
  fmt::print("machine   {}, {}, {} GiB\n", m.cpu.empty() ? "unknown processor" : m.cpu,
             counted(m.cores, "core"), m.memory_bytes >> 30);
  fmt::print("system    {}\n", m.os);
  fmt::print("products  {}\n",
             dgemm() ? dgemm_name() : "no OpenBLAS that can be trusted; the exact sums are slow without it");
  fmt::print("suites    {}\n\n", suites().size());
  print_backends();
  for (const Known& known : known_backends())
    if (known.available && known.name == "local") return 0;
  return 1;
}

}  // namespace

void add_backends(CLI::App& app, int& code) {
  auto name = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("backends", "Say which backends can run here, or the options of one");
  command->add_option("backend", *name, "Without @RELEASE: jax")->check(not_empty("the name of a backend"));
  command->callback([name, &code] { code = name->empty() ? print_all() : print_options(*name); });
}

void add_doctor(CLI::App& app, int& code) {
  auto resources = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("doctor", "Say what is here, and the command that mends what is missing");
  command->add_flag("--resources", *resources, "As ctest reads it: --resource-spec-file");
  command->callback([resources, &code] { code = *resources ? print_resources() : doctor(); });
}

}  // namespace plumb
