// Steps of merges that the client predicts at the sizes of real matrices, beside those that schedules take
// there. Programs walk several lists of one graph. Each is searched in the process; the survivors that merge
// are lowered without passes and interpreted, which counts.
//
//   predicted_steps MATRIX.mtx[.gz] ...
//
// `alike`: predicted from the mean lengths of rows; `reached`: from rows where loops reach them. Both are
// told as multiples of what was counted, and a summary says how many are within 1.5.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "client/cpp/selection/list_statistics.h"
#include "compiler/concrete_notation/printer.h"
#include "compiler/cost/cost.h"
#include "compiler/frontier/frontier.h"
#include "compiler/schedule/replay/apply.h"
#include "schaas/select.h"
#include "schaas/tensor.h"
#include "schaas/tensor_files.h"
#include "tests/support/interpreted_kernel.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/packed_tensor.h"
#include "tests/support/problem_of.h"

namespace {

using namespace schaas;

struct Case {
  const char* name;
  const char* expression;
};
/// B is the graph and square, C its transpose, x has about 64 entries.
constexpr Case cases[] = {
    {"triangles", "t(i) = B(i,j) * B(j,k) * B(i,k)"},
    {"mutual edges", "m(i) = B(i,j) * C(i,j)"},
    {"sparse vector", "y(i) = B(i,j) * x(j)"},
};

client::Variable variable_of(const cost::Variable& from) {
  client::Variable to;
  to.kind = static_cast<client::Variable::Kind>(from.kind);
  to.index = from.index;
  to.tensor = from.tensor;
  to.level = from.level;
  to.copy_of = from.copy_of;
  to.outer = from.outer;
  to.outer_dense = from.outer_dense;
  for (const auto& list : from.lists) to.lists.push_back(variable_of(list));
  return to;
}

/// Steps of a schedule's merges.
double predicted(const cost::Cost& cost, const cost::Variables& variables, const client::Sizes& sizes) {
  std::vector<client::Term> terms;
  for (const cost::Term term : cost.time) {
    if (cost::access_of(term) != cost::Access::merged) continue;
    client::Term& to = terms.emplace_back();
    for (int bit = 0; bit < cost::access_shift; ++bit)
      if ((term >> bit & 1) != 0) to.variables.push_back(variable_of(variables.at(bit)));
  }
  return client::evaluate(terms, sizes).value();
}

struct Matrix {
  std::string name;
  client::CooTensor entries;
};

client::PackedTensor vector_of(std::int64_t extent, std::mt19937_64& random) {
  client::CooTensor list{{extent}, {{}}, {}};
  for (std::int64_t at = 0; at < extent; ++at) {
    if (random() % static_cast<std::uint64_t>(std::max<std::int64_t>(extent / 64, 1)) != 0) continue;
    list.coordinates[0].push_back(at);
    list.values.push_back(1);
  }
  return client::pack(list, {{format::LevelFormat::compressed}, {0}}, {"x", client::ValueType::f64, 32})
      .value();
}

/// Within 1.5, by mean lengths and by lengths where rows are reached.
struct Summary {
  int all = 0, alike = 0, reached = 0;
  void add(double counted, double by_means, double by_reached) {
    const auto within = [&](double value) { return std::fabs(std::log(value / counted)) <= std::log(1.5); };
    ++all;
    alike += within(by_means);
    reached += within(by_reached);
  }
};

void compare(const Case& one, const Matrix& matrix, Summary& summary) {
  std::mt19937_64 random(1);
  problem::Problem problem = test_support::problem_of(
      one.expression,
      test_support::present(one.expression, {{"B", "csr"}, {"C", "csr"}, {"x", "compressed"}}));
  problem.position_bits = 32;
  const std::int64_t extent = matrix.entries.extents[0];
  std::map<std::string, client::PackedTensor> operands;
  client::Sizes alike;
  test_support::Extents extents;
  for (const auto& index : problem.indices()) alike.extents[index] = extents[index] = extent;
  for (const auto& name : problem.tensors()) {
    if (name == problem.statement.result.tensor) continue;
    client::CooTensor entries = matrix.entries;
    if (name == "C") std::swap(entries.coordinates[0], entries.coordinates[1]);
    operands.emplace(
        name,
        name == "x"
            ? vector_of(extent, random)
            : client::pack(entries, problem.formats.at(name), {name, client::ValueType::f64, 32}).value());
    alike.entries[name] = client::entries_of(operands.at(name));
  }
  client::Sizes reached = alike;
  reached.lists = client::list_statistics(problem.program(), [&](const std::string& name) {
    const auto found = operands.find(name);
    return found == operands.end() ? nullptr : &found->second;
  });
  const auto found = frontier::compute(problem, frontier::options_for(problem.profile), {}, {}).value();
  const auto variables = cost::variables_of(problem);
  for (const auto& survivor : found.survivors) {
    const auto& trace = survivor.traces.front();
    const auto own = schedule::problem_of(trace, problem).value();
    const auto tree = schedule::apply(trace, problem).value();
    const auto cost = cost::of(tree, own);
    const double by_means = predicted(cost, variables, alike);
    const auto kernel = test_support::kernel_of(trace, problem, {});
    if (by_means == 0 || !own.copies.empty() || !kernel.ok()) continue;
    test_support::InterpretedKernel interpreted(*kernel);
    auto result = test_support::empty_result(problem, extents);
    std::vector<schaas_tensor> views;
    for (const auto& name : problem.tensors())
      views.push_back(operands.count(name) > 0 ? operands.at(name).view() : *result.abi());
    std::vector<const schaas_tensor*> arguments{result.abi()};
    for (std::size_t n = 1; n < views.size(); ++n) arguments.push_back(&views[n]);
    const std::string error =
        test_support::run(interpreted.descriptor(), arguments, test_support::Cuts::none, random,
                          [&](const std::vector<std::int64_t>& entries) { result.allocate(entries, 0); });
    if (!error.empty())
      std::printf("%s: %s%s\n", matrix.name.c_str(), error.c_str(), interpreted.error().c_str());
    const double counted = interpreted.work().steps, by_reached = predicted(cost, variables, reached);
    summary.add(counted, by_means, by_reached);
    std::printf("%-16s %-20s %-10s %12.0f %8.2f %8.2f\n", one.name, matrix.name.c_str(),
                concrete_notation::print_loop_tree(tree).c_str(), counted, by_means / counted,
                by_reached / counted);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%-16s %-20s %-10s %12s %8s %8s\n", "program", "graph", "schedule", "counted", "alike",
              "reached");
  Summary summary;
  for (int n = 1; n < argc; ++n) {
    auto read = client::read(argv[n]);
    if (!read.ok()) return std::printf("%s\n", read.error().message.c_str()), 1;
    const std::string path = argv[n], file = path.substr(path.rfind('/') + 1);
    const Matrix matrix{file.substr(0, file.find('.')), std::get<client::CooTensor>(std::move(*read))};
    for (const Case& one : cases) compare(one, matrix, summary);
  }
  std::printf("%d figures, within 1.5: %d by mean lengths, %d by rows where they are reached\n", summary.all,
              summary.alike, summary.reached);
  return 0;
}
