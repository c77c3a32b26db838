// plumb: one line of text becomes a verdict. command/ holds its subcommands.
#include "harness/command/command.h"

int main(int argc, char** argv) { return plumb::command(argc, argv); }
