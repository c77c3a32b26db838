#include "harness/backend/rows.h"

namespace plumb {

const std::vector<BackendRow>& backend_rows() {
  static const std::vector<BackendRow> table = {
      {"local",
       "virtual devices with separate memories in one process",                     "plumb-local",
<<<<<<< HEAD
       "",                       {},
       {{"plan", {"direct", "ring"}, "direct"}}                               },
=======
       "",
       {},
       {{"plan", {"direct", "ring"}, "direct"}}},
>>>>>>> d8cc082 (torch: DTensor over real ranks or simulated ones; collectives that a group would merge, replica-safe)
      {"liar",
       "local with one fault, chosen by fault=NAME",                                "plumb-liar",
       "",                       {},
       {{"fault", {}, "", true, true}, {"plan", {"direct", "ring"}, "direct"}}},
      {"jax",
       "released JAX, on virtual CPU devices or GPUs",                              "",
       "adapters/jax/worker.py", {"0.10.2", "0.9.1"},
       {{"grad", {"lhs", "rhs"}, ""},
        {"hlo", {}, "", false},
        {"partitioner", {"shardy", "gspmd"}, "shardy"},
        {"platform", {"cpu", "gpu"}, ""},
<<<<<<< HEAD
        {"style", {"auto", "explicit", "shard_map"}, "auto"}}                 },
=======
        {"style", {"auto", "explicit", "shard_map"}, "auto"},
        {"trace", {"compiled", "partitioned"}, "compiled"}}},
>>>>>>> d8cc082 (torch: DTensor over real ranks or simulated ones; collectives that a group would merge, replica-safe)
      {"te",
       "rules of released Transformer Engine on virtual CPU devices, kernels ours", "",
       "adapters/te/worker.py",  {"2.20.2", "2.13.0"},
       {{"hlo", {}, "", false},
        {"partitioner", {"shardy", "gspmd"}, "shardy"},
        {"resources", {}, ""},
        {"style", {"live", "plan"}, "live"},
<<<<<<< HEAD
        {"via", {"gemm", "dense", "shard_map"}, "gemm"}}                      },
=======
        {"via", {"gemm", "dense"}, "gemm"}}},
      {"torch",
       "released torch: DTensor over real or simulated ranks",
       "",
       "adapters/torch/worker.py",
       {"2.15.0", "2.10.0"},
       {{"engine", {"gloo", "local", "nccl"}, "gloo"},
        {"flatten", {}, "none"},
        {"op", {"einsum", "mm", "linear"}, "einsum"},
        {"via", {"redistribute", "full_tensor", "distribute"}, "redistribute"}}},
>>>>>>> d8cc082 (torch: DTensor over real ranks or simulated ones; collectives that a group would merge, replica-safe)
  };
  return table;
}

}  // namespace plumb
