// A backend for tests: it gathers, and does what it is told wrong. Its arguments are pairs of a fault
// and its value:
//   hello PATCH | reply PATCH | table PATCH   a JSON patch on what it would send (table: its words)
//   say TEXT | before TEXT | after TEXT       a line instead of the reply, before it, after it
//   on SEED                                   the faults apply only to cases with this seed
//   print TEXT, die SIGNAL, exit CODE, close 1, child 1, daemon 1, long BYTES, lazy 1, truncate 1
//   leaves NAME                               a child in a session of its own, with no environment, deaf to
//   SIGTERM deaf 1, tidy FILE                         on SIGTERM: nothing; it writes the file and ends litter
//   1                                  a file in its folder for temporary files stop 1, spin 1 before the
//   reply, and for ever bare TEXT                                 among the replies, without a newline; then
//   it waits leave CODE                                it ends instead scribble 1, zero 1 a byte into the
//   operand; one of 0 into the reply shout 1                                   a child replies too base BYTES
//   took NS,NS  it times, and says that its two ranks took so long; "lag NS" the second enters so much later,
//   "late ITERATION" too late to an agreed time, "withholds ITERATION" says so where none was agreed, too, "apart 1" by another clock, "backwards 1" leaves before it enters, "clockless 1" says nothing,
//   "hurries SECONDS" each begins so long after the other, and it waits for none;
//   "cores LIST" both ranks run on these; "each SECONDS" a request takes so long for each iteration and warm-up; "late -1": every iteration;
//   "spoil first", "spoil last": that result is wrong; it has no "call", and sends as fast as "sends NS" says,
//   links as fast as "links NS" says;
//   "stale 1": a run brings the data of the case that it timed before; "unmoved 1": a run says that nothing moved
//   farewell TEXT   once its requests have ended, without a newline; then "dies-last SIGNAL", "exits-last CODE", "stays-last SECONDS"
//   "while FILE", "starts-while FILE": it does nothing, says no hello while there is that file
//   "once FILE": "late", "ends-in" and "ends-at" are those of the process alone that makes the file;
//   "ends-in LIMIT" it ends when it is asked for that limit; "ends-at N" in the Nth iteration of all, warm-ups among them
//   on every offset of the table's rows share ULPS                                the first device has the
//   operand, others so many ulps of it sleep SECONDS                             before the reply; "nap"
//   before hello alive TIMES                               that many messages a fifth of a second apart flood
//   TEXT                                that text before the reply, without a pause, for 5 seconds
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"

namespace {

using nlohmann::json;
using plumb::dump;
using plumb::parse_json;
using Faults = std::map<std::string, std::string>;

int descriptor(const char* name) { return std::atoi(std::getenv(name)); }

void say(const std::string& text) {
  const std::string line = text + "\n";
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t n = ::write(descriptor("PLUMB_REPLIES"), line.data() + at, line.size() - at);
    if (n <= 0) std::_Exit(9);
    at += static_cast<std::size_t>(n);
  }
}

void sleep_for(const std::string& seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(std::stod(seconds)));
}

void wait_while(const std::string& file) {
  while (::access(file.c_str(), F_OK) == 0) sleep_for("0.01");
}

// So many units in the last place of each f32.
std::string in_ulps(std::string data, float ulps) {
  for (std::size_t at = 0; at < data.size(); at += sizeof(float)) {
    float x;
    std::memcpy(&x, data.data() + at, sizeof x);
    x = ulps * (std::nextafter(x, std::copysign(HUGE_VALF, x)) - x);
    std::memcpy(data.data() + at, &x, sizeof x);
  }
  return data;
}

std::string operand_of(const json& request, std::fstream& arena) {
  const json& operand = request["operands"][0];
  std::string data(operand["bytes"].get<std::size_t>(), '\0');
  arena.seekg(operand["offset"].get<std::int64_t>()).read(data.data(), std::ssize(data));
  return data;
}

