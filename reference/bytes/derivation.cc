#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "reference/bytes/bytes.h"
#include "reference/bytes/family.h"
#include "reference/bytes/move.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::int64_t most_lines = 16;

std::string place(const Mesh& mesh, std::int64_t device) {
  const std::vector<std::int64_t> at = coordinates(mesh, device);
  std::string text;
  for (std::size_t a = 0; a < at.size(); ++a)
    text += fmt::format("{}{}={}", a ? "," : "", mesh.axes[a].name, at[a]);
  return text;
}

std::string line(const Case& c, std::int64_t device) {
  const Spec &from = c.op.operands[0], &to = result(c);
  const Move move{c.mesh, from, to, c.rule};
  const Need n = need(move, device);
  const std::string who = fmt::format("  device {} ({}) needs {}", device, place(c.mesh, device),
                                      print(block(c.mesh, to, c.rule, device)));
  if (!n.counted) return who + " with its fibre: counted on the fibre's first device\n";
  const char* holder = to.unfinished.empty() ? "it holds" : "its fibre holds";
  const bool sum = parts(c.mesh, from) > 1;
  const std::string holds = sum && n.holds == 0
                                ? fmt::format("{} part {} of the {} at most: one value for each element",
                                              holder, part(c.mesh, from, device), name(from.reduction))
                                : fmt::format("{} {} of {}{}", holder, n.holds, counted(n.needs, "element"),
                                              sum ? " in all their parts" : "");
  return fmt::format("{}; {}: {} bytes\n", who, holds, (n.needs - n.holds) * least_bytes(c));
}

std::string of_reshard(const Case& c) {
  if (result(c).free)
    return "a free result has no bound; its yardstick is the cheapest layout in which it may be left\n";
  std::string text = fmt::format("the fewest bytes that each device must receive\n");
  const std::vector<std::int64_t> fewest = fewest_bytes(c);
  for (std::int64_t device = 0; device < std::ssize(fewest) && device < most_lines; ++device)
    text += line(c, device);
  if (std::ssize(fewest) > most_lines)
    text += fmt::format("  and {} more\n", counted(std::ssize(fewest) - most_lines, "device"));
  return text + fmt::format("all devices: {} bytes\n",
                            std::accumulate(fewest.begin(), fewest.end(), std::int64_t{0}));
}

std::string of_product(const Case& c) {
  const Words letters = words(c.op);
  const Case one = slice_case(c);
  return fmt::format(
      "a product has no bound; its yardstick is the cheapest of {} plans, in which each axis splits\n"
      "a letter of {},{}->{} that it splits in a spec of the case, or repeats the work\n",
      splits(one, letters).size(), letters[0], letters[1], letters[2]);
}

}  // namespace

std::string derivation(const Case& c) {
  const BestKnown best = best_known(c);
  return (is_quantize(c)  ? ""
          : is_reshard(c) ? of_reshard(c)
                          : of_product(c)) +
         (best.bytes < 0 ? fmt::format("best known: none: {}\n", best.family)
                         : fmt::format("best known: {} bytes: {}\n", best.bytes, best.family));
}

}  // namespace plumb
