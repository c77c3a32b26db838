// plumb resolve: a user's own logical axis rules, under every resolver that is set up here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>

#include "harness/backend/lookup.h"
#include "harness/backend/spelling.h"
#include "harness/command/advice.h"
#include "harness/command/command.h"
#include "harness/command/files.h"
#include "harness/command/flags.h"
#include "harness/report/finding.h"
#include "harness/report/table.h"
#include "harness/run/ask.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct ResolveFlags {
  std::string rules, names;
  std::vector<std::string> meshes, backends;
  bool all = false;
};

// What one resolver makes of all parameters on one mesh.
struct Resolver {
  std::string backend;
  std::int64_t agrees = 0, differs = 0, refuses = 0, unsupported = 0, whole = 0;
  std::int64_t bytes = 0, due = 0;  // on a device, of the parameters for which it and `first` have a layout
};

// Both families of Flax's resolvers in its newest release, and every release of MaxText.
std::vector<std::string> resolvers_here() {
  std::vector<std::string> names;
  bool flax = false;
  for (const Known& known : known_backends()) {
    if (!known.available) continue;
    if (known.name.starts_with("flax@") && !flax) {
      flax = true;
      names.push_back(known.name);
      names.push_back(known.name + ",resolver=get_var_pspec");
    }
    if (known.name.starts_with("maxtext@")) names.push_back(known.name);
  }
  return names;
}

// The commands that set one up.
std::vector<std::string> mended_by() {
  std::vector<std::string> commands;
  for (const char* name : {"flax", "maxtext"}) {
    const BackendRow& row = row_named(name);
    commands.push_back(mend(row, row.releases.front()));
  }
  return commands;
}

void count(Resolver& told, const Resolution& asked, const Outcome& outcome) {
  if (outcome.claims.empty() || !outcome.claims.front()) return;
  const Spec claimed = parse_spec(*outcome.claims.front(), asked.c.mesh);
  if (devices(asked.c.mesh) > 1 && !split(asked.c, claimed)) ++told.whole;
  if (!asked.first.spec) return;
  told.bytes += largest_block_bytes(asked.c.mesh, claimed, asked.c.rule);
  told.due += largest_block_bytes(asked.c.mesh, *asked.first.spec, asked.c.rule);
}

// What came of one parameter on one resolver.
Record examined(Resolver& told, const Resolution& asked, Process& process) {
  const Attempts made = ask(asked.c, process, {});
  Record record = examine(made, declared(process), {});
  if (const auto* outcome = std::get_if<Outcome>(&made.first.answer)) count(told, asked, *outcome);
  told.refuses += std::holds_alternative<Refused>(made.first.answer);
  told.unsupported += record.verdict.status == Status::unsupported;
  return record;
}

// `where` ends the first line of each finding.
Resolver told_by(Process& process, const std::vector<Resolution>& all, const std::string& where) {
  Resolver told{process.command().name};
  for (const Resolution& asked : all) {
    Record record = examined(told, asked, process);
    const Status status = record.verdict.status;
    if (status == Status::unsupported) continue;
    ++(status == Status::pass ? told.agrees : told.differs);
    if (status == Status::pass) continue;
    record.verdict.facts.resize(1);
    fmt::print("{}  {}  {}{}\n{}", name(status), told.backend, asked.parameter.path, where,
               in_detail(record));
  }
  return told;
}

void print_told(const std::vector<Resolver>& all, const std::string& mesh) {
  std::vector<std::vector<std::string>> rows = {
      {"resolver", "as first", "otherwise", "refused", "not asked", "unsharded", "bytes on a device",
       "where first has"}
  };
  for (const Resolver& t : all)
    rows.push_back({t.backend, fmt::format("{}", t.agrees), fmt::format("{}", t.differs),
                    fmt::format("{}", t.refuses), fmt::format("{}", t.unsupported),
                    fmt::format("{}", t.whole), bytes_text(t.bytes), bytes_text(t.due)});
  fmt::print("\n{}{}", mesh, columns(rows, 1));
}

