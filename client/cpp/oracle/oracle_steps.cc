#include "client/cpp/oracle/oracle_steps.h"

#include <algorithm>
#include <list>
#include <numeric>
#include <set>

#include "client/cpp/oracle/oracle_accumulator.h"
#include "client/cpp/oracle/oracle_product.h"
#include "client/cpp/oracle/oracle_rewrite.h"
#include "client/cpp/oracle/oracle_walk.h"
#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/tensor_checks.h"

namespace schaas::client {
namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t small_tensor = std::int64_t{1} << 24;  // elements
constexpr double small_work = 3e8;                            // points
constexpr double bytes_each = 56;                             // size of a computed element
constexpr double max_dense_elements = 1 << 26;  // elements of a product's result that is kept dense

double volume(const Names& indices, const OracleContext& context) {
  double points = 1;
  for (const auto& index : indices) points *= static_cast<double>(context.extents.at(index));
  return points;
}

Names joined(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The body as a term, with the tensors it reads. Reductions become accesses whose tensors come later.
class CompiledFold {
 public:
  CompiledFold(const OracleFold& fold, const OracleContext& context) : context_(context) {
    for (const auto& index : fold.free) number(index);
    for (const auto& index : fold.reduced) number(index);
    root = compile(*fold.body);
    if (fold.wanted != nullptr) wanted = add_access(fold.wanted, fold.wanted_indices);
  }

  struct Pending {
    int access;
    const Reduction* reduction;
    Names free;
  };

  int number(const std::string& index) {
    const auto [known, is_new] = numbers_.emplace(index, static_cast<int>(numbers_.size()));
    if (is_new) extents.push_back(context_.extents.at(index));
    return known->second;
  }

  void set_tensor(int access, OracleTensorPointer tensor) {
    OracleAccess& placed = accesses[static_cast<std::size_t>(access)];
    placed.strides = row_major_strides(tensor->extents());
    placed.tensor = std::move(tensor);
  }

  OracleTerm root;
  std::vector<OracleAccess> accesses;
  std::vector<std::int64_t> extents;  ///< by number of an index
  std::list<Pending> pending;
  int wanted = -1;

 private:
  int add_access(OracleTensorPointer tensor, const Names& indices) {
    OracleAccess access;
    for (const auto& index : indices) access.indices.push_back(number(index));
    if (tensor != nullptr) access.strides = row_major_strides(tensor->extents());
    access.tensor = std::move(tensor);
    accesses.push_back(std::move(access));
    return static_cast<int>(accesses.size()) - 1;
  }

  OracleTerm compile(const Expression& expression) {
    OracleTerm term;
    if (const auto* literal = std::get_if<Literal>(&expression.node)) {
      term.number = given(rounded(literal->value, context_.type), context_.type);
    } else if (const auto* coordinate = std::get_if<Coordinate>(&expression.node)) {
      term.kind = OracleTerm::Kind::coordinate;
      term.index = number(coordinate->index);
      term.type = context_.type;
    } else if (const auto* access = std::get_if<Access>(&expression.node)) {
      term.kind = OracleTerm::Kind::access;
      term.access = add_access(context_.tensors.at(access->tensor), access->indices);
    } else if (const auto* reduction = std::get_if<Reduction>(&expression.node)) {
      term.kind = OracleTerm::Kind::access;
      const Names free = free_indices(expression);
      term.access = add_access(nullptr, free);
      pending.push_back({term.access, reduction, free});
    } else {
      term.kind = OracleTerm::Kind::operation;
      choose_function(expression, term);
      for (const auto& argument : parts(expression)) term.arguments.push_back(compile(argument));
    }
    return term;
  }

  void choose_function(const Expression& expression, OracleTerm& term) const {
    const auto* call = std::get_if<Call>(&expression.node);
    if (call == nullptr) {
      term.function = operators::product_of(*context_.semiring, context_.type);
      term.annihilator = context_.semiring->zero;
      return;
    }
    term.function =
        call->function == Function::add ? operators::combine(context_.semiring->sum) : call->function;
    if (call->function == Function::divide || call->function == Function::logical_and) {
      term.annihilator = 0;
      term.first_only = call->function == Function::divide;
    }
  }

  const OracleContext& context_;
  std::map<std::string, int> numbers_;
};

OracleSupport support_of_fold(const CompiledFold& compiled) {
  const OracleSupport body = support_of(compiled.root, compiled.accesses);
  if (compiled.wanted < 0) return body;
  OracleSupport wanted;
  wanted.any_of = {{compiled.wanted}};
  OracleSupport out = both(body, wanted);
  out.background = body.background;
  return out;
}

std::vector<int> numbers_below(std::size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

bool binds_all(const OracleSupport& support, const std::vector<OracleAccess>& accesses,
               const std::vector<int>& indices) {
  return !support.everywhere &&
         std::all_of(support.any_of.begin(), support.any_of.end(), [&](const auto& set) {
           return std::all_of(indices.begin(), indices.end(), [&](int index) {
             return std::any_of(set.begin(), set.end(), [&](int access) {
               const auto& read = accesses[static_cast<std::size_t>(access)].indices;
               return std::find(read.begin(), read.end(), index) != read.end();
             });
           });
         });
}

std::vector<std::int64_t> free_extents(const OracleFold& fold, const OracleContext& context) {
  std::vector<std::int64_t> extents;
  for (const auto& index : fold.free) extents.push_back(context.extents.at(index));
  return extents;
}

class FoldEvaluation {
 public:
  FoldEvaluation(const OracleFold& fold, const OracleContext& context)
      : fold_(fold), context_(context), compiled_(fold, context) {}

  /// Prepares the points of the body that have to be computed; computes the reductions in it.
  support::Result<void> prepare() {
    support_ = support_of_fold(compiled_);
    SCHAAS_RETURN_IF_ERROR(compute_pending(support_));
    if (support_.everywhere) support_ = support_of_fold(compiled_);
    return {};
  }

  const OracleSupport& support() const { return support_; }
  bool binds_free() const {
    return binds_all(support_, compiled_.accesses, numbers_below(fold_.free.size()));
  }

  support::Result<void> fold_into(OracleAccumulator& sums) const {
    const std::vector<int> free = numbers_below(fold_.free.size());
    const OracleAccess result{nullptr, free, row_major_strides(free_extents(fold_, context_))};
    OracleWalk request{&compiled_.accesses, &support_,
                       numbers_below(fold_.free.size() + fold_.reduced.size()), compiled_.extents};
    const auto max_entries = static_cast<std::size_t>(static_cast<double>(context_.memory_limit) / 100);
    SCHAAS_RETURN_IF_ERROR(walk(request, [&](OraclePoint& point) {
      if (sums.entries() < max_entries)
        sums.fold(key_at(result, point), evaluate_term(compiled_.root, compiled_.accesses, point));
    }));
    if (sums.entries() >= max_entries) {
      return support::unsupported("oracle-size", "verifying would hold more than " +
                                                     std::to_string(max_entries) + " computed entries");
    }
    return {};
  }

 private:
  // Computes reductions of the body at their reads alone when these are few.
  support::Result<void> compute_pending(const OracleSupport& support) {
    for (const auto& one : compiled_.pending) {
      OracleFold inner{one.reduction->monoid, one.free, one.reduction->indices, &one.reduction->body.front()};
      if (!is_small(inner, context_) && !support.everywhere) SCHAAS_RETURN_IF_ERROR(restrict(inner, support));
      SCHAAS_ASSIGN_OR_RETURN(OracleTensorPointer tensor, evaluate_fold(inner, context_));
      compiled_.set_tensor(one.access, std::move(tensor));
    }
    return {};
  }

  // The values of those free indices of `inner` that the support binds.
  support::Result<void> restrict(OracleFold& inner, const OracleSupport& support) {
    std::vector<int> wanted;
    std::vector<std::int64_t> extents;
    for (const auto& index : inner.free) {
      const int number = compiled_.number(index);
      if (!binds_all(support, compiled_.accesses, {number})) continue;
      inner.wanted_indices.push_back(index);
      wanted.push_back(number);
      extents.push_back(context_.extents.at(index));
    }
    if (wanted.empty()) return {};
    OracleAccumulator seen(Monoid::logical_or, 0, extents, OracleAccumulator::Store::entries);
    const OracleAccess key{nullptr, wanted, row_major_strides(extents)};
    // Indices that no set binds do not matter: one value of each is enough.
    std::vector<int> loops;
    for (const int index : numbers_below(compiled_.extents.size())) {
      if (std::any_of(support.any_of.begin(), support.any_of.end(), [&](const auto& set) {
            OracleSupport alone;
            alone.any_of = {set};
            return binds_all(alone, compiled_.accesses, {index});
          }))
        loops.push_back(index);
    }
    OracleWalk request{&compiled_.accesses, &support, loops, compiled_.extents};
    SCHAAS_RETURN_IF_ERROR(
        walk(request, [&](OraclePoint& point) { seen.fold(key_at(key, point), given(1)); }));
    inner.wanted = std::move(seen).finish(given(0), 1, false);
    return {};
  }

  const OracleFold& fold_;
  const OracleContext& context_;
  CompiledFold compiled_;
  OracleSupport support_;
};

// ---- products

std::optional<OracleProduct> product_of(const OracleFold& fold, const OracleContext& context) {
  if (fold.fold != context.semiring->sum || fold.wanted != nullptr) return std::nullopt;
  // Products are evaluated in double, from operands as they were given.
  if (is_integer(context.type) || is_complex(context.type) || context.narrow) return std::nullopt;
  OracleProduct product;
  product.semiring = context.semiring;
  product.result.indices = fold.free;
  const auto* whole = std::get_if<Product>(&fold.body->node);
  const std::vector<Expression> factors =
      whole != nullptr ? whole->factors : std::vector<Expression>{*fold.body};
  Names seen;
  for (const auto& factor : factors) {
    const auto* access = std::get_if<Access>(&factor.node);
    if (access == nullptr || context.operands.count(access->tensor) == 0) return std::nullopt;
    product.operands.push_back(*access);
    seen = joined(seen, access->indices);
  }
  const auto missing = [&](const std::string& index) {
    return std::find(seen.begin(), seen.end(), index) == seen.end();
  };
  if (std::any_of(fold.free.begin(), fold.free.end(), missing)) return std::nullopt;
  return product;
}

OracleTensorPointer tensor_of(const Expected& expected) {
  std::vector<Judged> values(static_cast<std::size_t>(expected.values.size()));
  for (std::size_t e = 0; e < values.size(); ++e) {
    const auto at = static_cast<std::int64_t>(e);
    values[e] = {expected.values.at(at), expected.magnitudes.at(at), false};
  }
  return OracleTensor::computed_dense(expected.values.extents, std::move(values));
}

support::Result<void> check_elements(const std::vector<std::int64_t>& extents) {
  double elements = 1;
  for (const std::int64_t extent : extents) elements *= static_cast<double>(extent);
  if (elements < 1e38) return {};
  return support::unsupported("oracle-size", "verifying cannot number more than 2^127 elements");
}

/// Returns the initial value of an element, before anything is folded into it.
double start_of(const OracleFold& fold, const OracleContext& context) {
  return fold.fold == context.semiring->sum ? context.semiring->zero : identity(fold.fold);
}

/// Adds the terms that an expression adds up with the sum of the semiring to `out`.
void collect_terms(const Expression& expression, bool negative, const Semiring& semiring,
                   std::vector<Expression>& out) {
  const auto* call = std::get_if<Call>(&expression.node);
  const bool signs = semiring.sum == Monoid::sum;
  const bool adds = call != nullptr &&
                    (call->function == Function::add ||
                     (signs && (call->function == Function::subtract || call->function == Function::negate)));
  if (!adds) {
    out.push_back(negative ? Expression{Call{Function::negate, {expression}}} : expression);
    return;
  }
  for (std::size_t n = 0; n < call->arguments.size(); ++n) {
    const bool flips = call->function == Function::negate || (call->function == Function::subtract && n == 1);
    collect_terms(call->arguments[n], negative != flips, semiring, out);
  }
}

/// Splits a sum that is zero but at entries in each of its terms: it is folded term by term. Every term then
/// visits its own entries, instead of each entry all of the terms.
std::vector<Expression> separate_terms(const OracleFold& fold, const OracleContext& context) {
  std::vector<Expression> terms;
  if (fold.fold == context.semiring->sum) collect_terms(*fold.body, false, *context.semiring, terms);
  const auto has_entries = [&](const Expression& term) {
    OracleFold one = fold;
    one.body = &term;
    const CompiledFold compiled(one, context);
    const OracleSupport support = support_of_fold(compiled);
    return compiled.pending.empty() && !support.everywhere &&
           support.background.value == context.semiring->zero;
  };
  if (terms.size() < 2 || !std::all_of(terms.begin(), terms.end(), has_entries)) return {*fold.body};
  return terms;
}

support::Result<OracleTensorPointer> evaluate_points(const OracleFold& fold, const OracleContext& context) {
  const std::set<std::string> distinct(fold.free.begin(), fold.free.end());
  if (distinct.size() != fold.free.size()) {
    return support::unsupported("oracle-expression",
                                "verifying a result with the same index twice is limited to "
                                "products that fit in memory as dense tensors");
  }
  const auto extents = free_extents(fold, context);
  SCHAAS_RETURN_IF_ERROR(check_elements(extents));
  const std::vector<Expression> terms = separate_terms(fold, context);
  std::vector<OracleFold> folds(terms.size(), fold);
  std::list<FoldEvaluation> evaluations;
  bool everywhere = false, by_entries = true;
  for (std::size_t n = 0; n < terms.size(); ++n) {
    folds[n].body = &terms[n];
    SCHAAS_RETURN_IF_ERROR(evaluations.emplace_back(folds[n], context).prepare());
    everywhere = everywhere || evaluations.back().support().everywhere;
    by_entries = by_entries && evaluations.back().binds_free();
  }
  const double elements = volume(fold.free, context), limit = static_cast<double>(context.memory_limit);
  if (everywhere && elements * bytes_each > limit) {
    return support::unsupported("oracle-size", "verifying needs " + bytes_text(elements * bytes_each) +
                                                   "; at most " + bytes_text(limit) + " are used");
  }
  by_entries = by_entries || elements * bytes_each > limit;
  OracleAccumulator sums(fold.fold, start_of(fold, context), extents,
                         by_entries ? OracleAccumulator::Store::entries : OracleAccumulator::Store::dense);
  for (const auto& evaluation : evaluations) SCHAAS_RETURN_IF_ERROR(evaluation.fold_into(sums));
  return std::move(sums).finish(evaluations.front().support().background, volume(fold.reduced, context),
                                everywhere);
}

bool has_few_entries(const OracleFold& fold, const OracleContext& context) {
  const CompiledFold compiled(fold, context);
  const OracleSupport support = support_of_fold(compiled);
  const OracleWalk request{&compiled.accesses, &support,
                           numbers_below(fold.free.size() + fold.reduced.size()), compiled.extents};
  return binds_all(support, compiled.accesses, numbers_below(fold.free.size())) &&
         points_of(request) <= small_work;
}

bool is_by_entries(const OracleFold& fold, const OracleContext& context) {
  const CompiledFold compiled(fold, context);
  return binds_all(support_of_fold(compiled), compiled.accesses, numbers_below(fold.free.size()));
}

support::Result<Expected> expected_of(const OracleTensor& tensor, ValueType type) {
  const bool integers = is_integer(type);
  const ValueType written = integers ? type : is_complex(type) ? ValueType::c128 : ValueType::f64;
  const auto number = [](const Judged& found) { return std::complex<double>(found.value, found.imaginary); };
  // Elements that nothing was folded into are constants: identities of monoids, zeros of semirings.
  const auto integer = [&](const Judged& found) {
    return is_integer(found.type) ? found.integer : operators::integer_of(found.value, type);
  };
  Expected expected;
  if (!tensor.sparse()) {
    SCHAAS_ASSIGN_OR_RETURN(expected.values, zeros(tensor.extents(), written));
    SCHAAS_ASSIGN_OR_RETURN(expected.magnitudes, zeros(tensor.extents(), ValueType::f64));
    for (std::int64_t e = 0; e < expected.values.size(); ++e) {
      const Judged found = tensor.at(e);
      if (integers) {
        expected.values.set_integer(e, integer(found));
        continue;
      }
      expected.values.set(e, number(found));
      expected.magnitudes.set(e, found.magnitude);
    }
    return expected;
  }
  Expected::Entries entries;
  const std::vector<Wide> strides = row_major_strides(tensor.extents());
  entries.values.extents = tensor.extents();
  entries.values.value_type = written;
  entries.values.coordinates.resize(strides.size());
  for (std::size_t e = 0; e < tensor.keys().size(); ++e) {
    Wide rest = tensor.keys()[e];
    for (std::size_t m = 0; m < strides.size(); ++m) {
      entries.values.coordinates[m].push_back(static_cast<std::int64_t>(rest / strides[m]));
      rest %= strides[m];
    }
    const Judged found = tensor.at(static_cast<std::int64_t>(e));
    if (integers) {
      entries.values.integers.push_back(integer(found));
    } else {
      entries.values.add_value(number(found));
    }
    entries.magnitudes.push_back(found.magnitude);
  }
  entries.background = tensor.background().value;
  entries.background_magnitude = tensor.background().magnitude;
  expected.entries = std::move(entries);
  return expected;
}

}  // namespace

bool is_small(const OracleFold& fold, const OracleContext& context) {
  const CompiledFold compiled(fold, context);
  const OracleSupport support = support_of_fold(compiled);
  if (product_of(fold, context) && volume(fold.free, context) <= small_tensor) return true;
  const OracleWalk request{&compiled.accesses, &support,
                           numbers_below(fold.free.size() + fold.reduced.size()), compiled.extents};
  if (points_of(request) > small_work) return false;
  return binds_all(support, compiled.accesses, numbers_below(fold.free.size())) ||
         volume(fold.free, context) <= small_tensor;
}

support::Result<Expected> evaluate_result(const OracleFold& fold, const OracleContext& context) {
  const auto product = product_of(fold, context);
  if (product && (volume(fold.free, context) <= max_dense_elements || !is_by_entries(fold, context))) {
    auto expected = evaluate_product(*product, context.operands, context.memory_limit);
    if (expected.ok() || expected.error().code != "oracle-size") return expected;
    auto by_points = evaluate_points(fold, context);
    if (by_points.ok()) return expected_of(**by_points, context.type);
    return expected;
  }
  SCHAAS_ASSIGN_OR_RETURN(const OracleTensorPointer tensor, evaluate_points(fold, context));
  return expected_of(*tensor, context.type);
}

support::Result<OracleTensorPointer> evaluate_fold(const OracleFold& fold, const OracleContext& context) {
  const auto product = product_of(fold, context);
  // Few entries stay entries, so that what reads them is computed there only.
  if (product && volume(fold.free, context) <= max_dense_elements && !has_few_entries(fold, context)) {
    auto expected = evaluate_product(*product, context.operands, context.memory_limit);
    if (expected.ok()) return tensor_of(*expected);
    if (expected.error().code != "oracle-size") return expected.error();
  }
  return evaluate_points(fold, context);
}

}  // namespace schaas::client
