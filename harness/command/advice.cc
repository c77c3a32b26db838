#include "harness/command/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

std::string layouts_in_words(const std::vector<Resolution>& all, bool every) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "bytes on a device", "of", "layout by `first`"}
  };
  for (const Resolution& a : all) {
    const std::string size = bytes_text(bytes(result(a.c)));
    if (!a.first.spec) {
      rows.push_back({a.parameter.path, "-", size, "none: " + a.first.error});
      continue;
    }
    std::string why = starved(a);
    if (why.empty() && devices(a.c.mesh) > 1 && !split(a.c, *a.first.spec)) why = whole(a);
    if (!every && why.empty()) continue;
    rows.push_back({a.parameter.path, bytes_text(largest_block_bytes(a.c.mesh, *a.first.spec, a.c.rule)),
                    size, print(a.c.mesh, *a.first.spec) + (why.empty() ? "" : "  " + why)});
  }
  return rows.size() > 1 ? columns(rows, 4) : "";
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
      text += fmt::format("undivided  {}  {}: {}, which JAX refuses\n", a.parameter.path,
                          print(a.c.mesh, *a.first.spec), dims);
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