// Every device gets the whole operand; blocks, then the table, from `free` on. Where they are timed the table alone.
json gather(const json& request, std::string data, std::fstream& arena, const Faults& faults) {
  const json& operand = request["operands"][0];
  std::int64_t at = request["free"], devices = 1;
  for (const json& axis : request["case"]["mesh"]["axes"]) devices *= axis[1].get<std::int64_t>();
  json words = json::array();
  for (std::int64_t d = 0; d < devices; ++d, at += std::ssize(data)) {
    if (!faults.contains("lazy") && request["type"] != "bench")
      arena.seekp(at).write(data.data(), std::ssize(data));
    if (faults.contains("share") && d == 0) data = in_ulps(std::move(data), std::stof(faults.at("share")));
    const std::int64_t base = faults.contains("base") ? std::stoll(faults.at("base")) : 0;
    for (std::int64_t word : {d, std::int64_t{0}, at + base, static_cast<std::int64_t>(data.size())})
      words.push_back(word);
    words.push_back(operand["shape"].size());
    for (const json& size : operand["shape"])
      for (std::int64_t word : {std::int64_t{1}, std::int64_t{0}, size.get<std::int64_t>()})
        words.push_back(word);
  }
  if (request["type"] == "bench") at = request["free"];
  if (faults.contains("table")) words = words.patch(parse_json(faults.at("table")));
  const auto table = words.get<std::vector<std::int64_t>>();
  const auto bytes = static_cast<std::int64_t>(table.size() * sizeof table[0]);
  arena.seekp(at).write(reinterpret_cast<const char*>(table.data()), bytes);
  arena.flush();
  const json all = {
      {"kind",  "all-gather"},
      {"axes",  {"x"}       },
      {"in",    16          },
      {"out",   32          },
      {"moved", 32          }
  };
  return {
      {"type",     "result"                                             },
      {"id",       request["id"]                                        },
      {"table",    {{"offset", at}, {"rows", devices}, {"bytes", bytes}}},
      {"claims",   {request["case"]["chain"].back()["text"]}            },
      {"trace",    {all}                                                },
      {"times",    {{"compile", 0.5}, {"run", {0.25}}}                  },
      {"received", 32                                                   },
      {"notes",    {std::to_string(::getpid())}                         }
  };
}

void flood(const std::string& text) {
  std::string many;
  while (many.size() < 256 * 1024) many += text;
  ::fcntl(descriptor("PLUMB_REPLIES"), F_SETPIPE_SZ, 1 << 20);  // there is always something to read
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < end) {
    const ssize_t n = ::write(descriptor("PLUMB_REPLIES"), many.data(), many.size());
    if (n <= 0) std::_Exit(9);
    std::rotate(many.begin(), many.begin() + n % static_cast<ssize_t>(text.size()), many.end());
  }
}

[[noreturn]] void leave(const std::string& words) {
  ::setsid();
  const std::string script = "trap '' TERM; while :; do sleep 600; done; # " + words;
  char* const none[] = {nullptr};
  ::execle("/bin/sh", "sh", "-c", script.c_str(), nullptr, none);
  std::_Exit(9);
}

std::string tidied;  // the file
void tidy(int) { std::ofstream(tidied) << "tidy\n", std::_Exit(0); }

void litter() {
  const std::string folder = std::string(std::getenv("TMPDIR")) + "/litter";
  if (::mkdir(folder.c_str(), 0700) != 0) std::_Exit(9);
  std::ofstream(folder + "/file") << "litter\n";
}

void misbehave(const Faults& f, const json& request) {
  if (f.contains("deaf")) std::signal(SIGTERM, SIG_IGN);
  if (f.contains("tidy")) tidied = f.at("tidy"), std::signal(SIGTERM, tidy);
  if (f.contains("leaves") && ::fork() == 0) leave(f.at("leaves"));
  if (f.contains("litter")) litter();
  if (f.contains("print")) std::printf("%s\n", f.at("print").c_str()), std::fflush(stdout);
  if (f.contains("child") && ::fork() == 0) ::pause();
  if (f.contains("daemon") && ::fork() == 0) ::setsid(), ::fork(), ::pause();
  if (f.contains("die")) {
    std::signal(std::stoi(f.at("die")), SIG_DFL);  // a sanitizer would catch it and exit instead
    ::raise(std::stoi(f.at("die")));
  }
  if (f.contains("exit")) std::_Exit(std::stoi(f.at("exit")));
  if (f.contains("close")) ::close(descriptor("PLUMB_REPLIES")), ::pause();
  if (f.contains("before")) say(f.at("before"));
  for (int i = 0; f.contains("alive") && i < std::stoi(f.at("alive")); ++i)
    sleep_for("0.2"), say(dump(json{
                          {"type", "alive"      },
                          {"id",   request["id"]}
    }));
  if (f.contains("stop")) ::raise(SIGSTOP);
  while (f.contains("spin")) {
  }
  if (f.contains("bare")) {
    const std::string& text = f.at("bare");
    if (::write(descriptor("PLUMB_REPLIES"), text.data(), text.size()) < 0) std::_Exit(9);
    if (f.contains("leave")) std::_Exit(std::stoi(f.at("leave")));
    ::pause();
  }
  if (f.contains("sleep")) sleep_for(f.at("sleep"));
  if (f.contains("while")) wait_while(f.at("while"));
  if (f.contains("flood")) flood(f.at("flood"));
}

