#include "harness/report/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

#include "harness/measure/bandwidth.h"
#include "harness/measure/statistics.h"
#include "harness/report/table.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// A backend that starts as many ranks as its mesh has devices is one for all meshes, also where that many is
// what its name leaves out: idle ranks may keep cores busy.
std::string of_any_ranks(const Timings& t) {
  const std::regex ranks(fmt::format(",np={}(,|$)", devices(parse_case(t.line).mesh)));
  return std::regex_replace(t.backend, ranks, "$1");
}

// A case without what differs from mesh to mesh: of a device's share, the share.
std::string without_sizes(const Timings& t) {
  static const std::regex size("=[0-9]+");
  const std::string& line = t.share.empty() ? t.line : t.share;
  const std::size_t colon = line.find(": ");
  return of_any_ranks(t) + " " + std::regex_replace(line.substr(0, colon), size, "=N") + line.substr(colon);
}

struct OnMesh {
  const Timings* timings;
  std::int64_t devices;
  std::string due;  // bytes that a device must receive; "-" of a product, of which nobody knows a bound
};

double moved(const OnMesh& one) {
  double sum = 0;
  for (const auto& [axes, bytes] : one.timings->over) sum += bytes;
  return sum;
}

// "dp 4096, tp 128"
std::string over_axes(const std::map<std::string, double>& over) {
  std::string text;
  for (const auto& [axes, bytes] : over)
    text += fmt::format("{}{} {:.0f}", text.empty() ? "" : ", ", axes, bytes);
  return text.empty() ? "-" : text;
}

// "1.75", "153"
std::string factor_of(double n) { return n < 100 ? fmt::format("{:.2f}", n) : fmt::format("{:.0f}", n); }

std::vector<std::string> growth_row(const OnMesh& one, const OnMesh& first) {
  const auto middle = [](const OnMesh& of) { return quantile(medians(*of.timings), 0.5); };
  const auto ratio = ratio_of(medians(*one.timings), medians(*first.timings));
  return {"  " + one.timings->backend,
          fmt::format("{}", one.devices),
          short_number(middle(one) / 1000),
          one.due,
          over_axes(one.timings->over),
          moved(one) > 0 && moved(first) > 0 ? factor_of(moved(one) / moved(first)) : "-",
          factor_of(middle_ratio(medians(*one.timings), medians(*first.timings))),
          ratio && one.timings != first.timings
              ? factor_of(ratio->interval.low) + ".." + factor_of(ratio->interval.high)
              : "-"};
}

}  // namespace

std::string growth_table(const std::vector<Timings>& all) {
  std::map<std::string, std::vector<OnMesh>> groups;
  for (const Timings& t : all) {
    const Case c = parse_case(t.line);
    groups[without_sizes(t)].push_back(
        {&t, devices(c.mesh), is_reshard(c) ? fmt::format("{:.0f}", most_to_receive(c)) : "-"});
  }
  std::vector<Named> grown;
  for (auto& [like, group] : groups) {
    if (group.size() < 2) continue;
    std::ranges::stable_sort(group, {}, &OnMesh::devices);
    const Timings& smallest = *group[0].timings;
    grown.push_back(
        {smallest.line + (smallest.share.empty() ? ", arrays fixed" : ", a device's share fixed"), {}});
    for (const OnMesh& one : group) grown.back().rows.push_back(growth_row(one, group[0]));
  }
  if (grown.empty()) return "";
  return columns_below({"growth", "devices", "median us", "bytes due", "bytes over axes",
                        "bytes grew", "time grew", "95 %"},
                       grown, 1) +
         "time grew: the middle of all ratios of a repetition's median to one at the fewest devices\n";
}

}  // namespace plumb
