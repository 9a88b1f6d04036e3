#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <iterator>

#include "compiler/loop_ir/printer.h"
#include "compiler/lower/passes_on_text.h"

// schaas-opt: runs passes of lowering on a kernel in the text form of loop IR and prints the kernel after
// them. For people who write passes; not installed.
namespace {

using schaas::support::Result;

void print_remarks(const std::vector<schaas::lower::Remark>& remarks) {
  for (const auto& one : remarks)
    std::cerr << one.pass << ": " << (one.applied ? "applied" : "not applied: " + one.reason) << "\n";
}

Result<std::string> read_text(const std::string& path) {
  if (path == "-") return std::string{std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(path);
  if (!file) return schaas::support::invalid("file-unreadable", path + " cannot be read");
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

Result<std::string> rewritten(const std::string& path, const std::string& passes, bool remarks) {
  SCHAAS_ASSIGN_OR_RETURN(const auto text, read_text(path));
  std::vector<schaas::lower::Remark> made;
  schaas::lower::PassOptions options;
  SCHAAS_ASSIGN_OR_RETURN(options.passes, schaas::lower::parse_passes(passes));
  if (remarks) options.remarks = &made;
  SCHAAS_ASSIGN_OR_RETURN(const auto kernel, schaas::lower::run_passes_on_text(text, options));
  print_remarks(made);
  return schaas::loop_ir::print(kernel);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Runs passes of lowering on a kernel in the text form of loop IR");
  std::string path = "-", passes;
  bool remarks = false;
  program.add_option("FILE", path, "The kernel; - is standard input")->capture_default_str();
  program.add_option("--passes", passes, "a,b runs these, -c all but c; all and baseline stand for several");
  program.add_flag("--remarks", remarks,
                   "Print what each pass did, or why it did nothing, on standard error");
  CLI11_PARSE(program, argc, argv);
  const auto text = rewritten(path, passes, remarks);
  if (!text.ok()) {
    std::cerr << schaas::support::render(text.error()) << "\n";
    return 2;
  }
  std::cout << *text;
  return 0;
}
