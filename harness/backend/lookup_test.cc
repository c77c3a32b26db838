#include "harness/backend/lookup.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness/backend/place.h"
#include "harness/backend/spelling.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Pair;
namespace fs = std::filesystem;

// A folder of environments, and the two programs of this project beside the test.
class Resolve : public testing::Test {
 protected:
  fs::path home = fs::path(testing::TempDir()) / ("plumb_home." + std::to_string(::getpid()));
  fs::path beside = fs::read_symlink("/proc/self/exe").parent_path();
  std::vector<fs::path> planted;
  int alone = -1;  // other processes of this program plant the same files

  void SetUp() override {
    alone = ::open((beside / "planted.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    ASSERT_EQ(::flock(alone, LOCK_EX), 0);
    ::setenv("PLUMB_HOME", home.c_str(), 1);
    for (const char* release : {"0.9.1", "0.10.2rc1", "0.10.2"}) environment(release);
    for (const char* name : {"plumb-local", "plumb-launch", "plumb-mpi", "python3"})
      if (!fs::exists(beside / name)) program(planted.emplace_back(beside / name));
  }
  void TearDown() override {
    fs::remove_all(home);
    for (const fs::path& path : planted) fs::remove(path);
    ::unsetenv("PLUMB_HOME");
    ::close(alone);
  }
  static void program(const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, fs::perms::owner_all);
  }
  void environment(const std::string& release) {
    program(home / "env" / ("jax@" + release) / "bin" / "python");
    std::ofstream(home / "env" / ("jax@" + release) / "plumbline") << "jax==" << release << "\n";
  }
};

TEST_F(Resolve, ANameIsMadeCanonical) {
  const struct {
    const char *text, *name;
  } table[] = {
      {"local",                                      "local"                                     },
      {"local,plan=direct",                          "local"                                     },
      {"local,plan=ring",                            "local,plan=ring"                           },
      {"jax@0.9.1",                                  "jax@0.9.1"                                 },
      {"jax",                                        "jax@0.10.2"                                }, // the newest: not 0.9.1
      {"jax@0.9.1,style=explicit,partitioner=gspmd", "jax@0.9.1,partitioner=gspmd,style=explicit"},
      {"jax@0.9.1,style=auto,partitioner=shardy",    "jax@0.9.1"                                 },
      {"jax@0.9.1,hlo=/tmp/dumps",                   "jax@0.9.1"                                 }, // a slash after the comma is no command
      {"/bin/sh -c 'exit 3'",                        "/bin/sh -c 'exit 3'"                       },
  };
  for (const auto& row : table) EXPECT_EQ(find_backend(row.text).name, row.name);
}

TEST_F(Resolve, AWorkerIsRunByTheInterpreterOfItsRelease) {
  const Command jax = find_backend("jax@0.9.1,partitioner=gspmd,hlo=dumps");
  EXPECT_THAT(jax.argv,
              ElementsAre(EndsWith("env/jax@0.9.1/bin/python"), "-I", EndsWith("adapters/jax/worker.py")));
  EXPECT_TRUE(fs::exists(jax.argv[2]));
  EXPECT_THAT(jax.options, ElementsAre(Pair("hlo", "dumps"), Pair("partitioner", "gspmd")));
  EXPECT_THAT(find_backend("local").argv, ElementsAre(EndsWith("/plumb-local")));
  EXPECT_THAT(find_backend("/bin/sh -c 'exit 3'").argv, ElementsAre("/bin/sh", "-c", "exit 3"));
  EXPECT_EQ(find_backend("/bin/sh -c 'exit 3'").grace, 5);
  EXPECT_EQ(find_backend("local").grace, 0);
}

TEST_F(Resolve, HereIsThePythonBesideTheTool) {
  try {
    find_backend("jax@here");
    ADD_FAILURE();
  } catch (const BadInput& e) {
    EXPECT_THAT(e.what(), HasSubstr("jax@here: " + (beside / "python3").string() + " has no jax"));
  }
  std::ofstream(beside / "python3") << "#!/bin/sh\necho jax 0.9.9\n";
  const Command jax = find_backend("jax@here,style=explicit");
  EXPECT_EQ(jax.name, "jax@0.9.9,style=explicit");
  EXPECT_EQ(jax.asked, "jax@here,style=explicit");
  EXPECT_THAT(jax.argv, ElementsAre((beside / "python3").string(), "-I", EndsWith("adapters/jax/worker.py")));
  EXPECT_EQ(find_backend("jax").name, "jax@0.10.2") << "environments come first";
  fs::remove_all(home);
  EXPECT_EQ(find_backend("jax").asked, "jax@here");
  const std::vector<Known> known = known_backends();
  const auto at = std::ranges::find(known, "jax@here", &Known::name);
  ASSERT_NE(at, known.end());
  EXPECT_EQ(at->what, "0.9.9 of " + (beside / "python3").string());
  EXPECT_EQ(std::ranges::count(known, "te@here", &Known::name), 0);
}

TEST_F(Resolve, ACommandTakesOptionsBehindItsFile) {
  const fs::path script = home / "mine.py", comma = home / "a,b=c";
  program(script), program(comma);
  const std::string mine = script.string();
  const struct {
    std::string text;
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> options;
  } table[] = {
      {mine + ",plan=ring",                       {mine},                        {{"plan", "ring"}}},
      {mine + ",plan=ring,wire=b.f --flag x,y=z",
       {mine, "--flag", "x,y=z"},
       {{"plan", "ring"}, {"wire", "b.f"}}                                                         },
      {"/bin/sh " + mine + ",plan=a=b",           {"/bin/sh", mine},             {{"plan", "a=b"}} },
      {mine + " --mesh dp=2,tp=4",                {mine, "--mesh", "dp=2,tp=4"}, {}                },
      {"/bin/sh -c 'x,y=z'",                      {"/bin/sh", "-c", "x,y=z"},    {}                },
      {comma.string() + " 1",                     {comma.string(), "1"},         {}                },
  };
  for (const auto& row : table) {
    const Command command = find_backend(row.text);
    EXPECT_EQ(command.argv, row.argv) << row.text;
    EXPECT_EQ(command.options, row.options) << row.text;
    EXPECT_EQ(command.name, row.text);
    EXPECT_EQ(command.asked, row.text);
  }
}

TEST_F(Resolve, ABadNameSaysWhatToDo) {
  fs::remove(home / "env" / "jax@0.10.2" / "plumbline");  // not whole
  const struct {
    const char *text, *message;
  } table[] = {
      {"locla",                       "no backend 'locla'; did you mean local?"                              },
      {"tensorflow",
       "no backend 'tensorflow'; there are cuda, liar, local, mpi, nccl, flax, jax, maxtext, te, torch (a "
       "command "
       "has a "
       "slash "
       "or a space in it)"                                                                                   },
      {"nosuch",                      "no backend 'nosuch'; there are cuda, liar, local"                     },
      {"tocrh",                       "no backend 'tocrh'; did you mean torch?"                              },
      {"",                            "no backend ''; there are"                                             },
      {"local@1",                     "local has no releases"                                                },
      {"local,plan=rign",             "no plan 'rign'; did you mean ring?"                                   },
      {"local,plan=",                 "expected option=value"                                                },
      {"local,,plan=ring",            "expected option=value"                                                },
      {"local,plan=ring,plan=ring",   "plan stands twice"                                                    },
      {"local,pl=ring",               "local has no option 'pl'"                                             },
      {"jax@",                        "expected a release after '@'"                                         },
      {"jax@0.9.1,partitoner=gspmd",  "jax has no option 'partitoner'; did you mean partitioner?"            },
      {"te,resources=fsdp",           "resources: expected NAME:AXIS or NAME:AXIS.AXIS, as in"               },
      {"te,resources=fsdp:",          "resources: expected NAME:AXIS"                                        },
      {"te,resources=fsdp:a./tp:b",   "resources: expected NAME:AXIS"                                        },
      {"te,resources=:a",             "resources: expected NAME:AXIS"                                        },
      {"te,resources=tp:a//fsdp:b",   "resources: expected NAME:AXIS"                                        },
      {"jax@0.9.7",                   "jax@0.9.7 is not here; it comes with: scripts/environment jax@0.9.7"  },
      {"jax@0.10.2",                  "jax@0.10.2 is not here; it comes with: scripts/environment jax@0.10.2"},
      {"liar",                        "liar needs fault=... or times=..."                                    },
      {"./no-such-program --flag",    "no program './no-such-program'"                                       },
      {"no-such-program --flag",      "no program 'no-such-program'"                                         },
      {"./no-such-program,plan=ring", "no program './no-such-program'"                                       },
      {"/bin/sh,plan",                "expected option=value\n  /bin/sh,plan\n          ^"                   },
      {"/bin/sh,p=1,p=2",             "p stands twice\n  /bin/sh,p=1,p=2\n              ^"                   },
      {"./mine 'oh",                  "this quote is not closed"                                             },
      {"  ",                          "the command of the backend is empty"                                  },
  };
  for (const auto& row : table) {
    try {
      find_backend(row.text);
      ADD_FAILURE() << row.text;
    } catch (const BadInput& e) {
      EXPECT_THAT(e.what(), HasSubstr(row.message)) << row.text;
    }
  }
}

TEST_F(Resolve, WhoStartsRanksIsSaidByTheOptionOrForAllOrByTheRow) {
  const auto launcher = [](const char* text) {
    const std::vector<std::string> argv = find_backend(text).argv;
    const auto at = std::ranges::find(argv, "--launcher");
    return at == argv.end() ? "" : at[1];
  };
  ::unsetenv("PLUMB_LAUNCHER");
  EXPECT_EQ(launcher("mpi"), "mpiexec");
  EXPECT_EQ(launcher("mpi,launcher=srun"), "srun");
  ::setenv("PLUMB_LAUNCHER", "flux", 1);
  EXPECT_EQ(launcher("mpi"), "");  // plumb-launch knows it
  EXPECT_EQ(launcher("mpi,launcher=mpiexec"), "mpiexec");
  ::unsetenv("PLUMB_LAUNCHER");
  EXPECT_EQ(launcher("mpi,np=1,launcher=own"), "own");
  for (const char* everywhere : {"", "own"}) {
    ::setenv("PLUMB_LAUNCHER", everywhere, 1);
    try {
      find_backend(*everywhere ? "mpi,np=4" : "mpi,np=4,launcher=own");
      ADD_FAILURE();
    } catch (const BadInput& e) {
      EXPECT_THAT(e.what(), HasSubstr("mpi: launcher own starts its ranks as worlds of one each"));
    }
  }
  ::unsetenv("PLUMB_LAUNCHER");
  EXPECT_EQ(find_backend("mpi,np=4,launcher=srun").name, "mpi,np=4");
  EXPECT_EQ(find_backend("mpi,np=4,launcher=srun").asked, "mpi,launcher=srun,np=4");
}

TEST_F(Resolve, KnownBackendsSayWhatMendsThem) {
  fs::remove(home / "env" / "jax@0.9.1" / "bin" / "python");
  std::vector<std::string> shown;
  for (const Known& k : known_backends())
    if (k.name.starts_with("local") || k.name.starts_with("jax"))
      shown.push_back(k.name + (k.available ? "" : ": " + k.mend));
  EXPECT_THAT(
      shown, ElementsAre("local", "jax@0.10.2", "jax@0.10.2rc1", "jax@0.9.1: scripts/environment jax@0.9.1"));
}

// What the file of a backend may not be, and what is said of it.
TEST(Rows, SayWhatIsWrongInAFile) {
  const struct {
    const char *text, *message;
  } table[] = {
      {"",                                                         "adapters/mine/backend.json: expected a JSON object"         },
      {"[]",                                                       "expected a JSON object"                                     },
      {R"({"whta":"w"})",                                          "nothing is called \"whta\""                                 },
      {R"({"what":1})",                                            "expected a string in \"what\""                              },
      {R"({"what":"w","mend":"m"})",                               "expected a program or a worker"                             },
      {R"({"program":"p","worker":"w"})",                          "expected a program or a worker"                             },
      {R"({"program":"p","what":"w"})",                            "expected what it is and what mends it"                      },
      {R"({"worker":"p","what":"w","mend":"m"})",
       "a worker has releases and a distribution, and a program none"                                                           },
      {R"({"worker":"p","what":"w","mend":"m","releases":["1"]})",
       "a worker has releases and a distribution"                                                                               },
      {R"({"releases":"1.0"})",                                    "expected a list of strings in \"releases\""                 },
      {R"({"grace":-1})",                                          "expected a number that is not negative in \"grace\""        },
      {R"({"options":[]})",                                        "expected an object in \"options\""                          },
      {R"({"options":{"plan":{"value":{}}}})",                     "expected values, help, default, names, needed, map or lifts"},
      {R"({"options":{"plan":{"values":["direct"]}}})",            "expected an object in \"values\""                           },
      {R"({"options":{"plan":{"names":"yes"}}})",                  "expected true or false in \"names\""                        },
  };
  for (const auto& row : table) {
    try {
      backend_row("mine", row.text);
      ADD_FAILURE() << row.text;
    } catch (const BadInput& e) {
      EXPECT_THAT(e.what(), HasSubstr(row.message)) << row.text;
    }
  }
}

TEST(Rows, AnOptionLiftsTheReasonsThatItsFileSays) {
  const BackendRow row = backend_row("mine", R"({"program":"p","what":"w","mend":"m","options":{
      "plan":{"values":{"direct":"","ring":""},"lifts":{"ring":["no ring","not round"]}},"dump":{"help":"a folder"}}})");
  EXPECT_EQ(lifted_by(row, "not round"), "plan=ring");
  EXPECT_EQ(lifted_by(row, "not round (mine 1.0: ValueError: round)"), "plan=ring");
  EXPECT_EQ(lifted_by(row, "not round at all"), "");
  EXPECT_EQ(lifted_by(row, "not"), "");
}

