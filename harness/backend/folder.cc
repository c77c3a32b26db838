#include "harness/backend/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

namespace plumb {
namespace {

namespace fs = std::filesystem;

constexpr const char* prefix = "plumb-folder-";
constexpr std::size_t longest = 45;  // sockets lie in it, whose paths may have no more than 107 letters
constexpr time_t newest = 60;        // one of fewer seconds may not be locked yet

std::string place_of_folders() {
  const char* path = std::getenv("TMPDIR");
  return path && *path && std::string(path).size() <= longest ? path : "/tmp";
}

int open_folder(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

// Whether it is ours, and nobody's any more.
bool left_behind(const std::string& path) {
  struct stat about = {};
  if (::lstat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != ::geteuid())
    return false;
  if (about.st_mtime + newest > ::time(nullptr)) return false;
  const int lock = open_folder(path);
  const bool free = lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0;
  if (lock >= 0) ::close(lock);
  return free;
}

}  // namespace

void remove_left_behind() {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(place_of_folders(), none)) {
    const std::string path = entry.path();
    if (entry.path().filename().string().starts_with(prefix) && left_behind(path)) fs::remove_all(path, none);
  }
}

TemporaryFolder::TemporaryFolder() {
  static std::once_flag once;
  std::call_once(once, remove_left_behind);
  std::string path = place_of_folders() + "/" + prefix + "XXXXXX";
  if (!::mkdtemp(path.data())) return;
  path_ = path;
  lock_ = open_folder(path_);
  if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
}

TemporaryFolder::~TemporaryFolder() { remove(); }

void TemporaryFolder::remove() {
  std::error_code none;
  if (!path_.empty()) fs::remove_all(std::exchange(path_, ""), none);
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
}

}  // namespace plumb
