#include "harness/trace/different.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "harness/trace/cells.h"
#include "harness/trace/cost.h"
#include "harness/trace/lower_bound.h"
#include "harness/trace/steps.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

constexpr std::int64_t most_boxes = std::int64_t{1} << 16;
constexpr double most_sums = 1 << 22;

using Ids = std::vector<std::int64_t>;

// What a device holds of an operand, and which sums of it it needs.
struct Lot {
  Slice rows, terms, due_rows, due_columns;
};

std::vector<Lot> lots_of_reshard(const Case& c, const std::vector<Slice>& slices) {
  const Spec& from = c.op.operands[0];
  std::vector<Lot> all;
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    const std::int64_t own = part(c.mesh, from, d);
    all.push_back({block(c.mesh, from, c.rule, d), {{own, own + 1}}, slices[d], {}});
  }
  return all;
}

std::vector<Lot> lots_of_product(const Case& c, const std::vector<Slice>& slices, int operand) {
  const Letters words = letters(c.op);
  const std::string& word = words.operand[operand];
  std::vector<Lot> all;
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    Lot& lot = all.emplace_back();
    const Slice held = block(c.mesh, c.op.operands[operand], c.rule, d);
    for (std::size_t i = 0; i < word.size(); ++i) {
      const std::size_t at = words.out.find(word[i]);
      (at == std::string::npos ? lot.terms : lot.rows).push_back(held[i]);
      if (at != std::string::npos) lot.due_rows.push_back(slices[d][at]);
    }
    for (std::size_t i = 0; i < words.out.size(); ++i)
      if (word.find(words.out[i]) == std::string::npos) lot.due_columns.push_back(slices[d][i]);
  }
  return all;
}

// Whether both operands share a letter with the result.
bool in_batches(const Op& op) {
  const Letters words = letters(op);
  return std::ranges::any_of(words.out, [&](char letter) {
    return std::ranges::all_of(words.operand,
                               [&](const auto& word) { return word.find(letter) != word.npos; });
  });
}

// Rows, terms and columns, cut wherever a block begins or ends, and in which of them each device's lie.
struct Sums {
  std::vector<Lot> lots;
  std::vector<Slice> rows, terms, columns;

  bool holds(std::int64_t d, const Slice& row, std::size_t term) const {
    return contains(lots[d].rows, row) && contains(lots[d].terms, terms[term]);
  }
  bool needs(std::int64_t d, const Slice& row, std::size_t column) const {
    return contains(lots[d].due_rows, row) && contains(lots[d].due_columns, columns[column]);
  }
  double work() const {
    return static_cast<double>(rows.size()) * static_cast<double>(terms.size() + columns.size()) *
           static_cast<double>(lots.size());
  }
};

std::optional<Sums> sums_of(std::vector<Lot> lots) {
  const auto cut = [&](Slice Lot::*one, Slice Lot::*other) {
    std::vector<Slice> begins, ends;
    for (const Lot& lot : lots) begins.push_back(lot.*one), ends.push_back(lot.*other);
    return cells_of(begins, ends, most_boxes);
  };
  auto rows = cut(&Lot::rows, &Lot::due_rows), terms = cut(&Lot::terms, &Lot::terms),
       columns = cut(&Lot::due_columns, &Lot::due_columns);
  if (!rows || !terms || !columns) return std::nullopt;
  Sums sums{std::move(lots), std::move(rows->boxes), std::move(terms->boxes), std::move(columns->boxes)};
  if (sums.work() > most_sums) return std::nullopt;
  return sums;
}

// Of one row: what was given away, and which sums are had.
struct Row {
  std::vector<char> known, had;
  std::int64_t lacks = 0, columns = 0;
};

void give_away(const Sums& sums, const Slice& row, std::int64_t d, Row& at) {
  for (std::size_t t = 0; t < sums.terms.size(); ++t)
    if (!at.known[t] && sums.holds(d, row, t)) at.known[t] = 1, at.lacks -= elements(sums.terms[t]);
}

// Values that must come to these devices, asked in their order. What only others hold cannot come.
double needed_together(const Sums& sums, const Ids& asked) {
  double sum = 0;
  for (const Slice& row : sums.rows) {
    Row at{std::vector<char>(sums.terms.size(), 1), std::vector<char>(sums.columns.size())};
    for (std::size_t t = 0; t < sums.terms.size(); ++t)
      if (std::ranges::any_of(asked, [&](std::int64_t d) { return sums.holds(d, row, t); }))
        at.known[t] = 0, at.lacks += elements(sums.terms[t]);
    for (std::int64_t d : asked) {
      give_away(sums, row, d, at);
      const std::int64_t before = std::min(at.columns, at.lacks);
      for (std::size_t n = 0; n < sums.columns.size(); ++n)
        if (!at.had[n] && sums.needs(d, row, n)) at.had[n] = 1, at.columns += elements(sums.columns[n]);
      sum += static_cast<double>(elements(row) * (std::min(at.columns, at.lacks) - before));
    }
  }
  return sum;
}

