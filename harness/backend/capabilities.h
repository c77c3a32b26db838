// What a backend says of itself, and which cases are within it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/protocol/serve.h"
#include "reference/rounding/model.h"

namespace plumb {

// The types a backend keeps to where it sums. Absent: whatever the case asks for.
struct Promise {
  std::optional<std::vector<DType>> types;
  bool unspecified = false;  // it promises nothing: the bound judges where the type matters
};

// The dtypes of arrays by their role: an operand of a product is multiplied; any other array of a case that
// adds (of a product, of a reshard of unfinished sums) is summed; the rest is moved. Absent: all.
enum class Role : std::uint8_t { moved, summed, multiplied };
constexpr int dtype_roles = 3;
struct DTypes {
  std::array<std::optional<std::vector<DType>>, dtype_roles> of;
  bool by_role = false;  // the roles were named
};

struct Capabilities {
  std::optional<std::vector<std::string>> ops;
  DTypes dtypes;
  std::map<std::string, DTypes, std::less<>> dtypes_of;  // of an op, in the place of `dtypes`
  std::optional<std::int64_t> max_devices, max_rank;
  std::vector<Rule> rules = {Rule::flat};
  std::vector<std::string> reductions = {"sum"};  // what it makes of parts: sum, avg, max, min
  bool submesh = false;                           // runs a program over some axes of a mesh, in every slice
  Promise acc, wire;
  Engine engine = Engine::ieee;  // how it adds up products
  std::vector<Scheme> schemes;   // of quantize and of operands of products; none where absent
  bool tail_undefined = false;   // rows of a grouped result past the sum of the sizes
  bool parts_rounded =
      false;  // of an unfinished result: the sum of its parts is the wanted one only once rounded
  bool plans_only = false;  // data=none: claims and a trace, no blocks
  bool clones = false;      // blocks of replicas are copies of one result
  bool free = true;         // results whose layout is its choice
  bool chains = true;       // constraints before the result
  bool mesh_fixed = false;  // one process serves only meshes of as many devices as its first
};

struct Hello {
  std::string name;
  std::vector<std::pair<std::string, std::string>> versions;
  std::vector<std::string> places;      // where its ranks run: "0-3: host 0, cores 0-1"
  std::optional<std::int64_t> devices;  // how many it has
  std::string device_kind;
  bool alone = false;  // it holds what another of it would need: devices, ranks
  bool fills = false;  // it makes operands itself and proves results where they lie
  bool times = false;  // its ranks time a case, and keep the first result and the last
  Capabilities capabilities;
};

// Throws Malformed.
Hello hello_from_json(const nlohmann::json&);

// Why a case is outside the capabilities; nothing where it is within.
std::optional<Unsupported> outside(const Capabilities&, const Case&);

// Where no max_devices says more: a case on more devices than the program said it has. One that moves no data
// needs none.
std::optional<Unsupported> more_than_it_has(const Hello&, const Case&);

// Whether flat and nested differ in any block of any spec of the case.
bool rule_matters(const Case&);

}  // namespace plumb
