#include "harness/compare/told.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reference/words/text.h"

namespace plumb {
namespace {

// On one line, which a terminal shows whole.
std::string in_one_line(const std::string& words) {
  constexpr std::size_t most = 150;
  std::string text = printable(words);
  std::ranges::replace(text, '\n', ' ');
  if (text.size() <= most) return text;
  text.resize(most);
  return text + "...";
}

std::string layouts_text(const OfCause& cause, bool every) {
  using Pattern = std::pair<std::string, OfLayouts>;
  constexpr std::size_t most = 5;
  std::vector<Pattern> sorted(cause.layouts.begin(), cause.layouts.end());
  std::ranges::stable_sort(sorted, std::greater{}, [](const Pattern& p) { return p.second.findings; });
  const std::size_t shown = every || sorted.size() <= most + 1 ? sorted.size() : most;
  std::size_t width = 0;
  for (std::size_t i = 0; i < shown; ++i) width = std::max(width, sorted[i].first.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("{:>10}  {:<{}}  {}\n", sorted[i].second.findings, sorted[i].first, width,
                        sorted[i].second.first);
  if (shown < sorted.size())
    text += fmt::format("            and {} more patterns of layouts\n", sorted.size() - shown);
  return text;
}

std::string backends_text(const OfCause& cause) {
  std::vector<std::string> all;
  for (const auto& [backend, n] : cause.backends)
    all.push_back(cause.backends.size() == 1 ? backend : fmt::format("{} ({})", backend, n));
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

bool is_first(Told& told, const Record& r) {
  Kind kind = kind_of(r);
  const std::string layouts = std::exchange(kind.layouts, "");
  OfCause& cause = told[kind];
  ++cause.backends[r.backend];
  OfLayouts& alike = cause.layouts[layouts];
  if (alike.findings++ == 0) alike.first = r.line;
  return cause.findings++ == 0;
}

std::string told_text(const Told& told, bool every) {
  using One = std::pair<Kind, OfCause>;
  std::vector<One> sorted;
  for (const auto& one : told)
    if (one.second.findings > 1) sorted.push_back(one);
  std::ranges::stable_sort(sorted, std::greater{}, [](const One& one) { return one.second.findings; });
  std::string text;
  for (const auto& [kind, cause] : sorted) {
    text += fmt::format("{:>4} {}  {}", cause.findings, name(kind.status), backends_text(cause));
    text += (kind.why.empty() ? "" : "  " + in_one_line(kind.why)) + "\n" + layouts_text(cause, every);
  }
  return text;
}

}  // namespace plumb