Mesh parsed_mesh(const std::string& text) {
  try {
    return parse_mesh(text);
  } catch (const BadInput& error) {
    throw of_flag("--mesh", error);
  }
}

// A mesh of the command line, and with size 1 the axes that the file of the rules lists besides.
Mesh mesh_of(const std::string& asked, const ResolveFlags& flags, const std::vector<std::string>& listed) {
  Mesh mesh = parsed_mesh(asked);
  for (const Axis& axis : mesh.axes)
    if (!listed.empty() && std::ranges::count(listed, axis.name) == 0) {
      const std::string near = nearest(axis.name, listed);
      const std::string meant = near.empty() ? fmt::format("only {}", fmt::join(listed, ", "))
                                             : fmt::format("did you mean {}?", near);
      throw BadInput(
          fmt::format("--mesh: mesh_axes of {} has no axis '{}'; {}", flags.rules, axis.name, meant));
    }
  for (const std::string& name : listed)
    if (std::ranges::count(mesh.axes, name, &Axis::name) == 0)
      mesh = parse_mesh(print(mesh) + "," + name + "=1");
  return mesh;
}

std::vector<Resolution> questions(const ResolveFlags& flags, const Mesh& mesh,
                                  const std::vector<AxisRule>& rules) {
  std::istringstream in(read_text(flags.names, "a parameter a line: NAME SHAPE NAMES OF DIMENSIONS"));
  std::vector<Resolution> all;
  for (Parameter& p : read_names(in, flags.names)) {
    Case c = resolve_case(mesh, p, rules);
    Resolved first = resolved(c);
    all.push_back({std::move(p), std::move(c), std::move(first)});
  }
  return all;
}

// Each mesh of the command line with what `first` makes of the parameters there.
std::vector<OnMesh> asked_meshes(const ResolveFlags& flags, const std::string& text,
                                 const std::vector<AxisRule>& rules) {
  if (flags.meshes.empty()) throw BadInput("which mesh? --mesh fsdp=8,tp=4");
  const std::vector<std::string> listed = read_mesh_axes(text, flags.rules);
  std::vector<OnMesh> meshes;
  for (const std::string& asked : flags.meshes)
    meshes.push_back({asked, questions(flags, mesh_of(asked, flags, listed), rules)});
  return meshes;
}

// Axes of the file that no mesh names.
std::string unasked_axes(const ResolveFlags& flags, const std::string& text) {
  std::vector<std::string> names = read_mesh_axes(text, flags.rules);
  for (const std::string& asked : flags.meshes)
    for (const Axis& axis : parsed_mesh(asked).axes) std::erase(names, axis.name);
  if (names.empty()) return "";
  return fmt::format("mesh_axes of {}, here of size 1: {}\n\n", flags.rules, fmt::join(names, ", "));
}

// What is said of all meshes before any resolver is asked; whether it is a finding.
bool print_advice(const std::vector<OnMesh>& meshes, const std::vector<AxisRule>& rules, bool every) {
  bool finding = false;
  fmt::print("{}\n", layouts_in_words(meshes, every));
  for (const OnMesh& on : meshes) {
    const std::string undivided = undivided_in_words(on.all);
    finding |= !undivided.empty() || std::ranges::any_of(on.all, [](auto& a) { return !a.first.spec; });
    const std::string text = undivided + strangers_in_words(on.all, rules, on.all.front().c.mesh);
    if (!text.empty()) fmt::print("{}{}\n", meshes.size() > 1 ? fmt::format("on {}\n", on.mesh) : "", text);
  }
  std::fflush(stdout);
  return finding;
}

