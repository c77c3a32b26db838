#include "harness/run/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "harness/run/ask.h"
#include "harness/run/own_terms.h"
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

// A product of matrices, or where it takes none one of the only group.
const char* const kQuestions[] = {"on x=1: einsum mk,kn->mn {0}[{1},{2}] {0}[{2},{3}] -> f32[{1},{3}]",
                                  "on x=1: grouped fwd {0}[{1},{2}] {0}[1,{2},{3}] sizes={1} -> f32[{1},{3}]"};

}  // namespace

std::optional<Case> question_of_engine(Process& process, DType dtype) {
  for (const DType of : {dtype, dtype == DType::f8e5m2 ? DType::f8e4m3 : dtype})
    for (const char* question : kQuestions) {
      const Case c = parse_case(fmt::format(fmt::runtime(question), format(of).name, std::ssize(probes(of)),
                                            kProbeTerms, kColumns));
      const auto refusal = process.refuses(c);
      if (!refusal || !std::holds_alternative<Unsupported>(*refusal)) return c;
    }
  return std::nullopt;
}

namespace {

std::optional<std::string> doubt_of_sums(const Probed& found, Engine said) {
  if (!found.engine) return "its sums are those of no engine in the model: " + found.text;
  if (model(*found.engine).factor <= model(said).factor) return {};
  const std::string of = said == Engine::ieee
                             ? "it says no engine but ieee"
                             : fmt::format("it says that its engine is {}", model(said).name);
  return fmt::format("{}, and its sums are those of {}: {}", of, model(*found.engine).name, found.text);
}

// What it says that could be said before it began, or once it had; empty of any other answer.
std::string refusal_in_words(const Answer& answer) {
  if (const auto* said = std::get_if<Unsupported>(&answer)) return "unsupported: " + said->reason;
  if (const auto* said = std::get_if<Reneged>(&answer)) return "reneged: " + said->message;
  return "";
}

std::string gave_no_sums(const Case& question, const std::string& why) {
  return fmt::format("asked how its engine adds up, by {}, it gave no sums: {}", print(question), why);
}

}  // namespace

SaidOfEngine said_of_engine(Process& process, const Case& question, Engine said) {
  const DType dtype = question.op.operands[0].dtype;
  std::vector<Tensor> operands{probe_rows(dtype), ones(dtype)};
  operands[1].shape = shape(question.op.operands[1]);
  const std::int64_t rows = operands[0].shape[0];
  const Answer answer = process.run(question, operands);
  if (const std::string why = no_result_in_words(answer); !why.empty()) return {gave_no_sums(question, why), ""};
  const auto* outcome = std::get_if<Outcome>(&answer);
  if (!outcome) return {{}, refusal_in_words(answer)};
  const std::int64_t due = rows * kColumns * format(DType::f32).bytes;
  if (outcome->blocks.size() != 1 || outcome->blocks[0].bytes != static_cast<std::uint64_t>(due))
    return {gave_no_sums(question, fmt::format("no block of {} bytes", due)), ""};
  const std::vector<std::byte> bytes = process.read(outcome->blocks[0]);
  std::vector<double> all(rows * kColumns), sums;
  decode(DType::f32, bytes.data(), std::ssize(all), all.data());
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* row = all.data() + i * kColumns;
    if (std::any_of(row, row + kColumns, [&](double sum) { return !(sum == row[0]); }))
      return {"equal terms have other sums in another column", ""};
    sums.push_back(row[0]);
  }
  return {doubt_of_sums(probed(probes(dtype), DType::f32, sums), said), ""};
}

std::optional<SaidOfEngine> said_by_own_line(Process& process, const Case& c, Engine said) {
  std::vector<FewTerms> asked;
  std::vector<double> sums;
  for (int next = 0; next < times_of_asking(c); ++next) {
    const auto own = own_terms(c, next);
    if (!own) return {};
    const Attempt made = ask_on(c, process, own->operands);
    std::string why = no_result_in_words(made.answer);
    if (why.empty()) why = refusal_in_words(made.answer);
    if (!why.empty()) return SaidOfEngine{gave_no_sums(made.c, why), ""};
    std::set<std::pair<std::int64_t, double>> seen;  // what comes of each
    const Tensor whole = whole_result(made);
    for (std::size_t i = 0; i < own->sum_of.size(); ++i) {
      const std::int64_t sum = own->sum_of[i];
      const double got = value(whole, static_cast<std::int64_t>(i));
      if (sum >= 0 && seen.insert({sum, got}).second) asked.push_back(own->sums[sum]), sums.push_back(got);
    }
  }
  return SaidOfEngine{doubt_of_sums(probed(asked, result(c).dtype, sums), said), ""};
}

}  // namespace plumb
