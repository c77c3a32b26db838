#include "adapters/rank/capabilities.h"

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

}  // namespace plumb
