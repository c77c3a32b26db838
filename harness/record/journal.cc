#include "harness/record/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include "adapters/protocol/fields.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

bool regular(int file) {
  struct stat st;
  return fstat(file, &st) == 0 && S_ISREG(st.st_mode);
}

BadInput unreadable(const std::string& path) {
  return BadInput(fmt::format("{}: {}; expected a record, a file that plumb run or plumb bench --record makes", path,
                              std::strerror(errno)));
}

std::string contents(int file, const std::string& path) {
  std::string all;
  char buffer[1 << 16];
  for (off_t at = 0;;) {
    const ssize_t n = pread(file, buffer, sizeof buffer, at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw unreadable(path);
    if (n == 0) return all;
    all.append(buffer, n), at += n;
  }
}

// Whether it begins as each line does that a run writes, or is so little that it may. In a file that has no other line a few
// characters prove nothing.
bool begins_like_a_record(std::string_view line, bool alone) {
  constexpr std::string_view begins[] = {R"({"backend":")", R"({"backends":[")", R"({"ended":")"};
  return std::ranges::any_of(begins, [&](std::string_view begin) {
    return line.starts_with(begin) || (!alone && begin.starts_with(line));
  });
}

// What a run that was killed may have left at the end of a file: the beginning of a line of ours, which more text would make JSON.
// Anything else is somebody's, and is not cut off. Throws where it is no such line.
void refuse_what_no_run_left(std::string_view line, bool alone, const std::string& where) {
  if (begins_like_a_record(line, alone) && begins_json(line)) return;
  throw BadInput(fmt::format("{}: this line is not a record{}", where,
                             alone ? "" : ", nor the beginning of one, which a run that was killed leaves and the next cuts off: it "
                                          "stays as it is until somebody takes it away (sed -i '$d')"));
}

// A line is the key of its record, or a proof: its two modules.
void check_case(const std::string& line) {
  if (line.starts_with("prove ")) return;
  try {
    parse_case(line);
  } catch (const BadInput& error) {
    throw BadInput(fmt::format("its case '{:.150}' is none: {}", line, without_excerpt(error)));
  }
}

Records parse_records(const std::string& text, const std::string& path) {
  if (text.starts_with("\xFD" "7zXZ"))
    throw BadInput(fmt::format("{}: this is compressed; xz -dk '{}' makes the record", path, path));
  Records r;
  int number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = text.find('\n', at);
    if (end == text.npos) {
      r.torn = true;
      break;
    }
    try {
      const auto line = parse_json(std::string_view(text).substr(at, end - at));
      if (line.is_discarded()) throw BadInput("it is not JSON");
      if (take_origin(line, r.runs)) {
        r.whole_bytes = at = end + 1;
        continue;
      }
      r.records.push_back(record_from_json(line));
      check_case(r.records.back().line);
    } catch (const Malformed& error) {
      throw BadInput(fmt::format("{}:{}: this line is not a record: {}", path, number, error.what()));
    } catch (const BadInput& error) {
      const bool torn = begins_like_a_record(std::string_view(text).substr(at, end - at), true);
      throw BadInput(fmt::format("{}:{}: this line is not a record: {}{}", path, number, error.what(),
                                 torn ? fmt::format("; it begins like one: without it (sed -i {}d {}) "
                                                    "--resume judges its case again",
                                                    number, path)
                                      : ""));
    }
    r.whole_bytes = at = end + 1;
  }
  if (r.torn)
    refuse_what_no_run_left(std::string_view(text).substr(r.whole_bytes), r.whole_bytes == 0, fmt::format("{}:{}", path, number));
  return r;
}

}  // namespace

Records read_records(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw unreadable(path);
  try {
    Records r = parse_records(contents(file, path), path);
    close(file);
    return r;
  } catch (...) {
    close(file);
    throw;
  }
}

namespace {

// A run that was just killed may leave a child that has not become its backend yet and still holds the
// lock: it dies within moments.
bool locked(int file) {
  constexpr int tries = 50;
  for (int i = 0; i < tries; ++i) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  errno = EWOULDBLOCK;
  return false;
}

}  // namespace

ByKey by_key(const Records& records) {
  ByKey last;
  for (const Record& r : records.records) last[record_key(r.line, r.backend)] = &r;
  return last;
}

const Record* recorded(const ByKey& records, const std::string& line, const std::string& backend) {
  if (records.empty()) return nullptr;
  const auto at = records.find(record_key(line, backend));
  return at == records.end() ? nullptr : at->second;
}

Journal::Journal(const std::string& path) : path_(path) {
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) throw BadInput(fmt::format("{}: {}", path, std::strerror(errno)));
  try {
    if (!regular(file_)) return;
    if (!locked(file_))
      throw BadInput(
          fmt::format("{}: {}", path,
                      errno == EWOULDBLOCK ? "another run is writing to this record" : std::strerror(errno)));
    before_ = parse_records(contents(file_, path), path);
    torn_ = before_.torn;
  } catch (...) {
    close(file_);
    throw;
  }
}

Journal::~Journal() { close(file_); }

void Journal::append(const Record& record, std::string_view environment) {
  append(json_text(record, environment));
}

void Journal::append(const std::string& text) {
  if (torn_ && ftruncate(file_, static_cast<off_t>(before_.whole_bytes)) != 0)
    throw std::system_error(errno, std::generic_category(), path_);
  torn_ = false;
  const std::string line = text + '\n';
  const off_t before = lseek(file_, 0, SEEK_END);
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t n = write(file_, line.data() + at, line.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      // Where this fails the line stays torn, and the next run cuts it off.
      [[maybe_unused]] const int cut = at > 0 && regular(file_) ? ftruncate(file_, before) : 0;
      throw std::system_error(error, std::generic_category(), path_);
    }
    at += n;
  }
}

}  // namespace plumb
