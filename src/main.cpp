#include "rnnsearch/cli/command.h"

int main(int argc, char** argv) { return rnnsearch::cli::run_program(argc, argv); }
