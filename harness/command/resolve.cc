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
  std::string rules, names, mesh;
  std::vector<std::string> backends;
  bool all = false;
};

// What one resolver makes of all parameters.
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

Resolver told_by(const std::string& backend, const std::vector<Resolution>& all) {
  Process process(find_backend(backend));
  Resolver told{process.command().name};
  for (const Resolution& asked : all) {
    Record record = examined(told, asked, process);
    const Status status = record.verdict.status;
    if (status == Status::unsupported) continue;
    ++(status == Status::pass ? told.agrees : told.differs);
    if (status == Status::pass) continue;
    record.verdict.facts.resize(1);
    fmt::print("{}  {}  {}\n{}", name(status), told.backend, asked.parameter.path, in_detail(record));
  }
  return told;
}

void print_told(const std::vector<Resolver>& all) {
  std::vector<std::vector<std::string>> rows = {
      {"resolver", "as first", "otherwise", "refused", "not asked", "unsharded", "bytes on a device",
       "where first has"}
  };
  for (const Resolver& t : all)
    rows.push_back({t.backend, fmt::format("{}", t.agrees), fmt::format("{}", t.differs),
                    fmt::format("{}", t.refuses), fmt::format("{}", t.unsupported),
                    fmt::format("{}", t.whole), bytes_text(t.bytes), bytes_text(t.due)});
  fmt::print("\n{}", columns(rows, 1));
}

Mesh parsed_mesh(const std::string& text) {
  try {
    return parse_mesh(text);
  } catch (const BadInput& error) {
    throw of_flag("--mesh", error);
  }
}

// The mesh of the command line, and with size 1 the axes that the file of the rules lists besides: `more`.
Mesh mesh_of(const ResolveFlags& flags, std::string_view rules, std::string& more) {
  if (flags.mesh.empty()) throw BadInput("which mesh? --mesh fsdp=8,tp=4");
  Mesh mesh = parsed_mesh(flags.mesh);
  const std::vector<std::string> listed = read_mesh_axes(rules, flags.rules);
  for (const Axis& axis : mesh.axes)
    if (!listed.empty() && std::ranges::count(listed, axis.name) == 0) {
      const std::string near = nearest(axis.name, listed);
      const std::string meant = near.empty() ? fmt::format("only {}", fmt::join(listed, ", "))
                                             : fmt::format("did you mean {}?", near);
      throw BadInput(fmt::format("--mesh: mesh_axes of {} has no axis '{}'; {}", flags.rules, axis.name, meant));
    }
  for (const std::string& name : listed) {
    if (std::ranges::count(mesh.axes, name, &Axis::name) > 0) continue;
    more += (more.empty() ? "" : ", ") + name;
    mesh = parse_mesh(print(mesh) + "," + name + "=1");
  }
  return mesh;
}

std::vector<Resolution> questions(const ResolveFlags& flags, const Mesh& mesh,
                                  const std::vector<AxisRule>& rules) {
  std::istringstream in(read_text(flags.names));
  std::vector<Resolution> all;
  for (Parameter& p : read_names(in, flags.names)) {
    Case c = resolve_case(mesh, p, rules);
    Resolved first = resolved(c);
    all.push_back({std::move(p), std::move(c), std::move(first)});
  }
  return all;
}

int resolve_command(const ResolveFlags& flags) {
  const std::string text = read_text(flags.rules);
  const std::vector<AxisRule> rules = read_rules(text, flags.rules);
  std::string more;
  const Mesh mesh = mesh_of(flags, text, more);
  const std::vector<Resolution> all = questions(flags, mesh, rules);
  const std::vector<std::string> backends = flags.backends.empty() ? resolvers_here() : flags.backends;
  for (const std::string& backend : backends)
    find_backend(backend);  // what is wrong with a name is said first
  if (!more.empty()) fmt::print("mesh_axes of {}, here of size 1: {}\n\n", flags.rules, more);
  const std::string undivided = undivided_in_words(all);
  for (const std::string& part :
       {layouts_in_words(all, flags.all), undivided, strangers_in_words(all, rules, mesh)})
    if (!part.empty()) fmt::print("{}\n", part);
  std::fflush(stdout);
  std::vector<Resolver> told;
  for (const std::string& backend : backends) told.push_back(told_by(backend, all));
  if (told.empty())
    fmt::print("no resolver is set up here: {}\n", fmt::join(mended_by(), ", or "));
  if (!told.empty()) print_told(told);
  const auto asked = [](const Resolver& t) { return t.agrees + t.differs > 0; };
  if (!all.empty() && !told.empty() && std::ranges::none_of(told, asked)) {
    fmt::print("no parameter was asked of a backend that resolves logical axis rules\n");
    return 2;
  }
  const bool errors = std::ranges::any_of(all, [](const Resolution& a) { return !a.first.spec; });
  return errors || !undivided.empty() || std::ranges::any_of(told, [](const Resolver& t) { return t.differs > 0; }) ? 1 : 0;
}

}  // namespace

void add_resolve(CLI::App& app, int& code) {
  auto flags = std::make_shared<ResolveFlags>();
  CLI::App* command = app.add_subcommand("resolve",
                                         "Say what logical axis rules make of each parameter, under every "
                                         "resolver here: 0 they agree and divide each dimension, 1 not, 2 none was asked");
  command
      ->add_option("rules", flags->rules,
                   "A file with a list of pairs, JSON, YAML or Python: [[\"embed\", [\"fsdp\", \"tp\"]], "
                   "...], alone or "
                   "behind the key logical_axis_rules, sharding_rules or rules")
      ->required()
      ->check(file_name());
  command
      ->add_option(
          "names", flags->names,
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
      ->add_option("--mesh", flags->mesh,
                   "The mesh: fsdp=8,tp=4; axes of the file's mesh_axes that it does not name have size 1")
      ->check(not_empty("axes and their sizes, as in fsdp=8,tp=4"));
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
