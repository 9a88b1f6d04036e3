#include "compiler/index_notation/verifier.h"

#include <algorithm>
#include <map>

#include "compiler/index_notation/definitions.h"
#include "compiler/index_notation/implied_sums.h"
#include "compiler/index_notation/lexer.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/selections.h"
#include "compiler/support/contains.h"
#include "compiler/support/limits.h"

// Checks of meaning, in an order in which each may rely on those before. First come names, ranks and limits
// of each statement: extent classes need equal ranks, later stages need the limits. Then the statements
// together (definitions.h), then reductions and implied sums, which need to know what is defined. The first
// violation ends the check, since later ones are often its consequences. Recursion is as deep as the parser
// allows.
// Two kinds of statements are refused although they have a meaning: sums and updates that readers would take
// in different ways (doubtful_sum, ambiguous_update). The note then says which explicit form to write.
namespace schaas::index_notation {
namespace {

using operators::Function;
using support::Diagnostic;
using support::Limits;
using support::Result;
using support::SourceRange;

std::string at_most(std::size_t found, const char* noun, std::size_t limit) {
  return std::to_string(found) + " " + noun + "; at most " + std::to_string(limit) + " are supported";
}

class Verifier {
 public:
  Verifier(const Program& program, std::string_view source) : program_(program), source_(source) {}

  Result<void> verify() {
    for (const auto& statement : program_.statements) {
      SCHAAS_RETURN_IF_ERROR(one(statement.result));
      SCHAAS_RETURN_IF_ERROR(written_range(statement));
      const auto reads = operands(statement.value);
      for (const auto& access : reads) {
        SCHAAS_RETURN_IF_ERROR(one(access));
        SCHAAS_RETURN_IF_ERROR(no_index(access));
      }
      SCHAAS_RETURN_IF_ERROR(factors(statement.value));
      if (reads.size() > Limits::operands) {
        return fail(
            support::unsupported("too-many-operands",
                                 "the statement has " + at_most(reads.size(), "operands", Limits::operands)),
            reads[Limits::operands].range);
      }
    }
    const auto indices = index_variables(program_.statements);
    if (indices.size() > Limits::indices) {
      return fail(
          support::unsupported("too-many-indices",
                               "the expression has " + at_most(indices.size(), "indices", Limits::indices)),
          {program_.statements.front().range.begin, program_.statements.back().range.end});
    }
    SCHAAS_RETURN_IF_ERROR(parameters());
    SCHAAS_RETURN_IF_ERROR(
        verify_definitions(has_ranges(program_) ? with_selections(program_) : program_, source_));
    for (const auto& statement : program_.statements) SCHAAS_RETURN_IF_ERROR(meaning(statement));
    return {};
  }

 private:
  Diagnostic fail(Diagnostic d, SourceRange range) const {
    return source_.empty() ? d : support::at(std::move(d), "expression", std::string(source_), range);
  }
  Diagnostic fail(Diagnostic d, SourceRange range, const std::string& note) const {
    return fail(support::noting(std::move(d), note), range);
  }
  static SourceRange range_at(const Access& access, std::size_t mode) {
    return mode < access.index_ranges.size() ? access.index_ranges[mode] : access.range;
  }

  // Names and ranks.

  // Checks names and number of modes, and that a tensor has one rank in all statements.
  Result<void> one(const Access& access) {
    if (selects(access)) return selection(access);
    if (is_reserved(access.tensor)) {
      const std::uint32_t begin = access.range.begin;
      return reserved(access.tensor, {begin, begin + static_cast<std::uint32_t>(access.tensor.size())});
    }
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode) {
      if (is_reserved(access.indices[mode])) return reserved(access.indices[mode], range_at(access, mode));
    }
    if (access.indices.size() > Limits::order) {
      return fail(support::unsupported("order-too-high",
                                       quoted(access.tensor) + " has " +
                                           at_most(access.indices.size(), "indices", Limits::order)),
                  access.range);
    }
    const Access& before = first_.emplace(access.tensor, access).first->second;
    if (before.indices.size() == access.indices.size()) return {};
    return fail(
        support::invalid("rank-mismatch", quoted(access.tensor) + " is used as " + quoted(print(access)) +
                                              " but has " + std::to_string(before.indices.size()) +
                                              (before.indices.size() == 1 ? " index" : " indices") + " in " +
                                              quoted(print(before))),
        access.range);
  }

  // `select(p,i(2:5))` relates two indices, or an index and a coordinate.
  Result<void> selection(const Access& access) const {
    const bool fits = access.indices.size() == 2 && mode_range(access, 0) == nullptr &&
                      access.indices[0] != access.indices[1];
    if (fits) return {};
    return fail(
        support::invalid("range", quoted(print(access)) + " selects nothing"), access.range,
        "`select` takes an index and what is selected for it, as in `select(p,i(2:5))` or `select(p,0)`");
  }