struct Timed {  // what it keeps of a case that it timed
  json request;
  std::string data;
};

void reply(const json& request, const std::string& path, const Faults& f, const Timed& kept) {
  misbehave(f, request);
  if (f.contains("truncate")) std::printf("truncate: %d\n", ::truncate(path.c_str(), 0)), std::fflush(stdout);
  std::fstream arena(path, std::ios::in | std::ios::out | std::ios::binary);
  const bool stale = f.contains("stale") && !kept.data.empty();
  json answer = gather(request, stale ? kept.data : operand_of(request, arena), arena, f);
  if (f.contains("unmoved")) answer["trace"] = json::array(), answer["received"] = 0;
  if (f.contains("scribble"))
    arena.seekp(request["operands"][0]["offset"].get<std::int64_t>() + 9).put('x').flush();
  if (f.contains("reply")) answer = answer.patch(parse_json(f.at("reply")));
  const std::string after = f.contains("after") ? "\n" + f.at("after") : "";
  std::string line = f.contains("say") ? f.at("say") : dump(answer);
  if (f.contains("zero")) line.insert(line.begin() + 9, '\0');
  if (f.contains("shout") && ::fork() == 0) say(line), std::_Exit(0);
  if (f.contains("long")) line.insert(line.find("\"notes\":[\"") + 10, std::stoul(f.at("long")), 'x');
  say(line + after);
}

std::vector<std::int64_t> numbers(const std::string& text) {
  std::vector<std::int64_t> all;
  for (std::size_t at = 0; at < text.size(); at = text.find(',', at) + 1) {
    all.push_back(std::stoll(text.substr(at)));
    if (text.find(',', at) == text.npos) break;
  }
  return all;
}

using Now = std::chrono::steady_clock;

// From the beginning of an iteration to that of the next.
std::chrono::nanoseconds each(const Faults& f) {
  for (const char* fault : {"hurries", "each"})
    if (f.contains(fault)) return std::chrono::nanoseconds(std::llround(1e9 * std::stod(f.at(fault))));
  return std::chrono::milliseconds(1);
}

// The clocks of two ranks, at `at`: every iteration of one takes as long, some hundredths more or less. So long it waits, since
// the request came, before it says so.
json clocks(std::int64_t iterations, std::int64_t at, std::fstream& arena, const Faults& f, Now::time_point begun) {
  const std::vector<std::int64_t> took = numbers(f.at("took"));
  std::vector<std::int64_t> words;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    words.push_back(7 + (f.contains("apart") ? rank : 0));
    for (std::int64_t i = 0; i < iterations; ++i) {
      const std::int64_t enter = 1000 + i * each(f).count() + (rank && f.contains("lag") ? std::stoll(f.at("lag")) : 0);
      const std::int64_t time = took[rank] + took[rank] * (i % 5) / 500;
      const auto is = [&](const char* what) {
        return f.contains(what) && (std::stoll(f.at(what)) == i || std::stoll(f.at(what)) < 0);
      };
      const bool late = rank && (is("late") || is("withholds"));
      words.push_back(late ? -1 : enter), words.push_back(late ? -1 : enter + (f.contains("backwards") ? -time : time));
    }
  }
  arena.seekp(at).write(reinterpret_cast<const char*>(words.data()), std::ssize(words) * 8).flush();
  if (!f.contains("hurries")) std::this_thread::sleep_until(begun + iterations * each(f));
  return {
      {"offset", at},
      {"ranks",  2 }
  };
}

// As long as its iterations are said to be.
void iterate(const json& request, const Faults& f) {
  static std::int64_t iterated = 0;
  const auto runs = request["iterations"].get<std::int64_t>() + request.value("warmups", std::int64_t{0});
  iterated += runs;
  if (f.contains("ends-at") && iterated >= std::stoll(f.at("ends-at"))) std::_Exit(3);
  if (f.contains("each")) std::this_thread::sleep_for(runs * each(f));
}

