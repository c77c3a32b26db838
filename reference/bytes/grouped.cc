#include "reference/bytes/grouped.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "reference/bytes/move.h"

namespace plumb {
namespace {

using Runs = std::vector<std::vector<Range>>;  // of each group, one for each list of sizes

// Rows of some groups: within one list they lie side by side.
std::int64_t rows_in(const Runs& runs, Range rows, Range groups) {
  std::int64_t n = 0;
  for (std::size_t list = 0; groups.size() > 0 && list < runs.front().size(); ++list)
    n += both(rows, {runs[groups.begin][list].begin, runs[groups.end - 1][list].end}).size();
  return n;
}

std::int64_t groups_touched(const Runs& runs, Range rows, Range groups) {
  std::int64_t n = 0;
  for (std::int64_t g = groups.begin; g < groups.end; ++g) n += rows_in(runs, rows, {g, g + 1}) > 0;
  return n;
}

// What a device has of a split or of a spec: a range for each letter.
struct Box {
  std::array<Range, 4> ranges;
  Range& operator[](char letter) { return ranges[std::string_view("tgkn").find(letter)]; }
  const Range& operator[](char letter) const { return ranges[std::string_view("tgkn").find(letter)]; }
};

Box intersection(const Box& a, const Box& b) {
  Box box;
  for (std::size_t i = 0; i < box.ranges.size(); ++i) box.ranges[i] = both(a.ranges[i], b.ranges[i]);
  return box;
}

// Elements of an array with these letters that work in `box` reads or makes.
std::int64_t elements_in(const Runs& runs, const std::string& letters, const Box& box) {
  if (letters == "gkn") return groups_touched(runs, box['t'], box['g']) * box['k'].size() * box['n'].size();
  return rows_in(runs, box['t'], box['g']) * box[letters[1]].size();
}

struct Count {
  const Case& c;
  const Words& words;
  Runs runs;
  Box whole;
  std::vector<Box> work;  // of each device
};

// What a device holds of an array; of the letters that the array lacks, all.
Box held(const Count& count, const Spec& spec, const std::string& letters, std::int64_t device) {
  Box box = count.whole;
  for (std::size_t d = 0; d < letters.size(); ++d)
    box[letters[d]] =
        piece(count.c.mesh, spec.dims[d], count.c.rule, coordinate(count.c.mesh, spec.dims[d].axes, device));
  return box;
}

std::int64_t operand_elements(const Count& count, int i) {
  std::int64_t missing = 0;
  for (std::size_t device = 0; device < count.work.size(); ++device) {
    const Box here = held(count, count.c.op.operands[i], count.words[i], static_cast<std::int64_t>(device));
    missing += elements_in(count.runs, count.words[i], count.work[device]) -
               elements_in(count.runs, count.words[i], intersection(count.work[device], here));
  }
  return missing;
}

// A result of rows, finished where it is made: rows of no group are zero and need not move.
std::int64_t row_elements(const Count& count) {
  std::int64_t missing = 0;
  for (std::size_t device = 0; device < count.work.size(); ++device) {
    const Box want = held(count, result(count.c), count.words[2], static_cast<std::int64_t>(device));
    missing += elements_in(count.runs, count.words[2], want) -
               elements_in(count.runs, count.words[2], intersection(want, count.work[device]));
  }
  return missing;
}

// One group of wgrad: a sum of as many parts as there are pieces of rows that touch it.
std::int64_t weight_bytes(const Count& count, const Split& split, std::int64_t g) {
  const Mesh& mesh = count.c.mesh;
  const Dim rows{count.whole['t'].end, split.of('t')};
  std::int64_t parts = 0, fibres = devices(mesh);
  for (std::int64_t i = 0; i < axes_size(mesh, rows.axes); ++i)
    parts += rows_in(count.runs, piece(mesh, rows, count.c.rule, i), {g, g + 1}) > 0;
  for (const Dim& dim : result(count.c).dims) fibres /= axes_size(mesh, dim.axes);

  std::vector<AxisId> apart;  // axes that tell blocks of work or of the result apart, rows aside
  for (AxisId axis = 0; axis < static_cast<AxisId>(mesh.axes.size()); ++axis) {
    bool cuts =
        contains(split.of('g'), axis) || contains(split.of('k'), axis) || contains(split.of('n'), axis);
    for (const Dim& dim : result(count.c).dims) cuts = cuts || contains(dim.axes, axis);
    if (cuts) apart.push_back(axis);
  }
  std::vector<char> seen(axes_size(mesh, apart), 0);
  std::int64_t missing = 0, rooted = 0;
  for (std::size_t device = 0; device < count.work.size(); ++device) {
    const Box want = held(count, result(count.c), "gkn", static_cast<std::int64_t>(device));
    if (both(want['g'], {g, g + 1}).size() == 0) continue;
    const Box& work = count.work[device];
    const bool touches = rows_in(count.runs, work['t'], both(work['g'], {g, g + 1})) > 0;
    const std::int64_t here =
        touches ? both(want['k'], work['k']).size() * both(want['n'], work['n']).size() : 0;
    missing += want['k'].size() * want['n'].size() - here;
    char& counted = seen[coordinate(mesh, apart, static_cast<std::int64_t>(device))];
    if (touches && !counted) rooted += here, counted = 1;
  }
  const std::int64_t size = count.whole['k'].size() * count.whole['n'].size();
  const std::int64_t moved = format(result(count.c).dtype).bytes, added = format(count.c.wire).bytes;
  if (parts < 2) return parts * missing * moved;
  return (size * parts - rooted) * added + size * (fibres - 1) * moved;
}

}  // namespace

// Where an operand comes unfinished, or the result is a sum, whole layouts are moved as for an einsum;
// but for the sums of wgrad, which are counted group by group.
Moved moved_in_grouped(const Case& c, const Words& words, const Split& split) {
  Moved moved = moved_in_einsum(c, words, split);
  const Grouped& op = std::get<Grouped>(c.op.kind);
  Count count{c, words, group_rows(op, c.op.operands[0].dims[0].size), {}, {}};
  for (int i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < words[i].size(); ++d)
      count.whole[words[i][d]] = {0, (i < 2 ? c.op.operands[i] : result(c)).dims[d].size};
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    Box box;
    for (char letter : {'t', 'g', 'k', 'n'}) {
      const Dim dim{count.whole[letter].end, split.of(letter)};
      box[letter] = piece(c.mesh, dim, c.rule, coordinate(c.mesh, dim.axes, device));
    }
    count.work.push_back(box);
  }
  for (int i = 0; i < 2; ++i)
    if (c.op.operands[i].unfinished.empty())
      moved.operands[i] = operand_elements(count, i) * format(c.op.operands[i].dtype).bytes;
  const Spec made = layout(c, words, split, 2);
  if (op.form == Form::wgrad && result(c).unfinished.empty()) {
    moved.result = 0;
    for (std::int64_t g = 0; g < count.whole['g'].end; ++g) moved.result += weight_bytes(count, split, g);
  } else if (result(c).unfinished.empty() && made.unfinished == split.of('g')) {
    moved.result = row_elements(count) * format(made.dtype).bytes;
  }
  return moved;
}

}  // namespace plumb
