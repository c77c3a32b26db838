// The meshes of a line; private to the words room.
#pragma once

#include "reference/words/scan.h"

namespace plumb {

Mesh scan_mesh(Scan&);
void scan_ids(Scan&, Mesh&);

// "MESH [of MESH] [ids=...]:". A submesh that is its parent, axis for axis, says nothing.
void scan_meshes(Scan&, Case&);

}  // namespace plumb
