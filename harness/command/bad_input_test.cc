// What the tool says to bad input, and what it returns: one table.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <algorithm>

#include "harness/command/testing/tool.h"

namespace plumb {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

struct Bad {
  const char *arguments, *input, *message;
  int code;
};

// The files these rows name are made below.
// clang-format off
const Bad table[] = {
    // lines
    {"run 'on x=2: reshard f32[8@q] -> f32[8]'",        "", "the mesh has no axis 'q'",                     2},
    {"run 'on x=2: reshard f32[8@x] -> f32[9]'",        "", "a reshard keeps its shape\n  on x=2: reshard f32[8@x] -> f32[9]\n                                  ^", 2},
    {"run 'on x=2: reshrad f32[8@x] -> f32[8]'",        "", "expected reshard, einsum, grouped, quantize or resolve", 2},
    {"run 'on x=2: reshard f32[8@x]* -> f32[8]'",       "", "a spec with a star names no axes",             2},
    {"run 'on x=2|: reshard f32[8@x] -> f32[8]'",       "", "expected a size\n  on x=2|: reshard f32[8@x] -> f32[8]\n         ^\n", 2},
    {"run 'sample 0: on x=2: reshard f32[8]* -> f32[8]'", "", "at least one case",                          2},
    {"run 'sample x: on x=2: reshard f32[8]* -> f32[8]'", "", "expected how many cases",                    2},
    {"run hello",                                       "", "expected 'on '",                               2},
    {"explain 'on x=0: reshard f32[8] -> f32[8]'",      "", "an axis has at least one device",              2},
    {"run ''",                                          "", "expected 'on '",                               2},
    {"run '-on x=2: reshard f32[8@x] -> f32[8]'",       "", "plumb: expected a case, which begins with 'on ', or an option\n  -on x=2", 2},
    {"explain",                                         "", "plumb: case is required",                      2},
    // what users of other systems write, and what a shell makes of a line without quotes
    {"run 'on x=2: all-gather f32[8@x] -> f32[8]'",     "", "; an all-gather is reshard f32[8@x] -> f32[8]\n  on x=2: all-gather f32[8@x] -> f32[8]\n          ^\n", 2},
    {"run 'on x=2: reduce_scatter f32[8]'",             "", "; a reduce-scatter is reshard f32[8]+x -> f32[8@x]\n", 2},
    {"explain 'on x=2: matmul f32[8,8] f32[8,8] -> f32[8,8]'", "", "; a product is einsum mk,kn->mn f32[8,8@x] f32[8@x,8] -> f32[8,8]\n", 2},
    {"run 'on x=2: reshard * -> *'",                    "", "; a star stands behind an array: f32[8,8]* is every layout of it\n  on x=2: reshard * -> *\n                  ^\n", 2},
    {"run 'on x=2: reshard float32[8@x] -> f32[8]'",    "", "; float32 is written f32\n  on x=2: reshard float32[8@x]", 2},
    {"run 'on x=2: reshard f32[8]+x -> f32[8] acc=bfloat16'", "", "; bfloat16 is written bf16\n",             2},
    {"explain \"on x=2: reshard P('x', None) -> f32[8,8]\"", "", "; axes are written into the shape: P('x', None) of an f32[8,8] is f32[8@x,8]\n", 2},
    {"explain \"PartitionSpec('x', None)\"",            "", "expected 'on ' and a mesh; axes are written into the shape", 2},
    {"run 'on x=2: reshard f32[N@x] -> f32[N]'",        "", "; one that is left open is given beside the line: --size N=4096\n  on x=2: reshard f32[N@x]", 2},
    {"run 'reshard f32[8@x] -> f32[8]'",                "", "a case begins with its mesh: on x=2: reshard ...\n  reshard f32[8@x]", 2},
    {"run on x=2: reshard f32[8@x] '->' f32[8]",        "", "plumb: a case is one argument, in quotes: 'on x=2: reshard f32[8@x] -> f32[8]'\n", 2},
    {"run on x=2: reshard f32[8@x] -",                  "", "in quotes: 'on x=2: reshard f32[8@x] -> ...'\n", 2},
    {"run --suite smok",                                "", "there is no suite 'smok'; did you mean smoke?\n  smok\n  ^\n", 2},
    {"run --suite 'smo*'",                              "", "a suite is named whole, and --suite may repeat: --suite smoke --suite reshard\n  smo*\n     ^\n", 2},
    {"rnu --suite smoke",                               "", "; did you mean run?",                           2},
    {"help nothing",                                    "", "there is no subcommand 'nothing'",              2},
    {"explain 'on x=2: reshard f32[8]* -> f32[8]'",     "", "one case is expected, and these are many: plumb list shows them\n  on x=2: reshard f32[8]* -> f32[8]\n                        ^", 2},
    {"explain 'on x=2|4: reshard f32[8] -> f32[8]'",    "", "one case is expected",                         2},
    // patterns: the caret is under the line that it is about, and the file's line follows
    {"run 'on x=2,y=2: reshard f32[8]* -> f32[8@y]*'",  "", "a spec with a star names no axes\n  on x=2,y=2: reshard f32[8]* -> f32[8@y]*\n                                         ^\n", 2},
    {"run 'on x=2: reshard f32[8]* -> f32[9]*'",        "", "a reshard keeps its shape\n  on x=2: reshard f32[8] -> f32[9]\n                                ^\n  one of the cases of\n  on x=2: reshard f32[8]* -> f32[9]*\n", 2},
    {"run 'on x=2|3,y=4|4: reshard f32[8] -> f32[8]'",  "", "this size stands twice\n  on x=2,y=4|4: reshard f32[8] -> f32[8]\n             ^\n  one of the cases of\n  on x=2|3,y=4|4: reshard", 2},
    {"run --cases patterns.cases",                      "", "patterns.cases:2: the mesh has no axis 'q', only x\n  on x=2: reshard f32[8@q] -> f32[8]\n                        ^\n  one of the cases of\n  on x=2|3: reshard f32[8@q]* -> f32[8]\n", 2},
    // sizes
    {"run 'on x=2: reshard f32[9999999999999@x] -> f32[9999999999999]'", "", "this case would hold",        2},
    {"run 'on x=16384: reshard f32[16777216@x] -> f32[16777216]'", "", "this case would hold 2 TiB, more than", 2},
    {"run 'on x=2: reshard f32[4611686018427387904] -> f32[4611686018427387904@x]'", "", "2^62 bytes",      2},
    {"run 'on x=99999999: reshard f32[8@x] -> f32[8]'", "", "more than 16777216 devices",                   2},
    {"run 'on a=2,b=2,c=2,d=2,e=2: einsum mk,kn->mn f32[8,8]+* f32[8,8]+* -> f32[8,8]+*'", "", "take a --sample of them", 2},
    {"run 'on a=2,b=2,c=2,d=2,e=2,f=2,g=2: einsum mk,kn->mn f32[8,8]+* f32[8,8]+* -> f32[8,8]+*'", "", "more than 2^40 cases", 2},
    {"run 'on a=2,b=2,c=2,d=2,e=2,f=2,g=2,h=2: reshard f32[8,8]+* -> f32[8,8]+*'", "", "too many to list", 2},
    // where cases come from
    {"run",                                             "", "no cases",                                     2},
    {"run --suite nope",                                "", "there is no suite 'nope', only",               2},
    {"run --suite reshard:2xx",                         "", "expected up to six sizes",                     2},
    {"run --suite scale:2x2",                           "", "no patterns to put on another mesh",           2},
    {"run --cases missing.cases",                       "", "missing.cases: No such file or directory; expected a file of cases, one a line", 2},
    {"run --cases .",                                   "", ".: Is a directory; expected a file of cases",  2},
    {"run --dry-run --suite smoke --sampel 3",          "", "did you mean --sample?",                       2},
    {"run --dry-run --suite smoke --waivers text.txt",  "", "text.txt:1: expected ': '",                    2},
    {"run --dry-run --suite smoke --where op=resolve",  "", "no case is selected",                          2},
    {"bench --dry-run --suite smoke --require fast",  "", "--require: ",                                  2},
    {"bench --dry-run --suite smoke --sync window --warmups 0", "", "--warmups is at least 1",              2},
    {"run --cases bad.cases",                           "", "bad.cases:3: the mesh has no axis 'y'",        2},
    {"run --cases -",                                   "# one\non x=2 reshard\n", "standard input:2: expected", 2},
    {"run --cases -",                                   "", "no cases",                                     2},
    {"run --cases long.cases",                          "", "long.cases:2: a line of 16777217 bytes, and at most 16 MiB are read", 2},
    {"run --cases ''",                                  "", "--cases: expected the name of a file",         2},
    {"run --suite ''",                                  "", "--suite: expected the name of a suite",        2},
    {"run --cases /dev/zero",                           "", "/dev/zero: longer than 256 MiB",               2},
    {"run --suite smoke --waivers /dev/zero",           "", "/dev/zero: longer than 256 MiB",               2},
    // modules of HLO
    {"prove",                                           "", "PATHS is required",                            2},
    {"prove missing",                                   "", "missing: no folder of dumps",                  2},
    {"prove .",                                         "", "after the partitioner; compile with XLA_FLAGS", 2},
    {"prove bad.cases bad.cases",                       "", "bad.cases:1:1: no HLO",                        2},
    {"prove missing.txt missing.txt",                   "", "missing.txt: No such file",                    2},
    // conditions
    {"run --suite smoke --where colour=red",            "", "there is no key 'colour', only op,",           2},
    {"run --suite smoke --where op",                    "", "expected KEY and one of",                      2},
    {"run --suite smoke --where 'devices=two'",         "", "devices is a number",                          2},
    {"run --suite smoke --where 'op<einsum'",           "", "op is a word",                                 2},
    {"run --suite smoke --where is=odd",                "", "is= knows uneven",                             2},
    {"run --suite smoke --where status=bad",            "", "there is no status 'bad'",                     2},
    {"run --suite smoke --where status=wrong",          "", "name it with --record or --against",           2},
    {"run --suite smoke --where status=wrong --dry-run", "", "name it with --record or --against",          2},
    {"bench --suite smoke --where status=wrong",        "", "plumb bench looks into no verdicts",           2},
    {"run --suite smoke --where \"text~'f32\"",         "", "this quote is not closed",                     2},
    {"run --suite smoke --where devices=77",            "", "no case is selected, nothing was run",         2},
    {"run --suite smoke --where 'rank>=99999999999999999999'", "", "this number is too large",             2},
    {"run --suite smoke --where 'rank<-1'",             "", "--where: rank is a number: expected one from 0\n  rank<-1\n       ^", 2},
    {"run --suite smoke --where 'op=p,q'",              "", "op= knows reshard, einsum, grouped, quantize, resolve\n  op=p,q\n     ^", 2},
    {"run --suite smoke --where 'op=einsum devices=4,two'", "", "devices is a number: expected one from 0\n  op=einsum devices=4,two\n                      ^", 2},
    {"run --suite smoke --where 'devices~2'",           "", "devices is a number: compare it with =, !=, <, <=, > or >=\n  devices~2\n         ^", 2},
    {"run --suite smoke --where ''",                    "", "--where: expected KEY=VALUE",                  2},
    {"run 'max-waste nan: on x=2: reshard f32[8@x] -> f32[8]'", "", "expected a factor",                   2},
    {"run --suite smoke --shard 0/3",                   "", "expected PART/OF",                             2},
    {"run --suite smoke --shard ''",                    "", "--shard: expected PART/OF",                    2},
    {"run --suite smoke --shard 4/3",                   "", "expected PART/OF",                             2},
    {"run --suite smoke --sample 0",                    "", "--sample: expected a whole number from 1 to",   2},
    {"run --suite smoke --sample 1.5",                  "", "--sample: expected a whole number from 1 to",  2},
    {"run --suite smoke --seed -1",                     "", "--seed: expected a whole number from 0 to 18446744073709551615, not -1", 2},
    {"run --suite smoke --seed 18446744073709551616",   "", "--seed: expected a whole number from 0 to 18446744073709551615, not 18446744073709551616", 2},
    {"run --suite smoke --seed x",                      "", "--seed: expected a whole number",              2},
    {"run --suite smoke --jobs many",                   "", "--jobs: expected a whole number from 1 to 1024, not many", 2},
    {"run --suite smoke --jobs 4x",                     "", "plumb: --jobs: expected a whole number from 1 to 1024, not 4x\n  4x\n   ^\n  plumb run --help says what it takes", 2},
    {"run --suite smoke --jobs 1 --jobs 2",             "", "plumb: --jobs stands twice",                   2},
    {"run --suite smoke --jobs",                        "", "plumb: --jobs: ",                              2},
    {"run --suite smoke --budget ''",                   "", "--budget: expected a time such as",            2},
    {"run --suite smoke --budget soon",                 "", "expected a time such as",                      2},
    {"run --suite smoke --budget 5d",                   "", "expected a time such as",                      2},
    {"run --suite smoke --jobs 0",                      "", "--jobs",                                       2},
    {"run --suite smoke --timeout -1",                  "", "--timeout: expected a number above 0, not -1", 2},
    {"run --suite smoke --timeout nan",                 "", "--timeout: expected a number above 0",         2},
    {"run --suite smoke --max-waste nan",               "", "--max-waste: expected a number of at least 0", 2},
    {"run --suite smoke --reruns -1",                   "", "--reruns: expected a whole number from 0 to",    2},
    {"run --suite smoke --reruns 999999999999",         "", "--reruns: expected a whole number from 0 to 1000, not 999999999999", 2},
    {"run --suite smoke --color blue",                  "", "--color",                                      2},
    // backends
    {"run --suite smoke --backend nope",                "", "no backend 'nope'",                            2},
    {"run --suite smoke --backend ''",                  "", "--backend: expected the name of a backend",    2},
    {"backends ''",                                     "", "expected the name of a backend",               2},
    {"backends jax@0.10.2",                             "", "expected a name alone, such as jax\n  jax@0.10.2\n     ^", 2},
    {"backends jax,style=explicit",                     "", "expected a name alone, such as jax\n  jax,style=explicit\n     ^", 2},
    {"backends jxa",                                    "", "no backend 'jxa'; did you mean jax?",          2},
    {"run --suite smoke --backend ./nope",              "", "no program './nope'",                          2},
    {"run --suite smoke --backend local,plan=none",     "", "no plan 'none'",                               2},
    {"run --suite smoke --backend liar,fault=none",     "", "liar,fault=none: plumb-liar: no fault \"none\"", 2},
    {"run --suite smoke --backend jax@0.0.1",           "", "jax@0.0.1",                                    2},
    {"run --suite smoke --backend te@0.0.1",            "", "scripts/environment te@0.0.1",                 2},
    {"run --suite smoke --sample 1 --backend /bin/true", "", "crashed",                                     1},
    // records
    {"run --suite smoke --record missing/r.jsonl",      "", "missing/r.jsonl: No such file",                2},
    {"run --suite smoke --record ''",                   "", "--record: expected the name of a file",        2},
    {"run --suite smoke --record .",                    "", "Is a directory",                               2},
    {"run --suite smoke --record /dev/full",            "", "No space left on device",                      3},
    {"run --suite smoke --record text.txt",             "", "text.txt:1: this line is not a record",        2},
    {"run --suite smoke --record text.txt --resume",    "", "text.txt:1: this line is not a record",        2},
    {"run --suite smoke --record other.json --resume",  "", "other.json:1: this line is not a record",      2},
    {"run --suite smoke --record mine.json",            "", "mine.json:1: this line is not a record",       2},
    {"run --suite smoke --record newer.jsonl --resume", "", "schema 99, and this reads 1 to 2",             2},
    {"run --suite smoke --record locked.jsonl",         "", "another run is writing to this record",        2},
    {"run --suite smoke --resume",                      "", "--resume needs the --record",                  2},
    {"run --suite smoke --against missing.jsonl",       "", "missing.jsonl: No such file",                  2},
    {"run --suite smoke --record r --junit ./r",        "", "--record and --junit both write to ./r",       2},
    {"run --suite smoke --junit missing/j.xml",         "", "missing/j.xml: No such file",                  2},
    {"run --suite smoke --waivers missing.txt",         "", "missing.txt: No such file",                    2},
    {"run --suite smoke --waivers .",                   "", ".: Is a directory",                            2},
    {"run --suite smoke --waivers text.txt",            "", "text.txt:1: expected ': '",                    2},
    {"run --suite smoke --waivers nobody.txt",          "", "nobody.txt:1: no backend 'locla'; did you mean local? (a command has a slash or a space in it)\n  wrong on locla,plan=ring until 2999-12-31 for #1: op=reshard\n           ^\n", 2},
    // sweeps, and the rest
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]'",      "", "sweep over what?",                             2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --axis y=2", "", "--axis: there is no axis 'y', the case is on x=2\n  y=2\n  ^", 2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --axis x=2,a", "", "--axis: expected a size of at least 1\n  x=2,a\n      ^", 2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --axis x=99999999999999999999", "", "--axis: expected at most 16777216 devices", 2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --axis ''",  "", "--axis: expected NAME=SIZE",             2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --meshes 4,,8", "", "--meshes: expected a size of at least 1\n  4,,8\n    ^", 2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --meshes 0", "", "--meshes: expected a size of at least 1\n  0\n  ^", 2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --meshes ''", "", "--meshes: expected numbers of devices", 2},
    {"sweep 'on x=2: reshard f32[8]* -> f32[8]' --axis x=2",  "", "one case is expected, and these are many", 2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --axis x=0", "", "a size of at least 1",                   2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --axis x",   "", "expected NAME=SIZE",                     2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --axis x=2 --meshes 4", "", "do not go together",          2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --axis x=1 --axis x=2", "", "--axis x stands twice",     2},
    {"sweep 'on x=2: reshard f32[8@x] -> f32[8]' --axis x=2 --resume", "", "--resume needs the --record", 2},
    {"sweep 'on x=2 ids=1,0: reshard f32[8@x] -> f32[8]' --axis x=2", "", "numbers its devices row-major",  2},
    {"list --where status=wrong --suite smoke",         "", "name it with --against",                       2},
    // logical axis rules
    {"run \"on x=2: resolve first f32[8] rules=a:x\"",   "", "expected ' and the name",                     2},
    {"run \"on x=2: resolve first f32[8'a] rules=a:(x\"", "", "expected '.' or ')'",                        2},
    {"resolve /dev/zero names.txt --mesh x=2",          "", "/dev/zero: longer than 256 MiB",               2},
    {"resolve rules.json /dev/zero --mesh x=2",         "", "/dev/zero: longer than 256 MiB",               2},
    {"resolve missing.json names.txt --mesh x=2",       "", "missing.json: No such file",                   2},
    {"resolve rules.json missing.txt --mesh x=2",       "", "missing.txt: No such file",                    2},
    {"resolve text.txt names.txt --mesh x=2",           "", "text.txt:1: expected a list of rules",         2},
    {"resolve rules.json text.txt --mesh x=2",          "", "text.txt:1: expected PATH DTYPE",              2},
    {"resolve other-rules.txt names.txt --mesh x=2",    "", "other-rules.txt:2: expected the name of a mesh axis: letters, digits and _\n   ['mlp', 'x-y']]\n            ^", 2},
    {"resolve rules.json other-names.txt --mesh x=2",   "", "other-names.txt:2: expected a dtype", 2},
    {"resolve rules.json names.txt",                    "", "which mesh? --mesh fsdp=8,tp=4",               2},
    {"resolve rules.json /dev/null --mesh x=2",         "", "there are no parameters; expected a line for", 2},
    {"resolve /dev/null names.txt --mesh x=2",          "", "there are no rules; expected a list of pairs", 2},
    {"resolve rules.json names.txt --mesh ''",          "", "--mesh: expected axes and their sizes",        2},
    {"resolve rules.json names.txt --mesh x=0",         "", "--mesh: an axis has at least one device\n  x=0\n    ^", 2},
    {"resolve rules.json",                              "", "plumb: NAMES is required",                     2},
    {"resolve more-axes.yml names.txt --mesh x=2 --backend nope", "", "no backend 'nope'",                  2},
    {"resolve more-axes.yml names.txt --mesh x=2,xx=2", "", "--mesh: mesh_axes of more-axes.yml has no axis 'xx'; ", 2},
    {"resolve more-axes.yml names.txt --mesh tensor=2", "", "no axis 'tensor'; only x, y\n",                 2},
    {"resolve rules.json names.txt --mesh x",           "", "expected '='",                                 2},
    {"resolve rules.json names.txt --mesh x=2 --backend nope", "", "no backend 'nope'",                     2},
    {"liars no_such_fault",                             "", "there is no liar 'no_such_fault'",             2},
    {"liars one-ulp no_such_fault",                     "", "there is no liar 'no_such_fault'",             2},
    {"list --suite smoke --where devices=77",           "", "no case is selected",                          2},
    {"",                                                "", "plumb: expected a subcommand: run, bench, compare, list,",     2},
    {"run --suit smoke",                                "", "plumb: there is no '--suit'; did you mean --suite?", 2},
    {"doctor now",                                      "", "plumb: there is no 'now'; plumb doctor --help says what there is", 2},
    {"--nope",                                          "", "plumb: there is no '--nope'; plumb --help says", 2},
    {"juggle",                                          "", "no subcommand 'juggle', only run, bench, compare, list,",      2},
    {"run --nope",                                      "", "--nope",                                       2},
};
// clang-format on