void reply_timed(const json& request, const std::string& path, const Faults& f, Timed& kept) {
  std::fstream arena(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::int64_t free = request["free"];
  const Now::time_point begun = Now::now();
  if (request["type"] == "bench") {
    misbehave(f, request), iterate(request, f);
    kept = {request, operand_of(request, arena)};
    json answer = gather(request, kept.data, arena, f);
    Faults of_clocks = f;
    if (request["sync"] != "window") of_clocks.erase("late");
    if (!f.contains("clockless"))
      answer["clock"] = clocks(request["iterations"], free + answer["table"]["bytes"].get<std::int64_t>(), arena, of_clocks, begun);
    if (f.contains("reply")) answer = answer.patch(parse_json(f.at("reply")));
    return say(dump(answer));
  }
  if (request["type"] == "limit") {
    if (f.contains("ends-in") && request["what"] == f.at("ends-in")) std::_Exit(3);
    const std::string what = request["what"];
    const std::string fault = what == "send" ? "sends" : what.starts_with("link") ? "links" : what;
    if (!f.contains(fault)) return say(dump({{"type", "unsupported"}, {"id", request["id"]}, {"reason", "no such limit"}}));
    iterate(request, f);
    const std::string ns = f.at(fault);
    Faults of_clocks{{"took", ns + "," + ns}};
    if (f.contains("each")) of_clocks["each"] = f.at("each");
    return say(dump({{"type", "timed"}, {"id", request["id"]},
                     {"clock", clocks(request["iterations"], free, arena, of_clocks, begun)}}));
  }
  json again = kept.request;
  again["type"] = "fetch", again["free"] = free, again["id"] = request["id"];
  const bool first = request.contains("first");
  if (f.contains("spoil") && (f.at("spoil") == "first") == first) kept.data[1] ^= 1;
  say(dump(gather(again, kept.data, arena, f)));
}

}  // namespace

int main(int argc, char** argv) {
  Faults faults;
  for (int i = 1; i + 1 < argc; i += 2) faults[argv[i]] = argv[i + 1];
  if (faults.contains("once")) {
    const bool there = ::access(faults["once"].c_str(), F_OK) == 0;
    if (there) faults.erase("late"), faults.erase("ends-in"), faults.erase("ends-at");
    const std::ofstream made(faults["once"]);
  }
  std::ifstream requests("/dev/fd/" + std::string(std::getenv("PLUMB_REQUESTS")));
  std::string path;
  Timed kept;
  for (std::string line; std::getline(requests, line);) {
    const json request = parse_json(line);
    if (request["type"] != "run" && request["type"] != "hello") {
      reply_timed(request, path, faults, kept);
      continue;
    }
    if (request["type"] == "run") {
      const bool on = !faults.contains("on") || request["case"]["seed"] == std::stoul(faults["on"]);
      reply(request, path, on ? faults : Faults{}, kept);
      continue;
    }
    path = request["arena"];
    json hello = {
        {"type",         "hello"                         },
        {"version",      1                               },
        {"name",         "fake"                          },
        {"versions",     {{"fake", "1"}}                 },
        {"devices",      {{"count", 2}, {"kind", "none"}}},
        {"capabilities", json::object()                  }
    };
    if (faults.contains("took")) hello["times"] = true;
    if (faults.contains("cores")) hello["places"] = {"0-1: host 0, cores " + faults["cores"]};
    if (faults.contains("nap")) sleep_for(faults["nap"]);
    if (faults.contains("starts-while")) wait_while(faults["starts-while"]);
    if (faults.contains("hello")) hello = hello.patch(parse_json(faults["hello"]));
    say(dump(hello));
  }
  if (faults.contains("farewell")) {
    const std::string& text = faults["farewell"];
    if (::write(descriptor("PLUMB_REPLIES"), text.data(), text.size()) < 0) std::_Exit(9);
  }
  if (faults.contains("dies-last")) {
    std::signal(std::stoi(faults["dies-last"]), SIG_DFL);
    ::raise(std::stoi(faults["dies-last"]));
  }
  if (faults.contains("stays-last")) sleep_for(faults["stays-last"]);
  if (faults.contains("exits-last")) std::_Exit(std::stoi(faults["exits-last"]));
}
