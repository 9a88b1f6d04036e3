#include "client/cpp/api/long_product.h"

#include <cstdio>
#include <set>
#include <utility>

#include "client/cpp/expression/contraction_order.h"
#include "client/cpp/remote/question.h"
#include "compiler/support/contains.h"
#include "compiler/support/limits.h"

// Long products are cut into statements of two operands. The search of a statement is exact, and takes no
// time to speak of; the order of the statements depends on the extents, which the server does not know.
// Results in between begin with the indices of their left operand, so that the last mode is often contiguous
// in the right one. Rejected: statements of several operands, whose searches take minutes for twelve indices.
namespace schaas::client {
namespace {

/// An operand, or the result of a step, as later steps read it.
struct StepOperand {
  Access access;
  std::set<std::string> sparse;  ///< its indices whose coordinates a sparse operand stores
};

class Steps {
 public:
  Steps(const ProblemText& problem, const Program& program)
      : whole_(problem), program_(program), operands_(operands(program)) {}

  support::Result<ProductSteps> run(const std::map<std::string, std::int64_t>& extents) {
    SCHAAS_RETURN_IF_ERROR(check());
    const ContractionOrder order = contraction_order(operands_, program_.result().indices, extents);
    for (const Access& operand : operands_) factors_.push_back({operand, sparse_indices(operand)});
    ProductSteps out;
    for (std::size_t n = 0; n < order.steps.size(); ++n) {
      Statement statement = step(order, n);
      if (n + 1 == order.steps.size()) {
        statement.result = program_.result();
        statement.update = program_.statements.back().update;
      }
      SCHAAS_ASSIGN_OR_RETURN(ProblemText part, part_of(whole_, {program_.semiring, {statement}}));
      out.problems.push_back(std::move(part));
    }
    char count[32];
    std::snprintf(count, sizeof count, "%.3g", order.multiplications);
    out.order = std::to_string(order.steps.size()) + " statements of two operands, " +
                (order.is_exact ? "in the best order: " : "in the best order that was found: ") + count +
                " multiplications";
    return out;
  }

 private:
  support::Result<void> check() const {
    if (operands_.size() > max_ordered_operands)
      return support::unsupported(
          "too-many-factors", "the product has " + std::to_string(operands_.size()) + " operands; at most " +
                                  std::to_string(max_ordered_operands) + " are supported");
    const std::size_t indices = indices_of(program_).size();
    if (indices <= max_ordered_indices) return {};
    return support::unsupported("too-many-indices",
                                "the product has " + std::to_string(indices) + " indices; at most " +
                                    std::to_string(max_ordered_indices) + " are supported");
  }

  std::set<std::string> sparse_indices(const Access& operand) const {
    const auto text = whole_.formats.find(operand.tensor);
    if (text == whole_.formats.end()) return {};
    const auto format = format::parse(text->second, static_cast<int>(operand.indices.size()), operand.tensor);
    if (!format.ok() || format->all_dense()) return {};
    return {operand.indices.begin(), operand.indices.end()};
  }

  /// Returns the statement of a step, and notes its result as a factor.
  Statement step(const ContractionOrder& order, std::size_t n) {
    const StepOperand &left = factors_[order.steps[n].first], &right = factors_[order.steps[n].second];
    StepOperand made{{free_name(n), {}}, {}};
    for (const StepOperand* factor : {&left, &right}) {
      for (const std::string& index : factor->access.indices) {
        if (!support::contains(order.indices[n], index)) continue;
        if (!support::contains(made.access.indices, index)) made.access.indices.push_back(index);
        if (factor->sparse.count(index) > 0) made.sparse.insert(index);
      }
    }
    const std::size_t modes = made.access.indices.size();
    if (modes > 1 && made.sparse.size() == modes)
      whole_.formats[made.access.tensor] = modes == 2 ? "csr" : "csf";
    else
      made.sparse.clear();
    Statement statement{made.access, index_notation::product_of({left.access, right.access})};
    factors_.push_back(std::move(made));
    return statement;
  }

  std::string free_name(std::size_t n) const {
    const auto names = arguments(program_);
    std::string name = "step" + std::to_string(n + 1);
    while (support::contains(names, name)) name += "_";
    return name;
  }

  ProblemText whole_;  ///< with formats of results in between
  const Program& program_;
  std::vector<Access> operands_;
  std::vector<StepOperand> factors_;
};

}  // namespace

bool is_long_product(const Program& program) {
  return program.statements.size() == 1 && index_notation::is_product(program.statements.back().value) &&
         operands(program).size() > support::Limits::factors;
}

support::Result<ProductSteps> product_steps(const ProblemText& problem, const Program& program,
                                            const std::map<std::string, std::int64_t>& extents) {
  return Steps(problem, program).run(extents);
}

}  // namespace schaas::client
