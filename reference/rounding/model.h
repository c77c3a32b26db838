// The constants of the rounding model, each with its source. There are no others.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "reference/words/dtype.h"

namespace plumb {

// The chance that correct results raise any alarm of the pooled statistics of a case, at most. Chosen:
// a million cases a day raise one in three years.
inline constexpr double kFalseAlarm = 1.0 / 1'000'000'000;

// The chance that a correct result which rounds is the very one of a fault that the bound allows, at most,
// where each element that the fault changes is so with a chance of at most a half. Chosen.
inline constexpr double kFalseDoubt = 1.0 / 10'000;

// The significant digits to which matrix engines round or cut f32 operands where TF32 is allowed: NVIDIA A100 Tensor Core GPU
// Architecture (2020), "TF32".
inline constexpr int kTf32Digits = 11;

// How a sum of products is accumulated: each term costs at most `factor` relative errors of u, half a
// unit in the last place of the accumulate type.
enum class Engine : std::uint8_t { ieee, matrix, matrix_f8 };
struct EngineModel {
  Engine engine;
  std::string_view name;
  double factor;
  std::string_view source;
};
inline constexpr EngineModel kEngines[] = {
    {Engine::ieee,      "ieee",      1,
     "one rounding a term, any order, with or without fused multiply-add: Higham, Accuracy and Stability of "
     "Numerical Algorithms, 2nd ed., sections 3.1 and 4.2"                      },
    {Engine::matrix,    "matrix",    3,
     "aligned and truncated blocks: Volta 3.0, Turing to Ada 1.4, Hopper and Blackwell 0.7, CDNA3 1.3, from "
     "the "
     "models of MMA-Sim, arXiv 2511.10909"                                      },
    {Engine::matrix_f8, "matrix_f8", 2200,
     "13 fraction bits in Hopper and Ada FP8 without promotion: the same models"},
};

constexpr const EngineModel& model(Engine engine) { return kEngines[static_cast<int>(engine)]; }

inline std::optional<Engine> engine_named(std::string_view name) {
  for (const EngineModel& row : kEngines)
    if (row.name == name) return row.engine;
  return std::nullopt;
}

// Half a unit in the last place of 1.
inline double half_unit(DType dtype) { return std::ldexp(1.0, -format(dtype).digits); }

// Half the least subnormal.
inline double half_least(DType dtype) {
  return std::ldexp(0.5, format(dtype).min_exponent - format(dtype).digits + 1);
}

// A sum of independent terms that are symmetric about 0 exceeds this many times the root of its sum of
// squares with a chance of at most kFalseAlarm / tests, whatever their size (Efron 1969, Student's t-test
// under symmetry conditions: the chance is at most exp(-x^2/2) on each side).
inline double alarm_limit(std::int64_t tests) {
  return std::sqrt(2 * std::log(2 * static_cast<double>(tests) / kFalseAlarm));
}

}  // namespace plumb
