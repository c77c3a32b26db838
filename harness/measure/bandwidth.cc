#include "harness/measure/bandwidth.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "reference/bytes/bytes.h"

namespace plumb {
namespace {

// Where an axis stands in a spec: a dimension that it splits, or
constexpr int replicated = -1, unfinished = -2;

int place_of(const Spec& spec, AxisId axis) {
  for (std::size_t d = 0; d < spec.dims.size(); ++d)
    if (std::ranges::count(spec.dims[d].axes, axis) > 0) return static_cast<int>(d);
  return std::ranges::count(spec.unfinished, axis) > 0 ? unfinished : replicated;
}

// What becomes of one axis is what a collective along it does.
std::string along(int from, int to) {
  if (from == unfinished) return to == replicated ? "all-reduce" : "reduce-scatter";
  if (from == replicated || to == unfinished) return "redistribution";
  return to == replicated ? "all-gather" : "all-to-all";
}

struct Change {
  std::string kind;  // of all axes whose place differs; "redistribution" where they differ in kind, "copy"
                     // where nothing moves
  std::int64_t devices = 1;
};

Change change(const Case& c) {
  const Spec &from = c.op.operands[0], &to = c.op.chain.back();
  Change all;
  for (std::size_t a = 0; a < c.mesh.axes.size(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    const int before = place_of(from, axis), after = place_of(to, axis);
    if (before == after || c.mesh.axes[a].size == 1) continue;
    const std::string kind = along(before, after);
    all.kind = all.kind.empty() || all.kind == kind ? kind : "redistribution";
    all.devices *= c.mesh.axes[a].size;
  }
  const bool chained = c.op.chain.size() > 1;
  if (chained) all.kind = "redistribution";
  if (all.kind.empty()) all.kind = "permute";
  if (!chained && most_to_receive(c) == 0 && !fewest_bytes(c).empty()) all.kind = "copy";
  return all;
}

double block_bytes(const Case& c, const Spec& spec) {
  return static_cast<double>(largest_block_bytes(c.mesh, spec, c.rule));
}

Work reshard_work(const Case& c) {
  const Change made = change(c);
  const double n = static_cast<double>(made.devices);
  Work w{made.kind, made.devices, block_bytes(c, c.op.operands[0]), (n - 1) / n, 0};
  if (made.kind == "all-reduce") w.factor *= 2;
  if (made.kind == "all-gather") w.bytes = block_bytes(c, c.op.chain.back());
  if (made.kind == "permute") w.factor = 1;
  if (made.kind == "copy")
    w.bytes = block_bytes(c, c.op.chain.back()), w.factor = 0, w.devices = devices(c.mesh);
  if (made.kind == "redistribution") w.bytes = most_to_receive(c), w.factor = 1, w.devices = devices(c.mesh);
  return w;
}

// One multiplication and one addition for each letter's every value.
double flops_of(const Case& c, const Einsum& e) {
  std::map<char, double> sizes;
  for (std::size_t i = 0; i < e.lhs.size(); ++i)
    sizes[e.lhs[i]] = static_cast<double>(c.op.operands[0].dims[i].size);
  for (std::size_t i = 0; i < e.rhs.size(); ++i)
    sizes[e.rhs[i]] = static_cast<double>(c.op.operands[1].dims[i].size);
  return std::accumulate(sizes.begin(), sizes.end(), 2.0,
                         [](double n, const auto& s) { return n * s.second; });
}

// Rows past the sizes are multiplied by nothing.
double flops_of(const Case& c, const Grouped& g) {
  double rows = 0;
  for (const auto& sizes : g.sizes)
    for (std::int64_t n : sizes) rows += static_cast<double>(n);
  const Spec &left = c.op.operands[0], &right = c.op.operands[1];
  const double width = static_cast<double>(left.dims[1].size);
  const Dim& other = right.dims[g.form == Form::fwd ? 2 : 1];
  return 2 * rows * width * static_cast<double>(other.size);
}

}  // namespace

double most_to_receive(const Case& c) {
  const std::vector<std::int64_t> each = fewest_bytes(c);
  return each.empty() ? 0 : static_cast<double>(*std::ranges::max_element(each));
}

Work work(const Case& c) {
  if (is_reshard(c)) return reshard_work(c);
  Work w{"product", devices(c.mesh), 0, 0, 0};
  if (const auto* e = std::get_if<Einsum>(&c.op.kind)) w.flops = flops_of(c, *e);
  if (const auto* g = std::get_if<Grouped>(&c.op.kind)) w.flops = flops_of(c, *g);
  if (is_quantize(c)) w.kind = "quantize", w.bytes = block_bytes(c, c.op.operands[0]), w.factor = 1;
  return w;
}

std::map<std::string, double> bytes_over_axes(const Case& c, const Trace& trace) {
  std::map<std::string, double> all;
  const std::int64_t n = devices(c.mesh);
  for (const Collective& one : trace) {
    const std::int64_t members = one.axes.empty() ? one.groups.empty() ? n : std::ssize(one.groups[0])
                                                  : axes_size(c.mesh, axes_named(c.mesh, one.axes));
    const double received =
        one.moved ? static_cast<double>(*one.moved) / static_cast<double>(n)
                  : static_cast<double>(price(one.kind, std::max<std::int64_t>(members, 1), one.in, one.out));
    if (received <= 0) continue;
    all[one.axes.empty() ? "-" : fmt::format("{}", fmt::join(one.axes, "."))] +=
        received * static_cast<double>(one.times);
  }
  return all;
}

bool goes_round(const Work& w) { return w.bytes > 0 && w.factor > 0; }

std::string factor_in_words(const Work& w) {
  if (w.kind == "all-reduce") return "2(n-1)/n";
  if (w.kind == "reduce-scatter" || w.kind == "all-gather" || w.kind == "all-to-all") return "(n-1)/n";
  return w.factor == 1 ? "1" : "";
}

double algorithm_bandwidth(const Work& w, double nanoseconds) { return w.bytes / nanoseconds; }
double bus_bandwidth(const Work& w, double nanoseconds) {
  return w.factor * algorithm_bandwidth(w, nanoseconds);
}

}  // namespace plumb
