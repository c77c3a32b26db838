// Where the programs of the backends lie.
#pragma once

#include <string>
#include <vector>

namespace plumb {

// A program of this project, found from the place of the running one: beside it, or elsewhere in the
// same build or installation. "" where it is not built.
std::string own_program(const std::string& name);

// A file of this project by its path below the root, in the installation or the sources.
std::string own_file(const std::string& path);

// The files of that name in the folders inside one of this project, in the order of the folders' names.
std::vector<std::string> own_files(const std::string& folder, const std::string& name);

// How a user calls a script of this project: by its path in the sources, scripts/environment, or in an
// installation by the whole one.
std::string called(const std::string& script);

// The Python of the environment in which the running program lies, else the first on PATH; "" where there is
// none.
std::string python_here();

// The interpreter of the environment of a framework's release; "" where there is no whole one.
std::string environment_python(const std::string& framework, const std::string& release);

// The releases of a framework that have an environment, newest first.
std::vector<std::string> environment_releases(const std::string& framework);

}  // namespace plumb
