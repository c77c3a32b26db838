// block() against JAX's own index maps, devices in any order: the words judged from outside.
//     PLUMB_JAX_PYTHON=ENV/bin/python index_maps_test
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"
#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using nlohmann::json;

const char* const meshes[] = {
    "x=1",
    "x=4",
    "x=4 ids=2,0,3,1",
    "x=2,y=2",
    "x=2,y=2 ids=3,1,0,2",
    "x=2,y=3",
    "x=3,y=2 ids=4,1,5,0,3,2",
    "x=2,y=2,z=2",
    "x=2,y=2,z=2 ids=5,2,7,0,3,6,1,4",
    "x=2,y=1,z=3 ids=5,4,3,2,1,0",
};

std::vector<Spec> specs_of(const Mesh& mesh) {
  std::vector<Spec> specs = all_specs(mesh, DType::f32, {24, 24}, false);
  const std::vector<Spec> lines = all_specs(mesh, DType::bf16, {48}, false);
  specs.insert(specs.end(), lines.begin(), lines.end());
  return specs;
}

// What JAX answers, a line for each mesh.
std::vector<json> asked_of_jax(const std::string& python) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("plumb-index-maps-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream questions(folder / "questions");
  for (const char* text : meshes) {
    const Mesh mesh = parse_mesh(text);
    json line = {
        {"mesh",  to_json(mesh)},
        {"specs", json::array()}
    };
    for (const Spec& spec : specs_of(mesh)) line["specs"].push_back(print(mesh, spec));
    questions << dump(line) << "\n";
  }
  questions.close();
  const std::string command = python + " -I " PLUMB_INDEX_MAPS " < " + (folder / "questions").string() +
                              " > " + (folder / "answers").string();
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::vector<json> answers;
  std::ifstream lines(folder / "answers");
  for (std::string line; std::getline(lines, line);) answers.push_back(parse_json(line));
  std::filesystem::remove_all(folder);
  return answers;
}

TEST(IndexMaps, BlockSaysWhatJaxSays) {
  const char* python = std::getenv("PLUMB_JAX_PYTHON");
  ASSERT_NE(python, nullptr) << "set PLUMB_JAX_PYTHON to the interpreter of an environment";
  const std::vector<json> answers = asked_of_jax(python);
  ASSERT_EQ(answers.size(), std::size(meshes));
  std::int64_t compared = 0;
  for (std::size_t m = 0; m < answers.size(); ++m) {
    const Mesh mesh = parse_mesh(meshes[m]);
    const std::vector<Spec> specs = specs_of(mesh);
    ASSERT_EQ(answers[m].size(), specs.size());
    for (std::size_t s = 0; s < specs.size(); ++s) {
      ASSERT_TRUE(answers[m][s].contains("slices")) << answers[m][s];
      for (std::int64_t device = 0; device < devices(mesh); ++device, ++compared) {
        Slice jax;
        for (const json& range : answers[m][s]["slices"][device]) jax.push_back({range[0], range[1]});
        EXPECT_EQ(print(jax), print(block(mesh, specs[s], Rule::flat, device)))
            << meshes[m] << ": " << print(mesh, specs[s]) << " on device " << device;
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace plumb
