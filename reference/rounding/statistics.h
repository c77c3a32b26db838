// Pooled statistics of rounding errors: they find, and attribute to a rank, what the bound of a single
// element cannot see. An error is the distance from the correctly rounded result, so that whoever rounds once
// has none, whatever the data. Under a correct run the errors are symmetric about 0 (rounding to nearest),
// but for a drift that a truncating engine may have and for what halves lean by that go to the even neighbour
// (u^2 of each sum that is rounded, which shows in formats of 8 bits), and independent from element to
// element; those whose c and partial sums are alike but for a sign and a power of two round alike, and count
// as one.
#pragma once

#include <string>
#include <vector>

#include "reference/rounding/bound.h"

namespace plumb {

struct Statistics {
  std::int64_t elements = 0;  // that do not round alike
  // The root of the mean of error^2 / variance, the variance modelled, and what it may be.
  double rms = 0, rms_limit = 0;
  double chance = 1;  // that a correct run has errors so large, at most
  // Errors in the direction of c: their sum over the root of their sum of squares.
  double bias = 0;
  // The regression of the errors on each rank's exact sum: -1 for a rank that was left out, +1 for one
  // counted twice, a - 1 for one scaled by a; and the same quotient as for the bias.
  std::vector<double> slope, slope_score;
  double limit = 0;  // of |bias| and |slope_score|: alarm_limit of all tests
  std::vector<std::string> alarms;
};

// `partials` [P, n...], f64: each rank's exact sum, or a tensor without elements where they are not known.
// Elements that are not finite are left out.
//
// The variance of an element is that of P roundings of the partial sums of a random order, a ring's, with
// Q = sum c_p^2 (T^2 where the partials are not known), each as wrong as it can be (data of few digits make
// many ties), and of two to `out`, one of them that of c; h is half the least subnormal of a format:
//   u_step^2 (Q + (P + 1) (Q / 6 + c^2 / 3)) + P h_step^2 + terms (f^2 u_acc^2 S^2 + P h_acc^2)
//     + 4 (u_out^2 c^2 + h_out^2)
// and the square of the drift that a truncating engine may have, ((1 + f u_acc)^terms - 1) S, and the
// variance that elements have in common. The first two terms are variance_of_sum, of q = Q and c2 = c^2. The
// mean of error^2 / variance exceeds 1 + 2 sqrt(x / n) + 2 x / n with a chance of at most exp(-x) (Laurent
// and Massart 2000, lemma 1; it holds for every error that is sub-Gaussian with that variance). Where
// elements of a class have errors in common n is g times smaller, for no eigenvalue of the errors'
// covariance, in units of their variance, is larger than g = 1 + the largest sum over a class of common /
// variance, of all lists of classes together (Hsu, Kakade and Zhang 2012, theorem 2.1). Of bias and slopes
// the sum of squares then has (sum of |w| common^(1/2))^2 of each class besides, the most that what is common
// gives a weighted sum.
Statistics statistics(const Reduction&, const Exact&, const Tensor& got, const Tensor& partials);
double variance_of_sum(const Reduction&, double q, double c2);

}  // namespace plumb
