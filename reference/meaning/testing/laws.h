// The laws of layouts, for tests. Each takes the function it judges, so that a test can hand it a
// wrong one and see it caught; the answer is what breaks the law, empty where nothing does.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "reference/meaning/meaning.h"

namespace plumb {

struct MeshSpec {
  Mesh mesh;
  Spec spec;
  Rule rule = Rule::flat;
};
std::string print(const MeshSpec&);

using BlockFunction = std::function<Slice(const Mesh&, const Spec&, Rule, std::int64_t device)>;
using ShardFunction = std::function<std::vector<Tensor>(const Mesh&, const Spec&, Rule, const Tensor&)>;

// Over the devices that agree on every axis that splits nothing, the blocks tile the array.
std::string breaks_tiling(const MeshSpec&, const BlockFunction&);

// A block is what is left of the list of all indices when it is cut into equal pieces, rounded up, and
// the piece of the device's coordinate is kept: at once (flat) or axis by axis (nested).
std::string breaks_cuts(const MeshSpec&, const BlockFunction&);

// Shard then assemble is the identity, and each block has the shape that block() says.
std::string breaks_round_trip(const MeshSpec&, const ShardFunction&);

// The parts over the unfinished axes: each is held, and by as many devices as any other.
std::string breaks_parts(const MeshSpec&);

// from -> by -> to gives what from -> to gives: the data of `by` are dealt out to the devices (an
// unfinished one as parts drawn from `random`), collected again, and go on.
struct Chain {
  Spec from, by, to;
};
std::string breaks_chain(const MeshSpec&, const Chain&, std::mt19937_64& random);

// Parts that make `whole`, their sum (wrapping) or the largest or smallest of them, or `whole` itself where
// the spec is finished.
Tensor deal(const MeshSpec&, const Tensor& whole, std::mt19937_64& random);

// Every mesh of one to `most` axes of sizes 2, 3 and 5, in every order.
std::vector<Mesh> small_meshes(int most);

// Shapes of a rank for a mesh: even for every spec, uneven, smaller than the mesh, and empty.
std::vector<std::vector<std::int64_t>> shapes_for(const Mesh&, int rank);

}  // namespace plumb