// Every resolver on every mesh: a table for each mesh. The exit code.
int ask_resolvers(const std::vector<OnMesh>& meshes, const std::vector<std::string>& backends) {
  const bool several = meshes.size() > 1;
  std::vector<std::vector<Resolver>> told(meshes.size());
  for (const std::string& backend : backends) {
    Process process(find_backend(backend));
    for (std::size_t m = 0; m < meshes.size(); ++m)
      told[m].push_back(told_by(process, meshes[m].all, several ? "  on " + meshes[m].mesh : ""));
  }
  bool asked = false, differs = false;
  for (std::size_t m = 0; m < meshes.size(); ++m) {
    print_told(told[m], several ? fmt::format("on {}\n", meshes[m].mesh) : "");
    asked |= std::ranges::any_of(told[m], [](const Resolver& t) { return t.agrees + t.differs > 0; });
    differs |= std::ranges::any_of(told[m], [](const Resolver& t) { return t.differs > 0; });
  }
  if (!asked) fmt::print("no parameter was asked of a backend that resolves logical axis rules\n");
  return !asked ? 2 : differs ? 1 : 0;
}

int resolve_command(const ResolveFlags& flags) {
  const std::string text = read_text(flags.rules, "rules as a list of pairs, in JSON, YAML or Python");
  const std::vector<AxisRule> rules = read_rules(text, flags.rules);
  const std::vector<OnMesh> meshes = asked_meshes(flags, text, rules);
  const std::vector<std::string> backends = flags.backends.empty() ? resolvers_here() : flags.backends;
  for (const std::string& backend : backends)
    find_backend(backend);  // what is wrong with a name is said first
  fmt::print("{}", unasked_axes(flags, text));
  const bool finding = print_advice(meshes, rules, flags.all);
  if (backends.empty()) fmt::print("no resolver is set up here: {}\n", fmt::join(mended_by(), ", or "));
  const int code = backends.empty() ? 0 : ask_resolvers(meshes, backends);
  return code != 0 ? code : finding ? 1 : 0;
}

}  // namespace

void add_resolve(CLI::App& app, int& code) {
  auto flags = std::make_shared<ResolveFlags>();
  CLI::App* command =
      app.add_subcommand("resolve",
                         "Say what logical axis rules make of each parameter, under every "
                         "resolver here: 0 they agree and divide each dimension, 1 not, 2 none was asked");
  command
      ->add_option("RULES", flags->rules,
                   "A file with a list of pairs, JSON, YAML or Python: [[\"embed\", [\"fsdp\", \"tp\"]], "
                   "...], alone or "
                   "behind the key logical_axis_rules, sharding_rules or rules")
      ->required()
      ->check(file_name());
  command
      ->add_option(
          "NAMES", flags->names,
          "A file with a parameter a line: layers/mlp/kernel bf16[4096,14336] embed,mlp (- where a dimension "
          "has no name)")
      ->required()
      ->check(file_name());
  command->footer(
      "The table at the end, a row for each resolver, counts parameters and adds up bytes:\n"
      "  as first           laid out as the policy `first` lays them out: the first rule that can give its "
      "axes does\n"
      "  otherwise          laid out in another way, or refused where `first` has a layout; shown above with "
      "why\n"
      "  refused            the resolver raised an error\n"
      "  not asked          beyond the limits of the resolver, such as a mesh of more devices than it can be "
      "given\n"
      "  unsharded          left whole on more than one device\n"
      "  bytes on a device  of all parameters that this resolver and `first` lay out, as the resolver does\n"
      "  where first has    the same, as `first` does");
  command
      ->add_option(
          "--mesh", flags->meshes,
          "A mesh: fsdp=8,tp=4; axes of the file's mesh_axes that it does not name have size 1. Given "
          "more than once, the meshes stand side by side")
      ->check(not_empty("axes and their sizes, as in fsdp=8,tp=4"))
      ->allow_extra_args(false);
  command
      ->add_option("--backend", flags->backends,
                   "A resolver (may repeat); default: both families of Flax and every MaxText that is set up")
      ->check(not_empty("the name of a resolver"))
      ->allow_extra_args(false);
  command->add_flag("--all", flags->all,
                    "List every parameter, not only those that stay whole somewhere or have no layout");
  command->callback([flags, &code] { code = resolve_command(*flags); });
}

}  // namespace plumb
