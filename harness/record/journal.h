// A file of records, one JSON line each, of which nothing written is lost.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/record/origin.h"
#include "harness/record/record.h"

namespace plumb {

// The records of a file. A last line without its end (a run was killed) is not among them.
struct Records {
  std::vector<Record> records;
  std::vector<Origin> runs;     // that say where records come from; older files have none
  std::size_t whole_bytes = 0;  // up to the end of the last whole line
  bool torn = false;            // something follows it
};

// Throws BadInput with FILE:LINE where a line is not a record, or the file cannot be read.
Records read_records(const std::string& path);

// The last record of each key.
using ByKey = std::unordered_map<std::string, const Record*>;
ByKey by_key(const Records&);
const Record* recorded(const ByKey&, const std::string& line, const std::string& backend);  // null: none

// A record file that this run alone writes to. Appends; each line is with the kernel when append returns.
class Journal {
 public:
  // Takes the file's lock and reads what it has; a torn last line is cut off once something is appended. Throws
  // BadInput: it cannot be opened, another run writes to it, it holds something else.
  explicit Journal(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;

  // Throws std::system_error, after cutting off what was written of the line: the disk is full.
  void append(const Record&, std::string_view environment);  // which is JSON
  void append(const std::string& line);

  const Records& before() const { return before_; }  // what the file had

 private:
  std::string path_;
  int file_ = -1;
  bool torn_ = false;
  Records before_;
};

}  // namespace plumb
