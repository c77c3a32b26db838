#include "harness/backend/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "adapters/protocol/json.h"
#include "harness/backend/place.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using nlohmann::json;

// A member of an object in the file of a backend; what it is must be.
struct Member {
  const std::string& file;
  const std::string& name;
  const json& value;
};

[[noreturn]] void refuse(const Member& m, const std::string& due) {
  throw BadInput(fmt::format("{}: expected {} in \"{}\"", m.file, due, m.name));
}

void take(const Member& m, std::string& into) {
  if (!m.value.is_string()) refuse(m, "a string");
  m.value.get_to(into);
}
void take(const Member& m, bool& into) {
  if (!m.value.is_boolean()) refuse(m, "true or false");
  m.value.get_to(into);
}
void take(const Member& m, double& into) {
  if (!m.value.is_number() || m.value.get<double>() < 0) refuse(m, "a number that is not negative");
  m.value.get_to(into);
}
void take(const Member& m, std::vector<std::string>& into) {
  const auto string = [](const json& value) { return value.is_string(); };
  if (!m.value.is_array() || !std::ranges::all_of(m.value, string)) refuse(m, "a list of strings");
  m.value.get_to(into);
}
void take(const Member& m, std::vector<std::pair<std::string, std::string>>& into) {
  if (!m.value.is_object()) refuse(m, "an object");
  for (const auto& [name, help] : m.value.items())
    take({m.file, name, help}, into.emplace_back(name, "").second);
}

void take(const Member& m, std::vector<std::pair<std::string, std::vector<std::string>>>& into) {
  if (!m.value.is_object()) refuse(m, "an object");
  for (const auto& [name, reasons] : m.value.items())
    take({m.file, name, reasons}, into.emplace_back(name, std::vector<std::string>()).second);
}

BackendOption option(const Member& m) {
  if (!m.value.is_object()) refuse(m, "an object");
  BackendOption o{m.name};
  for (const auto& [name, value] : m.value.items()) {
    const Member member{m.file, name, value};
    if (name == "values")
      take(member, o.values);
    else if (name == "help")
      take(member, o.help);
    else if (name == "default")
      take(member, o.standard);
    else if (name == "names")
      take(member, o.names);
    else if (name == "needed")
      take(member, o.needed);
    else if (name == "map")
      take(member, o.map);
    else if (name == "lifts")
      take(member, o.lifts);
    else
      refuse(m, fmt::format("values, help, default, names, needed, map or lifts, not \"{}\"", name));
  }
  return o;
}

void take(const Member& m, std::vector<BackendOption>& into) {
  if (!m.value.is_object()) refuse(m, "an object");
  for (const auto& [name, value] : m.value.items()) into.push_back(option({m.file, name, value}));
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<BackendRow> read_backend_rows() {
  std::vector<BackendRow> rows;
  for (const std::string& path : own_files("adapters", "backend.json"))
    rows.push_back(backend_row(std::filesystem::path(path).parent_path().filename(), text_of(path)));
  if (rows.empty()) throw BadInput("adapters/*/backend.json are missing from this installation");
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const BackendRow& r) { return r.worker.empty(); });
  return rows;
}

}  // namespace

BackendRow backend_row(const std::string& name, const std::string& text) {
  const std::string file = fmt::format("adapters/{}/backend.json", name);
  const json whole = parse_json(text);
  if (!whole.is_object()) throw BadInput(file + ": expected a JSON object");
  BackendRow row{name};
  for (const auto& [member, value] : whole.items()) {
    const Member m{file, member, value};
    if (member == "what")
      take(m, row.what);
    else if (member == "mend")
      take(m, row.mend);
    else if (member == "program")
      take(m, row.program);
    else if (member == "worker")
      take(m, row.worker);
    else if (member == "distribution")
      take(m, row.distribution);
    else if (member == "launch")
      take(m, row.launch);
    else if (member == "check")
      take(m, row.check);
    else if (member == "releases")
      take(m, row.releases);
    else if (member == "grace")
      take(m, row.grace);
    else if (member == "options")
      take(m, row.options);
    else
      throw BadInput(fmt::format("{}: nothing is called \"{}\"", file, member));
  }
  if (row.program.empty() == row.worker.empty()) throw BadInput(file + ": expected a program or a worker");
  if (row.what.empty() || row.mend.empty()) throw BadInput(file + ": expected what it is and what mends it");
  if (row.releases.empty() != row.worker.empty() || row.distribution.empty() != row.worker.empty())
    throw BadInput(file + ": a worker has releases and a distribution, and a program none");
  return row;
}

const std::vector<BackendRow>& backend_rows() {
  static const std::vector<BackendRow> rows = read_backend_rows();
  return rows;
}

std::vector<std::string> value_names(const BackendOption& o) {
  std::vector<std::string> names;
  for (const auto& [name, help] : o.values) names.push_back(name);
  return names;
}

std::string lifted_by(const BackendRow& row, const std::string& reason) {
  for (const BackendOption& o : row.options)
    for (const auto& [value, reasons] : o.lifts)
      if (std::ranges::count(reasons, reason.substr(0, reason.find(" ("))) > 0) return o.name + "=" + value;
  return "";
}

std::string mend(const BackendRow& row, const std::string& release) {
  std::string command = row.mend;
  if (const std::size_t end = command.find(' '); command.starts_with("scripts/"))
    command.replace(0, end, called(command.substr(0, end)));
  const std::size_t at = command.find("RELEASE");
  return at == std::string::npos ? command : command.replace(at, 7, release);
}

}  // namespace plumb
