#include "harness/run/demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "harness/measure/bandwidth.h"
#include "reference/words/text.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

constexpr double operations_a_second = 1e9, bytes_a_second = 1e8;  // of a core
constexpr double most_seconds = 3600, seconds_of_smaller = 60;

std::string bytes_in_words(double bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 6; ++unit) bytes /= 1024;
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

double shares(const Case& c, const Spec& spec) {
  return static_cast<double>(devices(c.mesh)) *
         static_cast<double>(largest_block_bytes(c.mesh, spec, c.rule));
}

// Operands and result, whole; what is also in the arena twice: the operands, and the blocks of the result.
double held_whole(const Case& c) {
  double need = 0;
  for (const Spec& spec : results(c)) need += static_cast<double>(bytes(spec)) + 2.0 * shares(c, spec);
  for (const Spec& operand : c.op.operands)
    need += 2.0 * static_cast<double>(bytes(operand)) * static_cast<double>(parts(c.mesh, operand));
  return need;
}

// What the ranks have, all of them on this machine: each array twice, before a step and after it.
double held_in_place(const Case& c) {
  double need = 0;
  for (const std::vector<Spec>& specs : {c.op.operands, c.op.chain})
    for (const Spec& spec : specs) need += 2.0 * shares(c, spec);
  return need;
}

double held(const Case& c, const Usage& usage) {
  if (is_resolve(c)) return 0;  // it holds no data
  const double once = usage.in_place ? held_in_place(c) : held_whole(c);
  return usage.reruns > 0 ? 2 * once : once;  // the same of other data; the blocks of both are kept
}

// Of all devices: each computes what it holds of the result, replicas too.
double operations(const Case& c) {
  if (is_reshard(c) || is_resolve(c) || elements(result(c)) == 0) return 0;
  return work(c).flops * shares(c, result(c)) / static_cast<double>(bytes(result(c)));
}

// What is said of it as the reason, or "".
std::string too_large(const Case& c, const Room& room, const Usage& usage) {
  const double need = held(c, usage);
  if (need > static_cast<double>(room.bytes))
    return fmt::format("this case would hold {}, more than the {} there are", bytes_in_words(need),
                       bytes_in_words(static_cast<double>(room.bytes)));
  if (room.cores == 0 || usage.in_place) return "";
  const double seconds = seconds_of_work(c, room.cores);
  if (seconds <= most_seconds) return "";
  return fmt::format(
      "{:.3g} operations and {} are {:.0f} minutes of work for {:g} core{}, more than {:.0f}; "
      "--timeout SECONDS runs it all the same",
      operations(c), bytes_in_words(held_whole(c)), seconds / 60, room.cores, room.cores == 1 ? "" : "s",
      most_seconds / 60);
}

std::vector<Spec*> specs_of(Case& c) {
  std::vector<Spec*> all;
  for (std::vector<Spec>* specs : {&c.op.operands, &c.op.chain})
    for (Spec& spec : *specs) all.push_back(&spec);
  return all;
}

std::vector<std::vector<std::int64_t>>* sizes_of_groups(Case& c) {
  if (auto* g = std::get_if<Grouped>(&c.op.kind)) return &g->sizes;
  if (auto* q = std::get_if<Quantize>(&c.op.kind)) return &q->sizes;
  return nullptr;
}

bool can_be_halved(const Mesh& mesh, const Dim& dim) {
  const std::int64_t parts = axes_size(mesh, dim.axes), half = dim.size / 2;
  return dim.size % 2 == 0 && half >= parts && (half % parts == 0) == (dim.size % parts == 0);
}

// Every dimension of these sizes, and with the rows of groups their sizes. Nothing where that is no case.
std::optional<Case> halved(Case c, const std::vector<std::int64_t>& sizes) {
  const auto meant = [&](std::int64_t size) { return std::ranges::count(sizes, size) > 0; };
  if (auto* lists = sizes_of_groups(c); lists && meant(c.op.operands[0].dims[0].size))
    for (std::vector<std::int64_t>& list : *lists)
      for (std::int64_t& n : list) n /= 2;
  for (Spec* spec : specs_of(c))
    for (Dim& dim : spec->dims) {
      if (!meant(dim.size)) continue;
      if (!can_be_halved(c.mesh, dim)) return std::nullopt;
      dim.size /= 2;
    }
  try {
    return parse_case(print(c));
  } catch (const BadInput&) {
    return std::nullopt;  // such as groups that no longer fit the rows
  }
}

std::set<std::int64_t, std::greater<>> all_sizes(Case c) {
  std::set<std::int64_t, std::greater<>> sizes;
  for (const Spec* spec : specs_of(c))
    for (const Dim& dim : spec->dims) sizes.insert(dim.size);
  return sizes;
}

std::optional<Case> with_largest_halved(const Case& c) {
  for (std::int64_t size : all_sizes(c)) {
    if (auto next = halved(c, {size})) return next;
    if (auto next = halved(c, {size, size / kBlockSize})) return next;  // its scales go with it
  }
  return std::nullopt;
}

}  // namespace

double seconds_of_work(const Case& c, double cores) {
  if (is_resolve(c)) return 0;
  return (operations(c) / operations_a_second + held_whole(c) / bytes_a_second) / cores;
}

bool fits(const Case& c, const Room& room) { return held(c, {}) <= static_cast<double>(room.bytes); }

std::optional<Case> smaller(const Case& c, const Room& room, const Usage& usage) {
  const double cores = std::max(room.cores, 1.0);
  std::optional<Case> next = c;
  while (next &&
         (!too_large(*next, room, usage).empty() || seconds_of_work(*next, cores) > seconds_of_smaller))
    next = with_largest_halved(*next);
  return next;
}

void refuse_what_does_not_fit(const Case& c, const Room& room, const Usage& usage) {
  const std::string why = too_large(c, room, usage);
  if (why.empty()) return;
  std::string text = fmt::format("too large here: {}\n  {}", why, print(c));
  if (const auto less = smaller(c, room, usage))
    text += fmt::format("\n  smaller, of the same layouts: {}", print(*less));
  throw DoesNotFit(text);
}

}  // namespace plumb
