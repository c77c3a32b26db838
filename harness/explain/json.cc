#include "adapters/protocol/json.h"

#include <fmt/format.h>

#include <numeric>

#include "harness/explain/explain.h"
#include "reference/bytes/bytes.h"
#include "reference/fill/fill.h"
#include "reference/meaning/meaning.h"
#include "reference/meaning/resolve.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::string of_spec(const Case& c, const Spec& spec, std::string_view role) {
  Members m;
  m.add("role", json_text(role));
  m.add("spec", json_text(print(c.mesh, spec)));
  return m.text;
}

// The digest is text: readers of JSON may keep 53 bits of a number.
std::string with_digest(std::string of_spec, const Tensor& whole) {
  return fmt::format(R"({},"digest":"{:016x}"}})", of_spec, digest(whole));
}

std::string resolved_json(const Case& c) {
  Members m;
  m.add("case", json_text(print(c)));
  const Resolved r = resolved(c);
  if (r.spec)
    m.add("layout", json_text(print(c.mesh, *r.spec)));
  else
    m.add("no_layout", json_text(r.error));
  return std::move(m).whole();
}

std::string bytes_json(const Case& c) {
  Members m;
  if (const BestKnown best = best_known(c); best.bytes >= 0) m.add("best_known", best.bytes);
  if (const auto fewest = fewest_bytes(c); !fewest.empty())
    m.add("bound", std::accumulate(fewest.begin(), fewest.end(), std::int64_t{0}));
  return std::move(m).whole();
}

}  // namespace

std::string explain_json(const Case& c) {
  if (is_resolve(c)) return resolved_json(c);
  std::vector<Tensor> operands;
  std::string before, after;
  const std::vector<std::string> names = operand_roles(c);
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
    operands.push_back(fill(c, static_cast<int>(i)));
    before += (i ? "," : "") + with_digest(of_spec(c, c.op.operands[i], names[i]), operands.back());
  }
  const std::vector<Tensor> wholes = evaluate_all(c, operands);
  for (std::size_t i = 0; i < wholes.size(); ++i)
    after += (i ? "," : "") +
             with_digest(of_spec(c, results(c)[i], is_reshard(c) ? "after" : "result"), wholes[i]);
  Members m;
  m.add("bytes", bytes_json(c));
  m.add("case", json_text(print(c)));
  m.add("certificate", json_text(certificate(c).text));
  m.add("data", data_generation);
  m.add("operands", "[" + before + "]");
  m.add("results", "[" + after + "]");
  m.add("seed", data_seed(c));
  return std::move(m).whole();
}

}  // namespace plumb