// Terms of which one of these devices has a factor, and none that was asked.
struct Ungiven {
  const Sums& sums;
  std::vector<char> of;
  __int128 count = 0;

  bool has(std::int64_t d, std::size_t term) const {
    return elements(sums.lots[d].rows) > 0 && contains(sums.lots[d].terms, sums.terms[term]);
  }
  Ungiven(const Sums& all, const Ids& asked) : sums(all), of(all.terms.size()) {
    for (std::size_t t = 0; t < of.size(); ++t)
      if (std::ranges::any_of(asked, [&](std::int64_t d) { return has(d, t); }))
        of[t] = 1, count += elements(sums.terms[t]);
  }
  void give_away(std::int64_t d) {
    for (std::size_t t = 0; t < of.size(); ++t)
      if (of[t] && has(d, t)) of[t] = 0, count -= elements(sums.terms[t]);
  }
};

// The same of both operands at once: of the columns that are due to all, and of a term all rows and columns
// given away with any factor of it, so that what was asked before is known to the last value.
double needed_of_both(const Sums& left, const Sums& right, const Ids& asked) {
  __int128 columns = 0, rows = 0, sum = 0;
  for (const Slice& column : left.columns)
    if (std::ranges::all_of(asked, [&](auto d) { return contains(left.lots[d].due_columns, column); }))
      columns += elements(column);
  Ungiven lefts(left, asked), rights(right, asked);
  std::vector<char> had(left.rows.size());
  const auto told = [&] {
    return values_told(
        {
            {rows, lefts.count, columns}
    },
        rights.count);
  };
  for (std::int64_t d : asked) {
    lefts.give_away(d), rights.give_away(d);
    const __int128 before = told();
    for (std::size_t r = 0; r < had.size(); ++r)
      if (!had[r] && contains(left.lots[d].due_rows, left.rows[r]))
        had[r] = 1, rows += elements(left.rows[r]);
    sum += told() - before;
  }
  return static_cast<double>(sum);
}

// Elements that one of these devices needs and has not, and another has: where nothing is added up on the way
// each takes the room of a value. Of a sum those of its first part: were all others zero it would be moved.
double needed_by_some(const Sums& sums, const Ids& asked) {
  double sum = 0;
  for (const Slice& row : sums.rows) {
    const auto has = [&](std::int64_t d) { return sums.holds(d, row, 0); };
    const auto lacks = [&](std::int64_t d) { return contains(sums.lots[d].due_rows, row) && !has(d); };
    if (std::ranges::any_of(asked, has) && std::ranges::any_of(asked, lacks))
      sum += static_cast<double>(elements(row));
  }
  return sum;
}

// How many devices are such, and the last of them.
struct Such {
  std::int64_t count = 0, last = 0;
};
template <typename F>
Such those(std::int64_t devices, F is_such) {
  Such all;
  for (std::int64_t d = 0; d < devices; ++d)
    if (is_such(d)) ++all.count, all.last = d;
  return all;
}

// Values that a device must say: of each row the terms that it alone holds, and the sums that others need.
std::vector<double> needed_of_each(const Sums& sums) {
  const auto all = std::ssize(sums.lots);
  std::vector<double> of(all);
  for (const Slice& row : sums.rows) {
    std::vector<std::int64_t> alone(all), due_to_one(all);
    std::int64_t due = 0;
    for (std::size_t t = 0; t < sums.terms.size(); ++t)
      if (const Such held = those(all, [&](std::int64_t d) { return sums.holds(d, row, t); });
          held.count == 1)
        alone[held.last] += elements(sums.terms[t]);
    for (std::size_t n = 0; n < sums.columns.size(); ++n) {
      const Such due_to = those(all, [&](std::int64_t d) { return sums.needs(d, row, n); });
      if (due_to.count > 0) due += elements(sums.columns[n]);
      if (due_to.count == 1) due_to_one[due_to.last] += elements(sums.columns[n]);
    }
    for (std::int64_t d = 0; d < all; ++d)
      of[d] += static_cast<double>(elements(row) * std::min(alone[d], due - due_to_one[d]));
  }
  return of;
}

// Different bytes that come to a group of n.
double comes_to(const Collective& one, double n) {
  const auto in = static_cast<double>(one.in), out = static_cast<double>(one.out);
  if (one.kind == "all-reduce" || one.kind == "collective-broadcast") return out;
  return one.kind == "all-gather" ? std::min(out, n * in) : n * out;
}

