#include "adapters/rank/capabilities.h"

#include <algorithm>

#include "adapters/protocol/json.h"
#include "adapters/rank/moves.h"
#include "reference/words/dtype.h"

namespace plumb {

nlohmann::json what_ranks_can() {
  nlohmann::json dtypes = nlohmann::json::array(), sums = dtypes;
  for (const Format& f : formats()) {
    dtypes.push_back(f.name);
    if (f.dtype != DType::e8m0) sums.push_back(f.name);
  }
  return {
      {"ops",        {"reshard", "einsum", "grouped", "quantize"}},
      {"schemes",    {"fp8", "fp8e5", "mxfp8", "mxfp8e5"}        },
      {"dtypes",     dtypes                                      },
      {"max_rank",   kMostDims                                   },
      {"rules",      {"flat", "nested"}                          },
      {"reductions", {"sum", "avg", "max", "min"}                },
      {"submesh",    true                                        },
      {"acc",        sums                                        },
      {"wire",       sums                                        },
      {"tail",       "zero"                                      }
  };
}

double most_held_bytes(const Case& c) {
  double most = 0;
  for (const std::vector<Spec>& specs : {c.op.operands, c.op.chain})
    for (const Spec& spec : specs)
      most = std::max(most, static_cast<double>(devices(c.mesh)) *
                                static_cast<double>(largest_block_bytes(c.mesh, spec, c.rule)));
  return most;
}

}  // namespace plumb
