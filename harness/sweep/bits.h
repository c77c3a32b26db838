// Which bits of a result depend on the mesh.
#pragma once

#include <string>
#include <vector>

#include "harness/sweep/data.h"
#include "reference/words/tensor.h"

namespace plumb {

// The whole result of a case on one mesh, as a backend made it, and the digests of its data.
struct Made {
  std::string mesh;
  Digests data;
  Tensor result;
};

// One line for each mesh after the first, but none where all bits are the same. On other data nothing is
// compared.
//   the same bits on all 3 meshes
//   dp=4: 52 of 4096 elements have other bits than on dp=2
//   dp=8: not compared with dp=2, for its data are others
std::string bits_in_words(const std::vector<Made>&);

}  // namespace plumb
