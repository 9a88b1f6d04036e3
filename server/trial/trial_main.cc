// schaas-trial: validates one compiled kernel before it is stored. schaasd runs it in a child process with
// limits, in a directory that holds `kernel.so` and `problem`, the canonical text the kernel must implement.
//
//     schaas-trial DIRECTORY SEED
//
// Prints one line. Exit status 0: as the oracle says; 1: the kernel is wrong; 3: this processor cannot run
// it; 4: not tried, too large; 5: no verdict, as memory or another resource ran out.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>

#include "schaas/trial.h"

namespace {

using namespace schaas;

enum Status { fine = 0, wrong = 1, usage = 2, other_processor = 3, skipped = 4, undecided = 5 };

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int fail(const support::Diagnostic& error) {
  std::cout << support::render(error) << "\n";
  if (error.code == "kernel-isa") return other_processor;
  if (error.code == "oracle-size") return skipped;
  return error.family == support::Family::exhausted ? undecided : wrong;
}

int run(const std::string& directory, std::uint64_t seed) {
  const std::string bytes = read(directory + "/kernel.so");
  const auto kernel = client::Kernel::load(bytes, support::digest_of(bytes));
  if (!kernel.ok()) return fail(kernel.error());
  if (kernel->problem() != read(directory + "/problem")) {
    std::cout << "the kernel is for another problem:\n" << kernel->problem();
    return wrong;
  }
  const auto trial = client::try_kernel(*kernel, seed);
  if (!trial.ok()) return fail(trial.error());
  std::cout << trial->runs << " runs as expected" << (trial->not_tried.empty() ? "" : "; ")
            << trial->not_tried << "\n";
  return trial->runs > 0 ? fine : skipped;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: schaas-trial DIRECTORY SEED\n";
    return usage;
  }
  try {
    return run(argv[1], std::strtoull(argv[2], nullptr, 10));
  } catch (const std::bad_alloc&) {
    std::cout << "there is not enough memory for the trial\n";
    return undecided;
  }
}
