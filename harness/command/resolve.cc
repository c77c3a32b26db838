// plumb resolve: a user's own logical axis rules, under every resolver that is set up here.
#include "harness/backend/resolve.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "harness/backend/process.h"
#include "harness/command/command.h"
#include "harness/judge/resolver.h"
#include "harness/report/table.h"
#include "harness/rules/rules.h"
#include "reference/meaning/resolve.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct Flags {
  std::string rules, names, mesh;
  std::vector<std::string> backends;
  bool all = false;
};

struct Asked {
  Parameter parameter;
  Case c;
  Resolved first;
};

// What one resolver makes of all parameters.
struct Told {
  std::string backend;
  std::int64_t agrees = 0, differs = 0, refuses = 0, unsupported = 0, whole = 0;
  std::int64_t bytes = 0, due = 0;  // on a device, of the parameters for which it and `first` have a layout
};

std::string contents(const std::string& path) {
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) throw BadInput(fmt::format("{}: {}", path, std::strerror(errno)));
  return text;
}

std::int64_t bytes_per_device(const Case& c, const Spec& spec) {
  std::int64_t n = format(spec.dtype).bytes;
  for (const Dim& dim : spec.dims) n *= piece(c.mesh, dim, c.rule, 0).size();
  return n;
}

bool split(const Case& c, const Spec& spec) {
  return std::ranges::any_of(spec.dims, [&](const Dim& dim) { return axes_size(c.mesh, dim.axes) > 1; });
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 10240) return fmt::format("{}", bytes);
  if (bytes < 10240 * 1024) return fmt::format("{} KiB", bytes / 1024);
  return fmt::format("{} MiB", bytes / 1024 / 1024);
}

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

// Why a parameter stays whole, or what its rules leave it without.
std::string reason(const Asked& asked) {
  for (const Tried& t : asked.first.tried)
    if (t.what == Tried::taken)
      return fmt::format("{} is taken when {} comes", t.axis,
                         print(std::get<Resolve>(asked.c.op.kind).rules[t.rule]));
  return asked.first.tried.empty() ? "no rule names its dimensions"
                                   : "its rules give it no axis of this mesh's";
}

void print_first(const std::vector<Asked>& all, bool every) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "bytes on a device", "of", "layout by `first`"}
  };
  for (const Asked& a : all) {
    const std::string whole = bytes_text(bytes(result(a.c)));
    if (!a.first.spec) {
      rows.push_back({a.parameter.path, "-", whole, "none: " + a.first.error});
      continue;
    }
    const bool stays = devices(a.c.mesh) > 1 && !split(a.c, *a.first.spec);
    if (!every && !stays) continue;
    rows.push_back({a.parameter.path, bytes_text(bytes_per_device(a.c, *a.first.spec)), whole,
                    print(a.c.mesh, *a.first.spec) + (stays ? "  unsharded: " + reason(a) : "")});
  }
  if (rows.size() > 1) fmt::print("{}\n", columns(rows, 4));
}

// Names that no rule knows, and axes that the mesh lacks, each with what may have been meant.
void print_strangers(const std::vector<Asked>& all, const std::vector<AxisRule>& rules, const Mesh& mesh) {
  std::vector<std::string> ruled, axes;
  for (const AxisRule& rule : rules) ruled.push_back(rule.name);
  for (const Axis& axis : mesh.axes) axes.push_back(axis.name);
  std::set<std::string> strangers;
  const auto say = [&](const std::string& word, const std::vector<std::string>& known, const char* what) {
    if (std::ranges::count(known, word) > 0 || !strangers.insert(word).second) return;
    const std::string close = nearest(word, known);
    fmt::print("{} '{}'{}\n", what, word, close.empty() ? "" : fmt::format("; did you mean {}?", close));
  };
  for (const AxisRule& rule : rules)
    for (const std::string& axis : rule.axes) say(axis, axes, "the rules name an axis that the mesh lacks:");
  strangers.clear();
  for (const Asked& a : all)
    for (const std::string& name : a.parameter.names)
      if (name != "-") say(name, ruled, "no rule has the name");
  if (!strangers.empty()) fmt::print("\n");
}

void count(Told& told, const Asked& asked, const Outcome& outcome) {
  if (outcome.claims.empty() || !outcome.claims.front()) return;
  const Spec claimed = parse_spec(*outcome.claims.front(), asked.c.mesh);
  if (devices(asked.c.mesh) > 1 && !split(asked.c, claimed)) ++told.whole;
  if (!asked.first.spec) return;
  told.bytes += bytes_per_device(asked.c, claimed);
  told.due += bytes_per_device(asked.c, *asked.first.spec);
}

