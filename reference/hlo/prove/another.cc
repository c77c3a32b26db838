#include "reference/hlo/prove/another.h"

#include <algorithm>
#include <cmath>

namespace plumb::hlo {
namespace {

double largest_magnitude(const Array<double>& a) {
  double most = 0;
  for (const double x : a.reals)
    if (std::isfinite(x)) most = std::max(most, std::fabs(x));
  return most;
}

constexpr double kOtherOrder = 0x1p-30;

// Whether element `x` of a and `y` of b are others.
bool differ(const Array<double>& a, std::size_t x, const Array<double>& b, std::size_t y, double most) {
  if (!is_real(a.type)) return a.integers[x] != b.integers[y];
  const bool both_nan = std::isnan(a.reals[x]) && std::isnan(b.reals[y]);
  return !both_nan && a.reals[x] != b.reals[y] && !(std::fabs(a.reals[x] - b.reals[y]) <= most * kOtherOrder);
}

}  // namespace

bool is_another(const Array<double>& was, const Array<double>& is, std::int64_t devices,
                const std::vector<Integers>* maps) {
  if (was.type != is.type || was.dims != is.dims) return true;
  const std::int64_t size = count(was.dims);
  const double most = largest_magnitude(was);
  for (std::int64_t device = 0; device < devices; ++device)
    for (std::int64_t n = 0; n < size; ++n) {
      if (maps && (*maps)[static_cast<std::size_t>(device)][static_cast<std::size_t>(n)] < 0) continue;
      if (differ(was, static_cast<std::size_t>(begin_on(was, device, size) + n), is,
                 static_cast<std::size_t>(begin_on(is, device, size) + n), most))
        return true;
    }
  return false;
}

bool is_another(const Value<double>& was, const Value<double>& is, std::int64_t devices) {
  if (was.parts.size() != is.parts.size() || !was.array != !is.array) return true;
  for (std::size_t n = 0; n < was.parts.size(); ++n)
    if (is_another(was.parts[n], is.parts[n], devices)) return true;
  return was.array && is_another(*was.array, *is.array, devices);
}

}  // namespace plumb::hlo
