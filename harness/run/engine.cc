#include "harness/run/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/run/examine.h"
#include "reference/rounding/probe.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::int64_t kColumns = 16;  // all of ones: their sums are alike

Tensor ones(DType dtype) {
  Tensor t = zeros(dtype, {kProbeTerms, kColumns});
  const int width = format(dtype).bytes;
  for (std::int64_t i = 0; i < kProbeTerms * kColumns; ++i)
    store(dtype, t.bytes.data() + i * width, encode(dtype, 1));
  return t;
}

}  // namespace

std::optional<DType> probed_dtype(const Case& c) {
  if (is_reshard(c) || is_resolve(c) || c.op.operands.size() != 2 || quantizes(c.op) || c.acc != DType::f32)
    return {};
  const DType dtype = c.op.operands[0].dtype;
  if (format(dtype).integer || dtype == DType::f64) return {};
  return dtype == DType::f8e4m3 ? DType::f8e5m2 : dtype;  // whose range is too short
}

namespace {

// The rows of few terms times columns of ones, as a product of matrices, or where it takes none as one of the
// only group.
Answer few_terms(Process& process, const Tensor& rows, Tensor columns) {
  const auto ask = [&](std::string_view pattern, std::vector<std::int64_t> shape) {
    columns.shape = std::move(shape);
    const Case c = parse_case(
        fmt::format(fmt::runtime(pattern), format(rows.dtype).name, rows.shape[0], kProbeTerms, kColumns));
    return process.run(c, std::vector{rows, columns});
  };
  Answer answer = ask("on x=1: einsum mk,kn->mn {0}[{1},{2}] {0}[{2},{3}] -> f32[{1},{3}]", {kProbeTerms, kColumns});
  if (!std::holds_alternative<Unsupported>(answer)) return answer;
  return ask("on x=1: grouped fwd {0}[{1},{2}] {0}[1,{2},{3}] sizes={1} -> f32[{1},{3}]",
             {1, kProbeTerms, kColumns});
}

}  // namespace

std::optional<std::string> doubt_of_engine(Process& process, DType dtype, Engine said) {
  const Tensor terms = probe_rows(dtype);
  const std::int64_t rows = terms.shape[0];
  const Answer answer = few_terms(process, terms, ones(dtype));
  if (const std::string why = no_result_in_words(answer); !why.empty())
    return "asked for sums of few terms, it gave none: " + why;
  const auto* outcome = std::get_if<Outcome>(&answer);
  if (!outcome) return {};
  const std::int64_t due = rows * kColumns * format(DType::f32).bytes;
  if (outcome->blocks.size() != 1 || outcome->blocks[0].bytes != static_cast<std::uint64_t>(due))
    return fmt::format("asked for sums of few terms, it gave no block of their {} bytes", due);
  const std::vector<std::byte> bytes = process.read(outcome->blocks[0]);
  std::vector<double> all(rows * kColumns), sums;
  decode(DType::f32, bytes.data(), std::ssize(all), all.data());
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* row = all.data() + i * kColumns;
    if (std::any_of(row, row + kColumns, [&](double sum) { return !(sum == row[0]); }))
      return "equal terms have other sums in another column";
    sums.push_back(row[0]);
  }
  const Probed found = probed(dtype, sums);
  if (!found.engine) return "its sums are those of no engine in the model: " + found.text;
  if (model(*found.engine).factor <= model(said).factor) return {};
  const std::string of = said == Engine::ieee
                             ? "it says no engine but ieee"
                             : fmt::format("it says that its engine is {}", model(said).name);
  return fmt::format("{}, and its sums are those of {}: {}", of, model(*found.engine).name, found.text);
}

}  // namespace plumb
