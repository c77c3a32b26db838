#include "harness/command/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "harness/backend/lookup.h"
#include "harness/backend/spelling.h"
#include "harness/report/table.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

const Resolve& op(const Resolution& a) { return std::get<Resolve>(a.c.op.kind); }

bool was_given(const Resolution& a, std::size_t dim) {
  return std::ranges::any_of(a.first.tried,
                             [&](const Tried& t) { return t.dim == dim && t.what == Tried::given; });
}

// Dimensions that got nothing because what their rules would give is taken, each with its last such rule.
std::string starved(const Resolution& a) {
  std::string text;
  for (std::size_t d = 0; d < op(a).names.size(); ++d) {
    const auto last = std::find_if(a.first.tried.rbegin(), a.first.tried.rend(),
                                   [&](const Tried& t) { return t.dim == d && t.what == Tried::taken; });
    if (last == a.first.tried.rend() || was_given(a, d)) continue;
    text += fmt::format("{}'{}' stays whole: {} is taken when {} comes", text.empty() ? "" : "; ",
                        op(a).names[d], last->axis, print(op(a).rules[last->rule]));
  }
  return text;
}

std::string whole(const Resolution& a) {
  return a.first.tried.empty() ? "unsharded: no rule names its dimensions"
                               : "unsharded: its rules give it no axis that splits it";
}

// Why it is not split as its rules have it; "" where it is.
std::string unsplit(const Resolution& a) {
  const std::string why = starved(a);
  return why.empty() && devices(a.c.mesh) > 1 && !split(a.c, *a.first.spec) ? whole(a) : why;
}

std::string layout(const Resolution& a) {
  return a.first.spec ? print(a.c.mesh, without_unit_axes(a.c.mesh, *a.first.spec))
                      : "none: " + a.first.error;
}

bool notable(const Resolution& a) { return !a.first.spec || !unsplit(a).empty(); }

// Lines of at most 100 columns, broken between a layout and what is said of it, else behind a space or a
// comma; what goes on stands further in.
std::string folded(std::string_view text, std::size_t indent) {
  constexpr std::size_t most = 100;
  const std::size_t room = most - indent;
  if (text.size() <= room) return fmt::format("{:{}}{}\n", "", indent, text);
  std::size_t end = text.find("  ");
  if (end > room) end = text.find_last_of(" ,", room - 1);
  if (end == text.npos) end = std::min(text.find_first_of(" ,"), text.size() - 1);
  if (text[end] == ',') ++end;
  const std::string first = fmt::format("{:{}}{}\n", "", indent, text.substr(0, end));
  const std::size_t rest = text.find_first_not_of(' ', end);
  return rest == text.npos ? first : first + folded(text.substr(rest), indent + (indent < 12 ? 4 : 0));
}

// The layouts of the parameter of that number: once where all meshes have the same.
std::string layouts_of(const std::vector<OnMesh>& meshes, std::size_t number) {
  const auto said = [&](const OnMesh& m) {
    const Resolution& a = m.all[number];
    const std::string why = a.first.spec ? unsplit(a) : "";
    return layout(a) + (why.empty() ? "" : "  " + why);
  };
  std::vector<std::string> all;
  for (const OnMesh& m : meshes) all.push_back(said(m));
  if (std::ranges::count(all, all.front()) == std::ssize(all)) return folded(all.front(), 4);
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i)
    text += folded(fmt::format("on {}: {}", meshes[i].mesh, all[i]), 4);
  return text;
}

std::int64_t on_a_device(const Resolution& a) {
  return a.first.spec ? largest_block_bytes(a.c.mesh, *a.first.spec, a.c.rule) : 0;
}

// What all parameters take.
std::vector<std::string> sums(const std::vector<OnMesh>& meshes) {
  std::vector<std::string> row = {"all parameters"};
  std::int64_t all = 0;
  for (const Resolution& a : meshes.front().all) all += bytes(result(a.c));
  row.push_back(bytes_text(all));
  for (const OnMesh& m : meshes) {
    std::int64_t sum = 0;
    for (const Resolution& a : m.all) sum += on_a_device(a);
    const bool some_lack = std::ranges::any_of(m.all, [](const Resolution& a) { return !a.first.spec; });
    row.push_back((some_lack ? "at least " : "") + bytes_text(sum));
  }
  return row;
}

