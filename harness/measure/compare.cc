#include "harness/measure/compare.h"

#include <array>

namespace plumb {
namespace {

constexpr double least = 1 - near_enough, most = 1 + near_enough;

bool within(const Between& i) { return i.low >= least && i.high <= most; }
bool outside(const Between& i) { return i.high < least || i.low > most; }

}  // namespace

Agreement agreement(const std::optional<Ratio>& ratio) {
  if (ratio && within(ratio->interval)) return Agreement::agree;
  return ratio && outside(ratio->interval) ? Agreement::disagree : Agreement::unsure;
}

Became became(const std::optional<Ratio>& ratio, double noise) {
  if (!ratio) return Became::unsure;
  if (within(ratio->interval)) return Became::same;
  if (!outside(ratio->interval)) return Became::unsure;
  return ratio->interval.high * noise < 1  ? Became::faster
         : ratio->interval.low > noise ? Became::slower
                                       : Became::unsure;
}

std::string_view name(Agreement a) {
  constexpr std::array<std::string_view, 3> names{"AGREE", "DISAGREE", "UNSURE"};
  return names[static_cast<std::size_t>(a)];
}

std::string_view name(Became b) {
  constexpr std::array<std::string_view, 4> names{"FASTER", "SLOWER", "SAME", "UNSURE"};
  return names[static_cast<std::size_t>(b)];
}

}  // namespace plumb
