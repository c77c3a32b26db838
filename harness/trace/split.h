// Does the trace show other partial sums than those of the case?
#pragma once

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// Whether some sum is taken over devices whose partial sums the certificate does not know: along an axis
// that neither splits what is contracted nor holds parts of an operand, or along axes that together cut a
// contracted dimension where neither operand does. Moves show no sum; what is neither a move nor a
// reduction may be one, along any of its axes.
//   mk,kn->mn [m,k@x] [k@y,n]   reduced along x: no    along x.y: yes, in four where both cut in two
bool another_split(const Case&, const Trace&);

}  // namespace plumb
