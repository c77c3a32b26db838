// What the library says that it used: it tells whoever profiles it, and here that is this program.
#pragma once

#include <string>
#include <vector>

namespace plumb::nccl {

// Has to be asked for before the library is opened; from NCCL 2.26 on there are answers.
void ask_what_is_used();

// Of each kind of call since this was asked last, in words: "used: AllReduce RING SIMPLE, 4 channels".
std::vector<std::string> used_since_asked();

}  // namespace plumb::nccl
