# Writes to HEADER which revision of the folder SOURCE is built, as git says it; nothing where git does not know the folder.
# A header that says so already stays untouched.
#
#     cmake -D SOURCE=DIR -D HEADER=FILE -P revision.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty OUTPUT_VARIABLE REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define PLUMB_REVISION \"@REVISION@\"\n" @ONLY)
