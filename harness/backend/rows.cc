#include "harness/backend/rows.h"

namespace plumb {

// clang-format off
const std::vector<BackendRow>& backend_rows() {
  static const std::vector<BackendRow> table = {
      {"local", "virtual devices with separate memories in one process",
       "plumb-local", "", {},
       {{"plan", {"direct", "ring"}, "direct"}}},
      {"liar", "local with one fault, chosen by fault=NAME",
       "plumb-liar", "", {},
       {{"fault", {}, "", true, true},
        {"plan", {"direct", "ring"}, "direct"}}},
      {"jax", "released JAX, on virtual CPU devices or GPUs",
       "", "adapters/jax/worker.py", {"0.10.2", "0.9.1"},
       {{"grad", {"lhs", "rhs"}, ""},
        {"hlo", {}, "", false},
        {"partitioner", {"shardy", "gspmd"}, "shardy"},
        {"platform", {"cpu", "gpu"}, ""},
        {"style", {"auto", "explicit", "shard_map"}, "auto"},
        {"trace", {"compiled", "partitioned"}, "compiled"}}},
      {"te", "rules of released Transformer Engine on virtual CPU devices, kernels ours",
       "", "adapters/te/worker.py", {"2.20.2", "2.13.0"},
       {{"hlo", {}, "", false},
        {"partitioner", {"shardy", "gspmd"}, "shardy"},
        {"resources", {}, "", true, false, true},
        {"style", {"live", "plan"}, "live"},
        {"via", {"gemm", "dense", "shard_map"}, "gemm"}}},
      {"torch", "released torch: DTensor over real or simulated ranks",
       "", "adapters/torch/worker.py", {"2.15.0", "2.10.0"},
       {{"engine", {"gloo", "local", "nccl"}, "gloo"},
        {"flatten", {}, "none"},
        {"grad", {"lhs", "rhs"}, ""},
        {"op", {"einsum", "mm", "linear"}, "einsum"},
        {"via", {"redistribute", "full_tensor", "distribute"}, "redistribute"}}},
      {"flax", "logical axis rules of released Flax, both its families of resolvers",
       "", "adapters/flax/worker.py", {"0.12.8"},
       {{"names", {"tuple", "list"}, "tuple"},
        {"resolver",
         {"logical_to_mesh_axes", "logical_to_mesh_sharding", "with_logical_constraint", "from_sharding_rules",
          "get_pspec", "get_var_pspec", "get_named_sharding", "get_abstract_model", "Param"},
         "logical_to_mesh_axes"},
        {"rules", {"argument", "context", "both"}, "argument"}}},
      {"maxtext", "logical axis rules of released MaxText",
       "", "adapters/maxtext/worker.py", {"0.2.5", "0.2.4", "0.2.3"},
       {{"names", {"tuple", "list"}, "tuple"},
        {"resolver", {"nnx", "logical_to_mesh_axes", "create_sharding", "logical_to_mesh_sharding"}, "nnx"},
        {"rules", {"context", "argument", "both"}, "context"}}},
  };
  return table;
}
// clang-format on

}  // namespace plumb
