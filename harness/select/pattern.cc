#include "harness/select/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

enum class Star { none, finished, sum, avg, max, min };

// What follows a spec, and the stars that it stands for: finished layouts, and those unfinished in a way.
constexpr std::pair<std::string_view, Star> stars[] = {
    {"+avg*", Star::avg     },
    {"+max*", Star::max     },
    {"+min*", Star::min     },
    {"+*",    Star::sum     },
    {"*",     Star::finished},
};

// A line with its stars taken out; stars[i] is what stood behind its i-th spec, and at[i] where in the line
// with the stars.
struct Bare {
  std::string line;
  std::vector<Star> stars;
  std::vector<std::size_t> at;
  std::vector<std::string_view> words;
};

Bare without_stars(std::string_view line) {
  Bare bare;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(' ', at);
    if (begin == line.npos) break;
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    bare.line.append(line.substr(at, begin - at));
    at = end;
    std::string_view word = line.substr(begin, end - begin);
    bare.words.push_back(word);
    if (word.find('[') != word.npos && !word.starts_with("rules=")) {
      Star star = Star::none;
      const auto found = std::ranges::find_if(stars, [&](const auto& s) { return word.ends_with(s.first); });
      if (found != std::end(stars)) star = found->second, word.remove_suffix(found->first.size());
      bare.stars.push_back(star), bare.at.push_back(begin + word.size());
    }
    bare.line.append(word);
  }
  return bare;
}

// The lines that the bars of the mesh stand for: "on a=1|2,b=3: ..." gives two.
std::vector<std::string> without_bars(const std::string& line) {
  const std::size_t bar = line.find('|');
  const std::size_t colon = line.find(':');
  if (bar == line.npos || bar > colon) return {line};
  const std::size_t equals = line.rfind('=', bar);
  if (equals == line.npos) throw bad_input("expected NAME=SIZE|SIZE", line, bar);
  const std::size_t end = std::min(line.find_first_of(",: ", bar), line.size());
  std::vector<std::string> lines, sizes;
  for (std::size_t at = equals + 1; at <= end;) {
    const std::size_t next = std::min(line.find('|', at), end);
    const std::string size = line.substr(at, next - at);
    if (size.empty()) throw bad_input("expected a size", line, at);
    if (std::ranges::count(sizes, size) > 0) throw bad_input("this size stands twice", line, at);
    sizes.push_back(size);
    std::string one = line.substr(0, equals + 1) + size + line.substr(end);
    for (std::string& more : without_bars(one)) lines.push_back(std::move(more));
    at = next + 1;
  }
  return lines;
}

// Where the caret stands under one of the lines that a pattern stands for, the pattern follows.
BadInput of_the_pattern(const BadInput& error, std::string_view line) {
  constexpr std::size_t most = 150;
  const std::string said = error.what();
  const std::size_t shown = said.find("\n  ") + 3;
  if (std::string_view(said).substr(shown).starts_with(std::string(line) + '\n')) return error;
  return BadInput(fmt::format("{}\n  one of the cases of\n  {}{}", said, line.substr(0, most),
                              line.size() > most ? "..." : ""));
}

constexpr std::int64_t most_specs = 1 << 20, most_cases = std::int64_t{1} << 40;

// How many layouts there are: k of the axes split, in k! orders, cut into one list for each of `rank`
// dimensions; each of the others replicates or, where asked for, is left unfinished.
double number_of_specs(double axes, double rank, bool unfinished) {
  double all = 0;
  for (double k = 0; k <= axes; ++k) {
    double n = 1;
    for (double i = 0; i < k; ++i) n *= (axes - i) * (rank + i) / (i + 1);
    for (double i = k; i < axes; ++i) n *= unfinished ? 2 : 1;
    all += n;
  }
  return all;
}

// Every layout on the mesh of the program, its axes called as those of the whole mesh are.
std::vector<Spec> layouts(const Case& c, const Spec& spec, Star star) {
  std::vector<Spec> all = all_specs(program_mesh(c), spec.dtype, shape(spec), star != Star::finished);
  for (Spec& one : all) {
    if (!c.sub.empty()) one = renamed(std::move(one), c.sub);
    if (one.unfinished.empty()) continue;
    if (star == Star::avg) one.averaged = one.unfinished;
    one.reduction = star == Star::max ? Reduce::max : star == Star::min ? Reduce::min : Reduce::sum;
  }
  return all;
}

