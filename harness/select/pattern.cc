#include "harness/select/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

enum class Star { none, finished, any };

// A line with its stars taken out; stars[i] is what stood behind its i-th spec.
struct Bare {
  std::string line;
  std::vector<Star> stars;
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
      if (word.ends_with("+*"))
        star = Star::any, word.remove_suffix(2);
      else if (word.ends_with("*"))
        star = Star::finished, word.remove_suffix(1);
      bare.stars.push_back(star);
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
  std::vector<std::string> lines;
  for (std::size_t at = equals + 1; at <= end;) {
    const std::size_t next = std::min(line.find('|', at), end);
    std::string one = line.substr(0, equals + 1) + line.substr(at, next - at) + line.substr(end);
    for (std::string& more : without_bars(one)) lines.push_back(std::move(more));
    at = next + 1;
  }
  return lines;
}

constexpr std::int64_t most_specs = 1 << 20, most_cases = std::int64_t{1} << 40;

// How many layouts there are: k of the axes split, in k! orders, cut into one list for each of `rank`
// dimensions; each of the others replicates or, where asked for, is left unfinished.
double specs(double axes, double rank, bool unfinished) {
  double all = 0;
  for (double k = 0; k <= axes; ++k) {
    double n = 1;
    for (double i = 0; i < k; ++i) n *= (axes - i) * (rank + i) / (i + 1);
    for (double i = k; i < axes; ++i) n *= unfinished ? 2 : 1;
    all += n;
  }
  return all;
}

std::vector<Spec> choices(const Mesh& mesh, const Spec& spec, Star star, std::string_view line) {
  if (star == Star::none) return {spec};
  const bool bare = spec.unfinished.empty() &&
                    std::ranges::all_of(spec.dims, [](const Dim& dim) { return dim.axes.empty(); });
  if (!bare) throw bad_input("a spec with a star names no axes", line, line.find('*'));
  const auto axes = static_cast<double>(mesh.axes.size()), rank = static_cast<double>(spec.dims.size());
  if (const double n = specs(axes, rank, star == Star::any); n > most_specs)
    throw bad_input(fmt::format("these are {:.3g} layouts, too many to list", n), line, line.find('*'));
  return all_specs(mesh, spec.dtype, shape(spec), star == Star::any);
}

Pattern pattern(const std::string& line, const Bare& bare, std::string_view whole) {
  Pattern p{parse_case(line), {}, {}};
  const auto starts = [&](std::string_view word) {
    return std::ranges::any_of(bare.words, [&](std::string_view w) { return w.starts_with(word); });
  };
  p.acc = starts("acc="), p.wire = starts("wire="), p.fill = starts("fill=");
  if (is_resolve(p.like) && bare.stars.front() != Star::none)
    throw bad_input("a resolve finds its layout: no star", whole, whole.find('*'));
  std::size_t i = 0;
  assert(bare.stars.size() == p.like.op.operands.size() + p.like.op.chain.size());
  for (const Spec& spec : p.like.op.operands)
    p.operands.push_back(choices(p.like.mesh, spec, bare.stars[i++], whole));
  for (const Spec& spec : p.like.op.chain)
    p.chain.push_back(choices(p.like.mesh, spec, bare.stars[i++], whole));
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
  const Bare bare = without_stars(line);
  std::vector<Pattern> patterns;
  for (const std::string& one : without_bars(bare.line)) patterns.push_back(pattern(one, bare, line));
  return patterns;
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
