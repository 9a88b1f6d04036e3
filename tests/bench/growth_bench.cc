// How the search grows with the product, a line each: states, members, the Pareto classes of the whole space,
// processor seconds (all threads together) and peak memory. Every line is a process of its own.
//   build/release/bin/growth_bench [--from N] [--to N] [--shape chain|star|kernel] [--unconstrained]
//                                  [--memory-depth N] [--threads N]
// Shapes: `chain` B(i,j) * C(j,k) * D(k,l) ...; `star` B(i,j) * C(j,k) * D(j,l) ...; `kernel` is K2 of the
// papers with matrices taken off or put on at its end. B is csr, the rest dense.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/space/space.h"

using namespace schaas;

namespace {

struct Arguments {
  int from = 3, to = 6;
  int memory_depth = 16;
  int threads = 0;
  bool constrained = true;
  std::vector<std::string> shapes = {"chain", "star", "kernel"};
};

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

char letter(char first, int n) { return static_cast<char>(first + n); }

std::string expression_of(const std::string& shape, int operands) {
  const char* kernel[] = {"B(i,j)", "C(i,k)", "D(j,k)", "E(j,l)", "F(l,m)", "G(m,n)", "H(n,o)", "P(o,q)"};
  std::string result = "A(i";
  std::string value;
  for (int n = 0; n < operands; ++n) {
    std::string factor = {letter('B', n), '('};
    if (shape == "kernel") {
      factor = kernel[n];
    } else if (shape == "chain") {
      factor += {letter('i', n), ',', letter('j', n), ')'};
    } else {
      factor += n == 0 ? std::string("i,j)") : std::string{'j', ',', letter('j', n), ')'};
      if (n > 0) result += {',', letter('j', n)};
    }
    value += (n > 0 ? " * " : "") + factor;
  }
  if (shape == "chain") result += {',', letter('i', operands)};
  if (shape == "kernel") result += std::string(",") + kernel[operands - 1][4];
  return result + ") = " + value;
}

problem::Problem problem_of(const std::string& shape, int operands, bool constrained) {
  problem::ProblemText text;
  text.expression = expression_of(shape, operands);
  text.formats = {{"B", "dense,compressed"}};
  if (constrained) {
    text.constraints = {"11000 <= i <= 1000000", "11000 <= j <= 1000000", "1000*nnz(B) < i*j",
                        "i*j < 1000000*nnz(B)"};
    for (char x = 'k'; x <= 'z'; ++x) {
      if (text.expression.find(x) != std::string::npos)
        text.constraints.push_back("8 <= " + std::string(1, x) + " <= 256");
    }
  }
  return problem::build(text).value();
}

void print_line(const std::string& shape, int operands, const Arguments& arguments) {
  const support::Cancellation never;
  const problem::Problem problem = problem_of(shape, operands, arguments.constrained);
  space::Options options;
  options.max_bytes = std::size_t{4} << 30;
  options.threads = arguments.threads;
  space::Space space(problem, options);
  const double start = processor_seconds();
  const auto members = space.count(never);
  const double counted = processor_seconds();
  std::printf("%-6s %8d %7zu %8zu %26s %8.2f", shape.c_str(), operands,
              index_notation::index_variables(problem.statement).size(), space.states(),
              members.ok() ? members->get_str().c_str() : members.error().code.c_str(), counted - start);
  std::fflush(stdout);
  frontier::LogBounds bounds(problem);
  frontier::ProvenDominance dominance(bounds, 24, frontier::free_elements(problem.profile));
  const auto kept = space.pareto_classes(dominance, arguments.memory_depth, never);
  if (!kept.ok()) {
    std::printf(" %s\n", kept.error().code.c_str());
    return;
  }
  std::printf(" %7zu%s %8.2f %7.0f\n", kept->classes.size(), kept->ended ? "+" : " ",
              processor_seconds() - counted, peak_megabytes());
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int n = 1; n < argc; ++n) {
    const std::string word = argv[n];
    const auto number = [&] { return n + 1 < argc ? std::atoi(argv[++n]) : 0; };
    if (word == "--unconstrained") {
      arguments.constrained = false;
    } else if (word == "--from") {
      arguments.from = number();
    } else if (word == "--to") {
      arguments.to = number();
    } else if (word == "--memory-depth") {
      arguments.memory_depth = number();
    } else if (word == "--threads") {
      arguments.threads = number();
    } else if (word == "--shape" && n + 1 < argc) {
      arguments.shapes = {argv[++n]};
    }
  }
  std::printf(
      "shape  operands indices   states                    members  count s  classes  fold s peak MB\n");
  for (const std::string& shape : arguments.shapes) {
    for (int operands = arguments.from; operands <= arguments.to; ++operands) {
      std::fflush(stdout);
      const pid_t child = fork();
      if (child == 0) {
        print_line(shape, operands, arguments);
        std::fflush(stdout);
        _exit(0);
      }
      waitpid(child, nullptr, 0);
    }
  }
  return 0;
}