struct Files : Folder {
  int lock = -1;
  Files() {
    write(path / "bad.cases",
          "# a comment\non x=2: reshard f32[8@x] -> f32[8]\non x=2: reshard f32[8@y] -> f32[8]\n");
    write(path / "patterns.cases", "# a comment\non x=2|3: reshard f32[8@q]* -> f32[8]\n");
    write(path / "long.cases", "# a comment\non " + std::string((16 << 20) - 2, 'x') + "\n");
    write(path / "more-axes.yml", "mesh_axes: ['x', 'y']\nlogical_axis_rules: [['embed', 'x']]\n");
    write(path / "text.txt", "dear diary\n");
    write(path / "rules.json", "[[\"embed\", [\"x\"]], [\"mlp\", null]]\n");
    write(path / "names.txt", "mlp/kernel f32[8,4] embed,mlp\n");
    write(path / "other-rules.txt", "[['embed', 'x'],\n ['mlp', 'x-y']]\n");
    write(path / "other-names.txt", "# mine\nw f31[8] embed\n");
    write(path / "other.json", "{\"name\":\"somebody's\"}\n");
    write(path / "mine.json", "{\"mine\":1}");
    write(path / "nobody.txt", "wrong on locla,plan=ring until 2999-12-31 for #1: op=reshard\n");
    write(path / "newer.jsonl", "{\"schema\":99}\n");
    lock = open((path / "locked.jsonl").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    flock(lock, LOCK_EX);
  }
  ~Files() { close(lock); }
};

TEST(BadInput, OneMessageAndItsExitCode) {
  const Files files;
  for (const Bad& bad : table) {
    SCOPED_TRACE(bad.arguments);
    const Ran ran = run_tool(files, bad.arguments, bad.input);
    EXPECT_EQ(ran.code, bad.code) << ran.out << ran.err;
    EXPECT_THAT(bad.code == 1 ? ran.out : ran.err, HasSubstr(bad.message));
    if (bad.code == 2 && std::string(ran.err).find("plumb-liar: ") == std::string::npos) {
      EXPECT_THAT(ran.err, StartsWith("plumb: "));
    }
    if (bad.code == 2 && ran.out.find("1 unrun") == std::string::npos) {
      EXPECT_EQ(ran.out, "") << "it is said before anything is done";
    }
    EXPECT_THAT(ran.err, Not(HasSubstr("terminate"))) << "an exception that nobody caught";
  }
  EXPECT_EQ(contents(files.path / "text.txt"), "dear diary\n") << "somebody's file was changed";
  EXPECT_EQ(contents(files.path / "mine.json"), "{\"mine\":1}") << "somebody's file was changed";
}

// What cannot be said is no success, and a record never takes what was meant for a closed descriptor.
TEST(BadInput, AnOutputThatTakesNothing) {
  const Folder folder;
  const auto code = [&](const std::string& arguments) {
    return WEXITSTATUS(
        std::system(("cd " + folder.path.string() + " && " PLUMB_TOOL " " + arguments).c_str()));
  };
  EXPECT_EQ(code("run --suite smoke >/dev/full 2>stderr"), 3);
  EXPECT_EQ(code("list --suite smoke >/dev/full 2>stderr"), 3);
  EXPECT_EQ(code("run hello 2>/dev/full"), 2);
  EXPECT_EQ(code("run --record r.jsonl 'on x=2: reshard f32[8@x] -> f32[8]' <&- >&- 2>&-"), 3);
  const std::string record = contents(folder.path / "r.jsonl");
  EXPECT_EQ(std::ranges::count(record, '\n'), 3) << record;
  for (const char* begin : {"{\"backends\":", "\n{\"backend\":", "\n{\"ended\":"})
    EXPECT_THAT(record, HasSubstr(begin)) << "a run's first line, its record, its last line";
}

// Some editors begin a file with a mark of its encoding.
TEST(BadInput, AByteOrderMarkIsNone) {
  const Folder folder;
  const std::string mark = "\xef\xbb\xbf", line = "on x=2: reshard f32[8@x] -> f32[8]\n";
  write(folder.path / "cases", mark + line);
  write(folder.path / "waivers", mark + "wrong on local until 2999-12-31 for an/issue: op=einsum\n");
  write(folder.path / "rules", mark + "[['embed', 'x']]\n");
  write(folder.path / "names", mark + "w f32[8] embed\n");
  for (const char* arguments : {"run --cases cases --waivers waivers", "list --cases -"}) {
    const Ran ran = run_tool(folder, arguments, mark + line);
    EXPECT_EQ(ran.code, 0) << arguments << '\n' << ran.out << ran.err;
  }
  const Ran ran = run_tool(folder, "resolve rules names --mesh x=2 --backend local", {});
  EXPECT_THAT(ran.out, HasSubstr("no parameter was asked of a backend that resolves")) << ran.err;
  EXPECT_EQ(ran.code, 2);
}

// A resolver that fails has the verdict that a run would give it.
TEST(BadInput, AResolverThatFailsSaysHow) {
  const Folder folder;
  write(folder.path / "rules", "[['embed', 'x']]\n");
  write(folder.path / "names", "w f32[8] embed\n");
  const auto said = [&](const std::string& program) {
    const Ran ran =
        run_tool(folder, "resolve rules names --mesh x=2 --backend \"/bin/sh -c '" + program + "'\"");
    EXPECT_EQ(ran.code, 1) << ran.err;
    return ran.out;
  };
  EXPECT_THAT(said("exit 3"), HasSubstr("crashed  /bin/sh"));
  EXPECT_THAT(said("exit 3"), HasSubstr("    exited with code 3 (in start)\n"));
  EXPECT_THAT(said("echo no > /dev/fd/\\$PLUMB_REPLIES; sleep 9"), HasSubstr("malformed  /bin/sh"));
}

TEST(BadInput, HelpShowsTheDefaults) {
  const Folder folder;
  const struct {
    const char *command, *shown;  // CLI11 writes =1, or [1] where it is newer
  } rows[] = {
      {"run",   "--jobs INT(=1| .1.)"                             },
      {"run",   "default: 120 to start, 120 to compile, 60 to run"},
      {"run",   "--seed UINT(=0| .0.)"                            },
      {"run",   "--reruns INT(=0| .0.)"                           },
      {"run",   "2h; default: no limit"                           },
      {"run",   "no line of progress"                             },
      {"run",   "--color TEXT:.auto,always,never.(=auto| .auto.)" },
      {"sweep", "--jobs INT(=1| .1.)"                             },
      {"liars", "--seeds INT(=40| .40.)"                          },
  };
  for (const auto& row : rows) {
    std::string flowing, word;
    std::istringstream words(run_tool(folder, std::string(row.command) + " --help").out);
    while (words >> word) flowing += (flowing.empty() ? "" : " ") + word;
    EXPECT_THAT(flowing, ContainsRegex(row.shown)) << row.command;
  }
}

// All lines are read before one is explained.
TEST(BadInput, NothingIsExplainedBeforeABadLine) {
  const Folder folder;
  for (const char* flag : {"", "--json "}) {
    const Ran ran =
        run_tool(folder, std::string("explain ") + flag +
                             "'on x=2: reshard f32[8@x] -> f32[8]' 'on x=2: reshard f32[8@y] -> f32[8]'");
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_EQ(ran.out, "") << flag;
  }
}

// Ctrl-C ends a list that is long to make, and one that is long to print.
TEST(BadInput, CtrlCEndsAList) {
  const Folder folder;
  const std::string limits = "timeout --preserve-status --kill-after=20 --signal=INT 0.5 ";
  for (const char* arguments : {" list", " list --count --where rank=7", " run --where rank=7"}) {
    const std::string command =
        "cd " + folder.path.string() + " && " + limits + PLUMB_TOOL + arguments +
        " 'on a=2,b=2,c=2,d=2: einsum mk,kn->mn f32[8,8]* f32[8,8]* -> f32[8,8]*' >/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 130) << arguments;
  }
}

// As where a line is copied from a file.
TEST(BadInput, ATabBeforeALineIsNone) {
  const Folder folder;
  for (const char* command : {"run", "list", "explain", "sweep --axis x=2"}) {
    const Ran ran = run_tool(folder, std::string(command) + " '\t on x=2: reshard f32[8@x] -> f32[8] '");
    EXPECT_EQ(ran.code, 0) << command << '\n' << ran.out << ran.err;
  }
}

TEST(BadInput, AFileThatTheShellMadeIsNamed) {
  const Folder folder;
  const Ran ran = run_tool(folder, "run on x=2: reshard f32[8@x] -> 'f32[8]' 2>err ; code=$?; cat err >&2; exit $code");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(contents(folder.path / "err"),
            "plumb: a case is one argument, in quotes: 'on x=2: reshard f32[8@x] -> f32[8]'\n"
            "  the shell took the > for its own and made a file of the name f32[8]\n");
}

// Every command's help fits a terminal of 80 columns, and is what `help` says of it.
TEST(BadInput, HelpFitsATerminal) {
  const Folder folder;
  for (const char* command : {"", "run", "bench", "compare", "list", "explain", "resolve", "sweep", "prove",
                              "liars", "backends", "doctor"}) {
    const Ran ran = run_tool(folder, std::string(command) + " --help");
    EXPECT_EQ(ran.code, 0) << command;
    EXPECT_EQ(run_tool(folder, std::string("help ") + command).out, ran.out) << command;
    std::istringstream lines(ran.out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80) << line;
    EXPECT_GE(count, 5) << command;
  }
}

TEST(BadInput, HelpIsNone) {
  const Folder folder;
  for (const char* arguments : {"--help", "--version", "run --help", "list", "backends"})
    EXPECT_EQ(run_tool(folder, arguments).code, 0) << arguments;
}

}  // namespace
}  // namespace plumb
