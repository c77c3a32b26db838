#include "harness/backend/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <utility>

#include "reference/words/text.h"

namespace plumb {
namespace {

namespace fs = std::filesystem;

// A folder has the first name until it is locked, and then the second.
constexpr std::string_view unlocked = "plumb-made-", locked = "plumb-folder-";
constexpr std::size_t longest = 45;  // sockets lie in it, whose paths may have no more than 107 letters
constexpr time_t to_lock = 60;       // seconds that nobody needs for it

std::string place_of_folders() {
  const char* path = std::getenv("TMPDIR");
  if (!path || !*path) return "/tmp";
  if (::access((std::string(path) + "/.").c_str(), W_OK | X_OK) != 0)
    throw BadInput(fmt::format("TMPDIR={}: {}", path, strerror(errno)));
  return std::string(path).size() <= longest ? path : "/tmp";
}

// What it names of memory that is shared, a path on each line: whoever made that may be killed with it.
void remove_with_it(const fs::path& folder) {
  struct stat about = {};
  std::error_code none;
  std::ifstream named;
  if (const fs::path file = folder / "plumb-shared-memory";
      fs::is_regular_file(fs::symlink_status(file, none)))
    named.open(file);
  for (std::string path; std::getline(named, path);)
    if (fs::path(path).parent_path() == "/dev/shm" && ::lstat(path.c_str(), &about) == 0 &&
        S_ISREG(about.st_mode) && about.st_uid == ::geteuid())
      ::unlink(path.c_str());
  fs::remove_all(folder, none);
}

int open_folder(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

// Whether it is ours, and nobody's any more.
bool left_behind(const fs::path& path) {
  const std::string name = path.filename();
  const bool young = name.starts_with(unlocked);
  if (!young && !name.starts_with(locked)) return false;
  struct stat about = {};
  if (::lstat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != ::geteuid())
    return false;
  if (young && about.st_mtime + to_lock > ::time(nullptr)) return false;
  const int lock = open_folder(path);
  const bool free = lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0;
  if (lock >= 0) ::close(lock);
  return free;
}

}  // namespace

void remove_left_behind() {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(place_of_folders(), none))
    if (left_behind(entry.path())) remove_with_it(entry.path());
}

TemporaryFolder::TemporaryFolder() {
  static std::once_flag once;
  std::call_once(once, remove_left_behind);
  const std::string place = place_of_folders() + "/";
  std::string made = fmt::format("{}{}XXXXXX", place, unlocked);
  if (!::mkdtemp(made.data())) return;
  path_ = made;
  lock_ = open_folder(path_);
  if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0) return;
  std::string path = fmt::format("{}{}{}", place, locked, made.substr(made.size() - 6));
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) path_ = path;
}

TemporaryFolder::~TemporaryFolder() { remove(); }

void TemporaryFolder::remove() {
  if (!path_.empty()) remove_with_it(std::exchange(path_, ""));
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
}

}  // namespace plumb