// A reason that an option lifts is one that a source of its backend says.
TEST(Rows, ReasonsThatOptionsLiftAreSaidBesideThem) {
  for (const BackendRow& row : backend_rows()) {
    std::string said;
    for (const auto& entry :
         fs::directory_iterator(fs::path(own_file("adapters/" + row.name + "/backend.json")).parent_path()))
      if (const fs::path of = entry.path().extension(); of == ".py" || of == ".cc" || of == ".cuh") {
        std::ifstream in(entry.path());
        said += std::string(std::istreambuf_iterator<char>(in), {});
      }
    for (const BackendOption& o : row.options)
      for (const auto& [value, reasons] : o.lifts) {
        EXPECT_THAT(value_names(o), testing::Contains(value)) << row.name;
        for (const std::string& reason : reasons)
          EXPECT_THAT(said, HasSubstr('"' + reason + '"')) << row.name;
      }
  }
}

TEST(Words, AreSplitAsAShellWould) {
  EXPECT_THAT(split_words("  ./a  b\tc "), ElementsAre("./a", "b", "c"));
  EXPECT_THAT(split_words(R"(./a 'b c' "d 'e" f\ g h'i'j '')"),
              ElementsAre("./a", "b c", "d 'e", "f g", "hij", ""));
}

}  // namespace
}  // namespace plumb
