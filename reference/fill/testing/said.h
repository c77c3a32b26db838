// For tests: budgets as text.
#pragma once

#include <fmt/format.h>

#include <string>

#include "reference/fill/product.h"

namespace plumb {

inline std::string said(const Shares& s) {
  return fmt::format("{}/{}/{}/{} mass {} largest {};", s.parts, s.active, s.step, s.width, mass(s),
                     largest(s));
}
inline std::string said(const Unit& u) { return fmt::format("{}*2^{} {};", u.factor, u.exponent, u.exists); }

inline std::string said(const ProductBudget& w) {
  std::string text =
      fmt::format("{} {} units {} blocks {} narrow {} pairs {} terms {} carried {} bits {} {} {}",
                  said(w.unit), w.exists, w.units, w.active_blocks, w.narrow, w.active_pairs, w.terms,
                  w.carried, w.plain_bits, w.perturbed_bits, w.term_bits);
  for (const Shares& s : w.plain) text += said(s);
  for (const Shares& s : w.perturbed) text += said(s);
  const Long& l = w.lengths;
  return text + fmt::format(" long {} {} {} {} piled {} {} {} {} {}", l.plain, l.with_plain, l.perturbed,
                            l.with_perturbed, l.piled, l.piled_plain, l.piled_perturbed, l.units, l.alone);
}

}  // namespace plumb
