#include "reference/bytes/family.h"

#include <fmt/format.h>

#include <algorithm>

#include "reference/bytes/move.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

const Spec& spec(const Case& c, int which) { return which < 2 ? c.op.operands[which] : result(c); }

// The letters that an axis splits somewhere, or might in a free result; 0 is none.
std::string choices(const Case& c, const Words& words, AxisId axis) {
  std::string letters(1, '\0');
  for (int i = 0; i < 3; ++i) {
    for (std::size_t d = 0; d < words[i].size(); ++d)
      if ((contains(spec(c, i).dims[d].axes, axis) || spec(c, i).free) &&
          letters.find(words[i][d]) == letters.npos)
        letters += words[i][d];
    if (i < 2 && contains(spec(c, i).unfinished, axis)) letters += static_cast<char>('0' + i);
  }
  return letters;
}

// The axes in the order in which the specs `by` have them, the first that has one deciding.
void put_in_order(const Case& c, const Words& words, const std::array<int, 3>& by, Split& split) {
  for (std::size_t l = 0; l < split.letters.size(); ++l) {
    if (split.axes[l].size() < 2) continue;
    std::vector<AxisId> ordered;
    for (int i : by) {
      const std::size_t d = words[i].find(split.letters[l]);
      if (d == words[i].npos) continue;
      for (AxisId axis : spec(c, i).dims[d].axes)
        if (contains(split.axes[l], axis) && !contains(ordered, axis)) ordered.push_back(axis);
    }
    for (AxisId axis : split.axes[l])
      if (!contains(ordered, axis)) ordered.push_back(axis);
    split.axes[l] = std::move(ordered);
  }
}

void add_orders(const Case& c, const Words& words, const Split& split, std::vector<Split>& all) {
  std::array<int, 3> by{0, 1, 2};
  const std::size_t first = all.size();
  do {
    Split ordered = split;
    put_in_order(c, words, by, ordered);
    if (std::find(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(), ordered) == all.end())
      all.push_back(std::move(ordered));
    if (std::ranges::all_of(split.axes, [](const auto& axes) { return axes.size() < 2; })) return;
  } while (std::ranges::next_permutation(by).found);
}

}  // namespace

Words words(const Op& op) {
  const Letters l = letters(op);
  return {l.operand[0], l.operand[1], l.out};
}

std::vector<Split> splits(const Case& c, const Words& words) {
  Split none;
  for (char letter : words[0] + words[1] + words[2] + "01")
    if (none.letters.find(letter) == none.letters.npos) none.letters += letter;
  none.axes.resize(none.letters.size());
  std::vector<Split> all{none};
  for (AxisId axis = 0; axis < static_cast<AxisId>(c.mesh.axes.size()); ++axis) {
    if (c.mesh.axes[axis].size == 1) continue;  // it splits nothing
    const std::string letters = choices(c, words, axis);
    if (all.size() * letters.size() > most_splits) return {};
    std::vector<Split> longer;
    for (const Split& split : all)
      for (char letter : letters) {
        longer.push_back(split);
        if (letter) longer.back().axes[split.letters.find(letter)].push_back(axis);
      }
    all = std::move(longer);
  }
  std::vector<Split> ordered;
  for (const Split& split : all) add_orders(c, words, split, ordered);
  return ordered;
}

std::string print(const Mesh& mesh, const Split& split) {
  std::string text;
  for (std::size_t l = 0; l < split.letters.size(); ++l) {
    if (split.axes[l].empty()) continue;
    const char letter = split.letters[l];
    text += text.empty() ? "" : " ";
    text += letter == '0' ? "parts of lhs" : letter == '1' ? "parts of rhs" : std::string(1, letter);
    for (std::size_t i = 0; i < split.axes[l].size(); ++i)
      text += fmt::format("{}{}", i ? '.' : '@', mesh.axes[split.axes[l][i]].name);
  }
  return text.empty() ? "nothing" : text;
}

Spec layout(const Case& c, const Words& words, const Split& split, int which) {
  Spec s{spec(c, which).dtype, {}, {}};
  s.dims.reserve(words[which].size());
  for (std::size_t d = 0; d < words[which].size(); ++d)
    s.dims.push_back({spec(c, which).dims[d].size, split.of(words[which][d])});
  if (which < 2) {
    s.unfinished = split.of(static_cast<char>('0' + which));
  } else {
    for (std::size_t l = 0; l < split.letters.size(); ++l)
      if (words[2].find(split.letters[l]) == words[2].npos)
        s.unfinished.insert(s.unfinished.end(), split.axes[l].begin(), split.axes[l].end());
  }
  return s;
}

Moved moved_in_einsum(const Case& c, const Words& words, const Split& split) {
  Moved moved;
  for (int i = 0; i < 2; ++i) {
    const Spec needed = layout(c, words, split, i);
    moved.operands[i] = cheapest_bytes({c.mesh, c.op.operands[i], needed, c.rule}, c.wire);
  }
  const Spec made = layout(c, words, split, 2);
  moved.result = cheapest_bytes({c.mesh, made, result(c), c.rule}, c.wire);
  return moved;
}

}  // namespace plumb
