// Law: of a product's trace few gathers beside another collective are left out and believed, and no more than
// were. Every layout over two axes, and a drop of each gather.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "harness/judge/contradiction.h"
#include "harness/run/testing/backends.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct Dropped {
  int all = 0, believed = 0;
  std::vector<std::string> lines;
};

// "8@x,4@y", and all others of two dimensions.
std::vector<std::string> layouts(int rows, int columns) {
  std::vector<std::string> all;
  for (int x = 0; x < 3; ++x)
    for (int y = 0; y < 3; ++y) {
      const auto axes = [&](int dim) {
        return x == dim && y == dim ? "@x.y" : x == dim ? "@x" : y == dim ? "@y" : "";
      };
      all.push_back(fmt::format("{}{},{}{}", rows, axes(0), columns, axes(1)));
    }
  return all;
}

// counted: whether the traces say what moved.
Dropped dropped(Backends& backends, const std::string& backend, bool counted) {
  Dropped found;
  for (const std::string& a : layouts(12, 12))
    for (const std::string& b : layouts(12, 12))
      for (const std::string& out : layouts(12, 12)) {
        const std::string line =
            fmt::format("on x=2,y=2: einsum mk,kn->mn f32[{}] f32[{}] -> f32[{}]", a, b, out);
        const Case c = parse_case(line);
        const Attempts made = ask(c, backends.named(backend), {});
        const auto* honest = std::get_if<Outcome>(&made.first.answer);
        if (!honest || honest->trace.size() < 2) continue;
        for (std::size_t i = 0; i < honest->trace.size(); ++i) {
          if (honest->trace[i].kind != "all-gather") continue;
          Outcome lie = *honest;
          lie.trace.erase(lie.trace.begin() + static_cast<std::ptrdiff_t>(i));
          for (Collective& one : lie.trace)
            if (!counted) one.moved.reset();
          ++found.all;
          if (contradiction(c, lie)) continue;
          ++found.believed;
          found.lines.push_back(fmt::format("{}  without {}", line, i));
        }
      }
  return found;
}

TEST(DroppedGathers, AreNotBelieved) {
  Backends backends;
  for (const auto& [counted, most] : {
           std::pair{false, 36},
           {true,  44}
  }) {
    const Dropped of = dropped(backends, "local", counted);
    EXPECT_EQ(of.all, 511);
    EXPECT_LE(of.believed, most) << (counted ? "counted" : "not counted") << "\n"
                                 << fmt::format("{}", fmt::join(of.lines, "\n"));
  }
}

}  // namespace
}  // namespace plumb