// What can have come to all devices of one group by a trace, and what each device can have said, in bytes.
struct Said {
  std::vector<double> to_group, by_device;
};

std::optional<Said> said(const Mesh& mesh, const Trace& trace, const std::vector<Ids>& all) {
  std::vector<std::size_t> group_of(devices(mesh));
  for (std::size_t g = 0; g < all.size(); ++g)
    for (std::int64_t d : all[g]) group_of[d] = g;
  Said sum{std::vector<double>(all.size()), std::vector<double>(group_of.size())};
  for (const Collective& one : trace) {
    const std::int64_t counted = moved(mesh, one);
    if (counted == 0) continue;
    if (one.kind == "send" || counted < 0) return std::nullopt;
    const auto times = static_cast<double>(one.times);
    const double most = one.moved ? static_cast<double>(*one.moved) : HUGE_VAL;
    std::vector<double> here(all.size());
    std::vector<char> says(group_of.size());
    for (const Ids& group : groups_of(mesh, one)) {
      if (group.size() < 2) continue;
      here[group_of[group.front()]] += comes_to(one, static_cast<double>(group.size())) * times;
      for (std::int64_t d : group) says[d] = 1;
    }
    for (const auto& [from, to] : one.pairs)
      if (from != to) here[group_of[to]] += static_cast<double>(one.out) * times, says[from] = 1;
    for (std::size_t g = 0; g < all.size(); ++g) sum.to_group[g] += std::min(here[g], most);
    for (std::size_t d = 0; d < says.size(); ++d)
      if (says[d]) sum.by_device[d] += static_cast<double>(one.in) * times;
  }
  return sum;
}

// `needed`: how many values some devices need together.
template <typename Needed>
std::string too_little_told(Needed needed, const std::vector<Ids>& all, const Said& were, double value) {
  for (std::size_t g = 0; g < all.size(); ++g)
    if (const double due = needed(all[g]) * value; were.to_group[g] < due)
      return fmt::format(
          "what it joins to device {} was brought at most {:.0f} different bytes, and needs {:.0f}",
          all[g].front(), were.to_group[g], due);
  return "";
}

std::string too_little_said(const Sums& sums, const Said& were, double value) {
  const std::vector<double> due = needed_of_each(sums);
  for (std::size_t d = 0; d < due.size(); ++d)
    if (were.by_device[d] < due[d] * value)
      return fmt::format(
          "device {} can have sent at most {:.0f} bytes, and {:.0f} that others need only it has", d,
          were.by_device[d], due[d] * value);
  return "";
}

}  // namespace

std::optional<double> told_to_all(const Mesh& mesh, const Trace& trace) {
  Ids all(devices(mesh));
  std::iota(all.begin(), all.end(), 0);
  const std::optional<Said> were = said(mesh, trace, {all});
  return were ? std::optional(were->to_group[0]) : std::nullopt;
}

std::string told_too_little(const Case& c, const std::vector<Slice>& slices, const Trace& trace) {
  const bool reshard = is_reshard(c);
  const auto in_parts = [&](const Spec& spec) { return parts(c.mesh, spec) > 1; };
  if (slices.empty() || in_parts(result(c)) || c.op.operands[0].reduction != Reduce::sum) return "";
  if (!reshard &&
      (!std::holds_alternative<Einsum>(c.op.kind) || std::ranges::any_of(c.op.operands, in_parts)))
    return "";
  const std::vector<Ids> all = connected(c.mesh, trace);
  const std::optional<Said> were = said(c.mesh, trace, all);
  if (!were) return "";
  const double value =
      reshard ? std::min(format(c.wire).bytes, format(result(c).dtype).bytes) : bytes_of_value(c);
  std::optional<Sums> of[2];
  for (int operand = 0; operand < (reshard ? 1 : 2); ++operand)
    of[operand] = sums_of(reshard ? lots_of_reshard(c, slices) : lots_of_product(c, slices, operand));
  const bool both = of[0] && of[1] && !in_batches(c.op);
  const bool moves = reshard && std::ranges::none_of(trace, combines);
  for (int operand : {0, 1}) {
    if (!of[operand]) continue;
    const auto needed = [&](const Ids& asked) {
      double most = needed_together(*of[operand], asked);
      if (moves) most = std::max(most, needed_by_some(*of[operand], asked));
      if (both) most = std::max(most, needed_of_both(*of[operand], *of[1 - operand], asked));
      return most;
    };
    if (std::string why = too_little_told(needed, all, *were, value); !why.empty()) return why;
    if (std::string why = too_little_said(*of[operand], *were, value); !why.empty()) return why;
  }
  return "";
}

}  // namespace plumb
