// Where a program's temporary files lie.
#pragma once

#include <string>

namespace plumb {

// A new folder in TMPDIR or, where that has a long name or none, in /tmp; removed with all in it by this
// object, and with what its file `plumb-shared-memory` names in /dev/shm. Those of processes that were killed
// before they could are removed when the next one is made: nobody holds the lock of such a folder. Throws
// BadInput where TMPDIR is no folder in which one may write.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }  // "" where none could be made
  void remove();

 private:
  std::string path_;
  int lock_ = -1;
};

// What the first one of a process does.
void remove_left_behind();

}  // namespace plumb