// Each word once, with what may have been meant.
struct Strangers {
  std::vector<std::string> words, shown, strange;  // strange: nothing like it is known
  void add(const std::string& word, const std::vector<std::string>& known) {
    if (std::ranges::count(known, word) > 0 || std::ranges::count(words, word) > 0) return;
    const std::string close = nearest(word, known);
    words.push_back(word);
    if (close.empty()) strange.push_back(word);
    shown.push_back(close.empty() ? word : fmt::format("{} (did you mean {}?)", word, close));
  }
};

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 10240) return fmt::format("{}", bytes);
  if (bytes < 10240 * 1024) return fmt::format("{} KiB", bytes / 1024);
  return fmt::format("{} MiB", bytes / 1024 / 1024);
}

bool split(const Case& c, const Spec& spec) {
  return std::ranges::any_of(spec.dims, [&](const Dim& dim) { return axes_size(c.mesh, dim.axes) > 1; });
}

std::string layouts_in_words(const std::vector<OnMesh>& meshes, bool every) {
  std::vector<std::vector<std::string>> rows = {
      {"bytes on a device", "whole"}
  };
  for (const OnMesh& m : meshes) rows[0].push_back(m.mesh);
  std::vector<std::string> below = {""};
  for (std::size_t i = 0; i < meshes.front().all.size(); ++i) {
    if (!every && std::ranges::none_of(meshes, [&](const OnMesh& m) { return notable(m.all[i]); })) continue;
    const Resolution& of = meshes.front().all[i];
    std::vector<std::string> row = {of.parameter.path, bytes_text(bytes(result(of.c)))};
    for (const OnMesh& m : meshes)
      row.push_back(m.all[i].first.spec ? bytes_text(on_a_device(m.all[i])) : "-");
    rows.push_back(std::move(row));
    below.push_back(layouts_of(meshes, i));
  }
  rows.push_back(sums(meshes)), below.emplace_back();
  std::istringstream table(columns(rows, 1));
  std::string text, line;
  for (std::size_t i = 0; std::getline(table, line); ++i) text += line + '\n' + below[i];
  return text;
}

std::string undivided_in_words(const std::vector<Resolution>& all) {
  std::string text;
  for (const Resolution& a : all) {
    std::string dims;
    for (std::size_t d = 0; a.first.spec && d < a.first.spec->dims.size(); ++d) {
      const Dim& dim = a.first.spec->dims[d];
      if (const std::int64_t parts = axes_size(a.c.mesh, dim.axes); dim.size % parts != 0)
        dims += fmt::format("{}{} into {} parts", dims.empty() ? "" : ", ", dim.size, parts);
    }
    if (!dims.empty())
      text += fmt::format("undivided  {}  {}: {}, which JAX refuses\n", a.parameter.path, layout(a), dims);
  }
  return text;
}

std::string strangers_in_words(const std::vector<Resolution>& all, const std::vector<AxisRule>& rules,
                               const Mesh& mesh) {
  std::vector<std::string> ruled, axes;
  for (const AxisRule& rule : rules) ruled.push_back(rule.name);
  for (const Axis& axis : mesh.axes) axes.push_back(axis.name);
  Strangers lacking, unruled;
  for (const AxisRule& rule : rules)
    for (const std::string& axis : rule.axes) lacking.add(axis, axes);
  for (const Resolution& a : all)
    for (const std::string& name : a.parameter.names)
      if (name != "-") unruled.add(name, ruled);
  std::string text;
  if (!lacking.words.empty())
    text += fmt::format("the rules name axes that the mesh lacks: {}\n", fmt::join(lacking.shown, ", "));
  if (!lacking.strange.empty())
    text += fmt::format("    if they are there with size 1: --mesh {},{}=1\n", print(mesh),
                        fmt::join(lacking.strange, "=1,"));
  if (!unruled.words.empty())
    text += fmt::format("no rule has these names, and their dimensions stay whole: {}\n",
                        fmt::join(unruled.shown, ", "));
  return text;
}

}  // namespace plumb
