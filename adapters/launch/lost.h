// Who died first, and who ended after it: whoever starts ranks ends the others then, at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "adapters/launch/hub.h"

namespace plumb::launch {

// Of connections, for their ends. Throws std::system_error, as does the next.
int new_watch();
void watch_end(const Hub&, int socket, std::size_t rank);

// Whose connections have ended since this was asked last, in the order in which they did.
std::vector<std::int64_t> new_ends(Hub&);

// Of the ranks that have ended and what they said before: who was struck, or died.
void find_lost(Hub&);

// "rank 2 (host b, pid 4121) has died, then 0, 1, 3"; "" where nobody did.
std::string who_died(const Hub&, const std::string& how = "has died");

// The same of ranks that were all started by one command. Where some have not joined any of these may have
// died, and the others for it: "rank 2 has not joined; rank 0 (host b, pid 4121) has ended, then 1, 3".
std::string who_ended(const Hub&);

// Whether some have joined, and others have not.
bool some_have_not_joined(const Hub&);

}  // namespace plumb::launch
