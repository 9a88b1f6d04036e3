#include "client/cli/command_line.h"

int main(int argc, char** argv) { return schaas::cli::execute(argc, argv, SCHAAS_VERSION); }