  // Refuses updates that would change elements outside of the range: the zero is neutral for the sum alone.
  Result<void> written_range(const Assignment& statement) const {
    const Access& result = statement.result;
    if (result.tensor == select_name)
      return fail(
          support::invalid("reserved-name", quoted(result.tensor) + " selects and cannot be a result"),
          result.range);
    const bool is_whole = result.ranges.empty() && !is_diagonal(result);
    if (is_whole || !statement.update || statement.update == program_.semiring->sum) return {};
    return fail(support::unsupported("range", quoted(print(result)) + " is updated by " +
                                                  quoted(operators::name(*statement.update)) +
                                                  ", and a part of a result is only added to"),
                result.range,
                "`=` and `" + std::string(operators::name(program_.semiring->sum)) +
                    "` work; or give an operand that holds the part");
  }

  // A name in a range is that of a scalar operand.
  Result<void> parameters() const {
    const auto indices = index_variables(program_.statements);
    for (const auto& name : range_parameters(program_)) {
      const auto tensor = first_.find(name);
      const bool is_tensor = tensor != first_.end() && !tensor->second.indices.empty();
      const bool is_defined = std::any_of(program_.statements.begin(), program_.statements.end(),
                                          [&](const auto& each) { return each.result.tensor == name; });
      if (!is_tensor && !is_defined && !is_reserved(name) && !support::contains(indices, name)) continue;
      return fail(support::noting(
                      support::invalid("range", quoted(name) + " bounds a range and is no scalar operand"),
                      "a bound is a whole number, or a name of its own that a whole number is given for"),
                  {program_.statements.front().range.begin, program_.statements.back().range.end});
    }
    return {};
  }

  // A name that is an index and a tensor does not tell which number it stands for.
  Result<void> no_index(const Access& access) const {
    if (!access.indices.empty() || !support::contains(index_variables(program_.statements), access.tensor))
      return {};
    return fail(
        support::invalid("index-as-value",
                         quoted(access.tensor) + " is an index and a tensor, so it could be either number"),
        access.range,
        "an index that stands alone is its coordinate; a tensor needs a name that no index has");
  }

  // A tree prints as forall(i, ...) and where(..., ...), so its words are no names; inf is a number.
  static bool is_reserved(const std::string& name) {
    return name == "forall" || name == "blocks" || name == "where" || name == "inf";
  }
  Diagnostic reserved(const std::string& name, SourceRange range) const {
    return fail(support::invalid(
                    "reserved-name",
                    quoted(name) + (name == "inf" ? " is a number" : " is a word of the schedule language") +
                        " and cannot be a name"),
                range);
  }

  // Bounds each product by itself: an expression may hold several.
  Result<void> factors(const Expression& value) const {
    const auto& all = parts(value);
    if (std::holds_alternative<Product>(value.node) && all.size() > Limits::factors) {
      return fail(support::unsupported("too-many-factors",
                                       "the product has " + at_most(all.size(), "operands", Limits::factors)),
                  all[Limits::factors].range);
    }
    for (const auto& part : all) SCHAAS_RETURN_IF_ERROR(factors(part));
    return {};
  }

  // Reductions, sums and operators.

  // Checks operators, reductions and implied sums of one statement.
  Result<void> meaning(const Assignment& statement) const {
    if (program_.semiring != &operators::plus_times())
      SCHAAS_RETURN_IF_ERROR(semiring_operators(statement.value));
    std::vector<std::string> bound;
    SCHAAS_RETURN_IF_ERROR(reductions(statement, statement.value, bound));
    for (const auto& term : additive_terms(statement.value))
      SCHAAS_RETURN_IF_ERROR(bound_and_summed(term, implied_indices(statement, term)));
    SCHAAS_RETURN_IF_ERROR(doubts(statement));
    return ambiguous_update(statement);
  }

  // Semirings have no inverses, so subtraction, division and negation mean nothing under them.
  Result<void> semiring_operators(const Expression& value) const {
    const auto* call = std::get_if<Call>(&value.node);
    const bool refused =
        call != nullptr && (call->function == Function::subtract || call->function == Function::divide ||
                            call->function == Function::negate);
    if (refused) {
      const std::string name = program_.semiring->name;
      return fail(
          support::invalid("semiring-operator",
                           quoted(operators::facts(call->function).infix) + " has no meaning under " + name),
          value.range,
          "a semiring has `+` and `*` alone; without `" + name +
              ":` every operator works, and reductions are written out, as in `min(j)(B(i,j) - c(j))`");
    }
    for (const auto& part : parts(value)) SCHAAS_RETURN_IF_ERROR(semiring_operators(part));
    return {};
  }