// The layouts that the i-th spec stands for.
std::vector<Spec> choices(const Case& c, const Spec& spec, const Bare& of, std::size_t i,
                          std::string_view line) {
  const Star star = of.stars[i];
  if (star == Star::none) return {spec};
  const bool bare = spec.unfinished.empty() &&
                    std::ranges::all_of(spec.dims, [](const Dim& dim) { return dim.axes.empty(); });
  if (!bare || spec.free) throw bad_input("a spec with a star names no axes", line, of.at[i]);
  if (star > Star::sum && (!is_reshard(c) || (star == Star::avg && format(spec.dtype).integer)))
    throw bad_input("expected * or +*: a product is a sum, and integers do not average", line, of.at[i]);
  const auto axes = static_cast<double>(program_mesh(c).axes.size()),
             rank = static_cast<double>(spec.dims.size());
  if (const double n = number_of_specs(axes, rank, star != Star::finished); n > most_specs)
    throw bad_input(fmt::format("these are {:.3g} layouts, too many to list", n), line, of.at[i]);
  return layouts(c, spec, star);
}

Pattern pattern(std::string_view whole) {
  const Bare bare = without_stars(whole);
  Pattern p{parse_case(bare.line), {}, {}};
  const auto starts = [&](std::string_view word) {
    return std::ranges::any_of(bare.words, [&](std::string_view w) { return w.starts_with(word); });
  };
  p.acc = starts("acc="), p.wire = starts("wire="), p.fill = starts("fill=");
  if (is_resolve(p.like) && bare.stars.front() != Star::none)
    throw bad_input("a resolve finds its layout: no star", whole, whole.find('*'));
  std::size_t i = 0;
  assert(bare.stars.size() == p.like.op.operands.size() + p.like.op.chain.size());
  for (const Spec& spec : p.like.op.operands) p.operands.push_back(choices(p.like, spec, bare, i++, whole));
  for (const Spec& spec : p.like.op.chain) p.chain.push_back(choices(p.like, spec, bare, i++, whole));
  // The last layout of a star leaves every axis unfinished.
  for (std::size_t k = 0; k < p.chain.size() && is_reshard(p.like); ++k) {
    const std::vector<Spec>& before = k == 0 ? p.operands.back() : p.chain[k - 1];
    if (!reduced_alike(before.back(), p.chain[k].back()))
      throw bad_input("an axis that stays unfinished keeps its reduction", whole,
                      bare.at[p.operands.size() + k]);
  }
  __int128 n = 1;
  for (const auto* lists : {&p.operands, &p.chain})
    for (const auto& list : *lists)
      if ((n *= static_cast<std::int64_t>(list.size())) > most_cases)
        throw bad_input("these are more than 2^40 cases", whole, whole.find('*'));
  return p;
}

}  // namespace

bool is_pattern(std::string_view line) { return line.find('*') != line.npos || line.find('|') != line.npos; }

std::vector<Pattern> parse_pattern(std::string_view line) {
  std::vector<Pattern> patterns;
  try {
    for (const std::string& one : without_bars(std::string(line))) patterns.push_back(pattern(one));
  } catch (const BadInput& error) {
    if (!is_pattern(line)) throw;
    throw of_the_pattern(error, line);
  }
  return patterns;
}

Case parse_one(std::string_view line) {
  const std::size_t at = line.find_first_of("*|");
  if (at != line.npos)
    throw bad_input("one case is expected, and these are many: plumb list shows them", line, at);
  return parse_case(line);
}

std::int64_t count(const Pattern& p) {
  std::int64_t n = 1;
  for (const auto* lists : {&p.operands, &p.chain})
    for (const auto& list : *lists) n *= static_cast<std::int64_t>(list.size());
  return n;
}

Case nth(const Pattern& p, std::int64_t n) {
  assert(0 <= n && n < count(p));
  Case c = p.like;
  const auto choose = [&n](const std::vector<Spec>& list) {
    const auto size = static_cast<std::int64_t>(list.size());
    const std::int64_t at = n % size;
    n /= size;
    return list[at];
  };
  for (std::size_t i = p.chain.size(); i-- > 0;) c.op.chain[i] = choose(p.chain[i]);
  for (std::size_t i = p.operands.size(); i-- > 0;) c.op.operands[i] = choose(p.operands[i]);
  if (!p.acc) c.acc = default_acc(c.op);
  if (!p.wire) c.wire = default_wire(c.op);
  if (!p.fill) c.fill = default_fill(c.op);
  // What the line says of the fill may not suit every layout.
  return p.acc || p.wire || p.fill ? parse_case(print(c)) : c;
}

}  // namespace plumb