// The verdict of one parameter on one resolver; nothing where it was not asked.
std::optional<Verdict> verdict_of(Told& told, const Asked& asked, Process& process) {
  const Answer answer = process.run(asked.c, {});
  if (const auto* outcome = std::get_if<Outcome>(&answer)) {
    count(told, asked, *outcome);
    return judge_resolver(asked.c, *outcome);
  }
  if (const auto* refused = std::get_if<Refused>(&answer)) {
    ++told.refuses;
    return judge_refusal(asked.c, refused->message);
  }
  const auto failed = [](std::string text) {
    return Verdict{Status::crashed, {{Status::crashed, std::move(text), {}, {}}}};
  };
  if (const auto* crashed = std::get_if<Crashed>(&answer))
    return failed(crashed->what + "\n" + crashed->last_words);
  if (std::holds_alternative<Hung>(answer)) return failed("no reply in time");
  if (const auto* reneged = std::get_if<Reneged>(&answer)) return failed(reneged->message);
  ++told.unsupported;
  return std::nullopt;
}

Told ask(const std::string& backend, const std::vector<Asked>& all) {
  Process process(resolve(backend));
  Told told{process.command().name};
  for (const Asked& asked : all) {
    const auto verdict = verdict_of(told, asked, process);
    if (!verdict) continue;
    ++(verdict->status == Status::pass ? told.agrees : told.differs);
    if (verdict->status == Status::pass) continue;
    const Fact& fact = verdict->facts.front();
    fmt::print("{}  {}  {}\n    {}\n", name(verdict->status), told.backend, asked.parameter.path, fact.text);
    if (!fact.cause.empty()) fmt::print("    explained by: {}\n", fact.cause);
  }
  return told;
}

void print_told(const std::vector<Told>& all) {
  std::vector<std::vector<std::string>> rows = {
      {"resolver", "as first", "otherwise", "refused", "not asked", "unsharded", "bytes on a device",
       "by first"}
  };
  for (const Told& t : all)
    rows.push_back({t.backend, fmt::format("{}", t.agrees), fmt::format("{}", t.differs),
                    fmt::format("{}", t.refuses), fmt::format("{}", t.unsupported),
                    fmt::format("{}", t.whole), bytes_text(t.bytes), bytes_text(t.due)});
  fmt::print("{}", columns(rows, 1));
}

int resolve_command(const Flags& flags) {
  const Mesh mesh = parse_mesh(flags.mesh);
  const std::vector<AxisRule> rules = read_rules(contents(flags.rules), flags.rules);
  std::ifstream in(flags.names);
  if (!in) throw BadInput(fmt::format("{}: {}", flags.names, std::strerror(errno)));
  std::vector<Asked> all;
  for (Parameter& p : read_names(in, flags.names)) {
    Case c = resolve_case(mesh, p, rules);
    Resolved first = resolved(c);
    all.push_back({std::move(p), std::move(c), std::move(first)});
  }
  std::vector<std::string> backends = flags.backends.empty() ? resolvers_here() : flags.backends;
  for (const std::string& backend : backends) resolve(backend);  // what is wrong with a name is said first
  print_first(all, flags.all);
  print_strangers(all, rules, mesh);
  std::vector<Told> told;
  for (const std::string& backend : backends) told.push_back(ask(backend, all));
  if (told.empty())
    fmt::print("no resolver is set up here: scripts/environment flax@0.12.8, maxtext@0.2.5\n");
  if (!told.empty()) print_told(told);
  const bool errors = std::ranges::any_of(all, [](const Asked& a) { return !a.first.spec; });
  return errors || std::ranges::any_of(told, [](const Told& t) { return t.differs > 0; }) ? 1 : 0;
}

}  // namespace

void add_resolve(CLI::App& app, int& code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "resolve",
      "Say what logical axis rules make of each parameter, under every resolver here: 0 they agree, 1 not");
  command
      ->add_option("rules", flags->rules,
                   "A file with a list of pairs, JSON, YAML or Python: [[\"embed\", [\"fsdp\", \"tp\"]], "
                   "...], alone or "
                   "behind the key logical_axis_rules")
      ->required();
  command
      ->add_option(
          "names", flags->names,
          "A file with a parameter a line: layers/mlp/kernel bf16[4096,14336] embed,mlp (- where a dimension "
          "has no name)")
      ->required();
  command->add_option("--mesh", flags->mesh, "The mesh: fsdp=8,tp=4")->required();
  command
      ->add_option("--backend", flags->backends,
                   "A resolver (may repeat); default: both families of Flax and every MaxText that is set up")
      ->allow_extra_args(false);
  command->add_flag("--all", flags->all,
                    "List every parameter, not only those that stay whole or have no layout");
  command->callback([flags, &code] { code = resolve_command(*flags); });
}

}  // namespace plumb
