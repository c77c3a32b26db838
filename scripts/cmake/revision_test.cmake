# A program says the revision of which it was built, not that of which its build was configured.
#
#     cmake -D FOLDER=DIR -P revision_test.cmake
cmake_minimum_required(VERSION 3.25)
function(git)
  execute_process(COMMAND git -C ${FOLDER}/source -c user.name=a -c user.email=a@b ${ARGN} OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  set(said ${said} PARENT_SCOPE)
endfunction()

function(expect revision)
  execute_process(COMMAND ${CMAKE_COMMAND} -D SOURCE=${FOLDER}/source -D HEADER=${FOLDER}/revision.h -P ${CMAKE_CURRENT_LIST_DIR}/revision.cmake
                  COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${FOLDER}/revision.h header)
  if(NOT header STREQUAL "#define PLUMB_REVISION \"${revision}\"\n")
    message(SEND_ERROR "expected ${revision}: ${header}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/source/file one)
set(ENV{GIT_CEILING_DIRECTORIES} ${FOLDER})
expect("")
git(init -q)
git(add file)
foreach(commit first second)
  git(commit -q --allow-empty -m ${commit})
  git(rev-parse --short HEAD)
  expect(${said})
endforeach()
file(WRITE ${FOLDER}/source/file two)
expect(${said}-dirty)
