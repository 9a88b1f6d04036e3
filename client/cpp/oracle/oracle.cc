#include "schaas/oracle.h"

#include <new>
#include <set>

#include "client/cpp/oracle/oracle_product.h"
#include "client/cpp/oracle/oracle_rewrite.h"
#include "client/cpp/oracle/oracle_steps.h"
#include "compiler/index_notation/rename.h"

namespace schaas::client {
namespace {

// Evaluates statements in order. An intermediate is computed when that is small work. Otherwise its right
// side is substituted at its reads, so that only required elements are computed.
class Verifier {
 public:
  Verifier(const Program& program, const std::map<std::string, OracleOperand>& operands,
           const OracleOptions& options)
      : program_(program), options_(options) {
    context_.semiring = program.semiring;
    context_.type = arithmetic_type(options.type);
    context_.memory_limit = options.memory_limit;
    context_.extents = options.extents;
    context_.operands = operands;
  }

  support::Result<Expected> run() {
    SCHAAS_RETURN_IF_ERROR(bind_operands());
    SCHAAS_RETURN_IF_ERROR(bind_results());
    for (std::size_t s = 0; s + 1 < program_.statements.size(); ++s) {
      SCHAAS_RETURN_IF_ERROR(intermediate(program_.statements[s]));
    }
    const Expression value = value_of(program_.statements.back());
    return evaluate_result(fold_of(program_.result(), value), context_);
  }

 private:
  std::vector<Access> read_operands() const {
    std::vector<Access> read = operands(program_);
    if (program_.statements.back().update) read.push_back(program_.result());
    return read;
  }

  support::Result<void> bind_operands() {
    for (const Access& access : read_operands()) {
      const auto operand = context_.operands.find(access.tensor);
      if (operand == context_.operands.end())
        return bad_operand("there is no tensor for `" + access.tensor + "`");
      const auto& extents =
          std::visit([](const auto* tensor) -> const std::vector<std::int64_t>& { return tensor->extents; },
                     operand->second);
      if (extents.size() != access.indices.size()) {
        return bad_operand("`" + access.tensor + "` has " + std::to_string(extents.size()) + " modes but " +
                           std::to_string(access.indices.size()) + " indices");
      }
      for (std::size_t m = 0; m < extents.size(); ++m) {
        const auto [known, is_new] = context_.extents.emplace(access.indices[m], extents[m]);
        if (!is_new && known->second != extents[m]) {
          return bad_operand("index `" + access.indices[m] + "` has extent " + std::to_string(extents[m]) +
                             " in `" + access.tensor + "` but " + std::to_string(known->second) +
                             " elsewhere");
        }
      }
      load(access.tensor, operand->second);
    }
    return {};
  }

  void load(const std::string& name, const OracleOperand& operand) {
    if (context_.tensors.count(name) > 0) return;
    const bool updated = name == program_.result().tensor;
    const auto stored = options_.stored.find(name);
    OracleTypes types{options_.type, context_.type};
    if (stored != options_.stored.end()) types.stored = stored->second;
    if (updated) types.stored = context_.type;
    context_.narrow = context_.narrow || types.stored != types.computed;
    if (const auto* const* entries = std::get_if<const CooTensor*>(&operand)) {
      context_.tensors[name] = OracleTensor::entries(**entries, program_.semiring->zero, types);
    } else {
      context_.tensors[name] = OracleTensor::dense(*std::get<const DenseTensor*>(operand), types);
    }
  }

  // Intermediates pass extents on from the indices they are defined with to those they are read with.
  support::Result<void> bind_results() {
    const auto links = linked_indices(program_);
    for (std::size_t round = 0; round < links.size(); ++round) {
      for (const auto& [a, b] : links) {
        for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
          const auto known = context_.extents.find(from);
          if (known != context_.extents.end()) context_.extents.emplace(to, known->second);
        }
      }
    }
    for (const auto& index : indices_of(program_)) {
      if (context_.extents.count(index) == 0)
        return bad_operand("result index `" + index + "` occurs in no operand");
    }
    for (const auto& [a, b] : links) {
      if (context_.extents.at(a) != context_.extents.at(b))
        return bad_operand("index `" + b + "` has extent " + std::to_string(context_.extents.at(b)) +
                           " but `" + a + "`, which it stands for, " +
                           std::to_string(context_.extents.at(a)));
    }
    return {};
  }

  Expression value_of(const Statement& statement) {
    Expression value = inlined(with_sums(statement, program_.semiring->sum));
    if (!statement.update) return value;
    if (*statement.update == Monoid::product) return {Product{{{statement.result}, std::move(value)}}};
    return {Call{operators::combine(*statement.update), {{statement.result}, std::move(value)}}};
  }

  static OracleFold fold_of(const Access& result, const Expression& value) {
    if (const auto* reduction = std::get_if<Reduction>(&value.node))
      return {reduction->monoid, result.indices, reduction->indices, &reduction->body.front()};
    return {Monoid::sum, result.indices, {}, &value};
  }

  support::Result<void> intermediate(const Statement& statement) {
    const Expression value = value_of(statement);
    const OracleFold fold = fold_of(statement.result, value);
    if (is_small(fold, context_)) {
      SCHAAS_ASSIGN_OR_RETURN(context_.tensors[statement.result.tensor], evaluate_fold(fold, context_));
    } else {
      inlined_.emplace(statement.result.tensor, Definition{statement.result.indices, value});
    }
    return {};
  }

  struct Definition {
    std::vector<std::string> indices;
    Expression value;
  };

  std::string fresh(const std::string& index) {
    std::string name = index + "#" + std::to_string(++fresh_);
    context_.extents[name] = context_.extents.at(index);
    return name;
  }

  // With the intermediates that are not computed in full, and with a name of its own for each bound index.
  Expression inlined(const Expression& expression) {
    Expression out = expression;
    if (const auto* access = std::get_if<Access>(&expression.node)) {
      const auto found = inlined_.find(access->tensor);
      if (found == inlined_.end()) return out;
      index_notation::Renaming names;
      for (const auto& index : bound_indices(found->second.value)) names.indices[index] = fresh(index);
      for (std::size_t m = 0; m < access->indices.size(); ++m)
        names.indices[found->second.indices[m]] = access->indices[m];
      return renamed(found->second.value, names);
    }
    if (const auto* reduction = std::get_if<Reduction>(&out.node)) {
      index_notation::Renaming names;
      for (const auto& index : reduction->indices) names.indices[index] = fresh(index);
      out = renamed(out, names);
    }
    std::vector<Expression> inner = parts(out);
    for (auto& part : inner) part = inlined(part);
    return with_parts(std::move(out), std::move(inner));
  }

  const Program& program_;
  const OracleOptions& options_;
  OracleContext context_;
  std::map<std::string, Definition> inlined_;
  int fresh_ = 0;
};

}  // namespace

support::Result<Expected> evaluate(const Program& program,
                                   const std::map<std::string, OracleOperand>& operands,
                                   const OracleOptions& options) {
  try {
    return Verifier(program, operands, options).run();
  } catch (const std::bad_alloc&) {
    return support::exhausted("memory", "verifying ran out of memory");
  }
}

}  // namespace schaas::client
