#include "reference/hlo/run/run.h"

namespace plumb::hlo {

template Value<double> evaluate<Reals>(const Machine<Reals>&, const Computation&, std::vector<Value<double>>,
                                       const Active&);

}  // namespace plumb::hlo