  // `bound`: indices of the reductions around `value`.
  Result<void> reductions(const Assignment& statement, const Expression& value,
                          std::vector<std::string>& bound) const {
    const std::size_t outside = bound.size();
    if (const auto* reduction = std::get_if<Reduction>(&value.node)) {
      for (const auto& index : reduction->indices) {
        SCHAAS_RETURN_IF_ERROR(reduced(statement, *reduction, index, bound, value.range));
        bound.push_back(index);
      }
    }
    for (const auto& part : parts(value)) SCHAAS_RETURN_IF_ERROR(reductions(statement, part, bound));
    bound.resize(outside);
    return {};
  }
  // Checks one index of a reduction: free in the body, and bound by nothing around it.
  Result<void> reduced(const Assignment& statement, const Reduction& reduction, const std::string& index,
                       const std::vector<std::string>& bound, SourceRange range) const {
    const std::string name = operators::name(reduction.monoid);
    if (support::contains(statement.result.indices, index)) {
      return fail(support::invalid("index-reduced", "index " + quoted(index) + " is on the left, so " +
                                                        quoted(name) + " cannot reduce it"),
                  range, "give the reduced index another name, or leave it away on the left");
    }
    if (support::contains(bound, index)) {
      return fail(support::invalid("index-bound-twice", "index " + quoted(index) + " is reduced twice"),
                  range, "a reduction inside another needs indices of its own");
    }
    if (has_free(reduction.body.front(), index)) return {};
    return fail(
        support::invalid("nothing-to-reduce", quoted(name) + " reduces index " + quoted(index) + ", which " +
                                                  quoted(print(reduction.body.front())) + " does not have"),
        range, "to count or scale by an extent write the number itself");
  }

  // Refuses an index that an implied sum around a whole term and a reduction inside of it both bind.
  Result<void> bound_and_summed(const Expression& value, const std::vector<std::string>& summed) const {
    if (const auto* reduction = std::get_if<Reduction>(&value.node)) {
      for (const auto& index : reduction->indices) {
        if (!support::contains(summed, index)) continue;
        return fail(
            support::invalid("index-bound-twice", "index " + quoted(index) +
                                                      " is reduced here and summed over the whole term, "
                                                      "where it stands outside as well"),
            value.range, "give one of the two another name");
      }
    }
    for (const auto& part : parts(value)) SCHAAS_RETURN_IF_ERROR(bound_and_summed(part, summed));
    return {};
  }

  // Asks for an explicit sum where the implied one might be meant further in.
  Result<void> doubts(const Assignment& statement) const {
    const auto doubt = doubtful_sum(statement, *program_.semiring);
    if (!doubt) return {};
    const std::string name = operators::name(program_.semiring->sum);
    const std::string index = "index " + quoted(doubt->index), part = quoted(print(doubt->part));
    std::string message;
    if (doubt->kind == DoubtfulSum::Kind::left_out) {
      message = index + " would be summed over " + part + " too, which does not have it";
    } else if (doubt->kind == DoubtfulSum::Kind::reduced) {
      message = index + " would be summed outside of the reduction " + part;
    } else {
      message = index + " of " + part + " would be summed outside of the function around it";
    }
    return fail(support::invalid("ambiguous-sum", message), doubt->part.range,
                "write " + quoted(name + "(" + doubt->index + ")(...)") + " around what is summed");
  }

  // An index that is missing on the left would be reduced by the update's monoid or by the semiring's sum.
  Result<void> ambiguous_update(const Assignment& statement) const {
    if (!statement.update || statement.update == program_.semiring->sum) return {};
    for (const auto& term : additive_terms(statement.value)) {
      const auto indices = implied_indices(statement, term);
      if (indices.empty()) continue;
      const std::string sum = operators::name(program_.semiring->sum),
                        own = operators::name(*statement.update);
      const std::string reduces = "(" + indices.front() + ")(...)`";
      return fail(
          support::invalid("ambiguous-update", "index " + quoted(indices.front()) +
                                                   " is not on the left of an update by " + quoted(own) +
                                                   ": it could be reduced by that or by " + quoted(sum)),
          term.range, "write `" + own + reduces + " or `" + sum + reduces);
    }
    return {};
  }

  const Program& program_;
  std::string_view source_;
  std::map<std::string, Access> first_;  // first access to each tensor
};

}  // namespace

Result<void> verify(const Program& program, std::string_view source) {
  return Verifier(program, source).verify();
}

}  // namespace schaas::index_notation
