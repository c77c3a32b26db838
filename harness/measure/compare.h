// Two measurements of one thing.
#pragma once

#include <optional>
#include <string_view>

#include "harness/measure/statistics.h"

namespace plumb {

// Whether two clocks say the same: the interval of their ratio lies within 2 % of 1, outside of that, or
// neither.
enum class Agreement { agree, disagree, unsure };
Agreement agreement(const std::optional<Ratio>&);
std::string_view name(Agreement);  // AGREE, DISAGREE, UNSURE

// What became of a case, by the ratio of its time now to that before: within 2 % of 1 it is the same; below 1
// by more than 2 % and than `noise` faster, above 1 slower; else nobody can say. The noise is how far a run's
// repetitions lie from their middle, as a factor: what slows some of them may slow all of another run.
enum class Became { faster, slower, same, unsure };
Became became(const std::optional<Ratio>&, double noise);
std::string_view name(Became);  // FASTER, SLOWER, SAME, UNSURE

}  // namespace plumb
