// The words of a resolve: its one array, whose dimensions have names, and its rules. Private to the words
// room.
//   first f32[1024'embed,4096'mlp,8'-] rules=embed:fsdp,mlp:(fsdp.tp),mlp:[],norm:-
#pragma once

#include "reference/words/scan.h"

namespace plumb {

Op scan_resolve(Scan&);
void put_resolve(std::string& text, const Op&);

}  // namespace plumb
