#include "compiler/lower/emit/coordinate_bounds.h"

#include <algorithm>
#include <functional>
#include <utility>

// Comparisons as linear forms: `a <= b` is `a - b <= 0`, which is solved for the index where its factor is 1
// or -1. Bounds are whole numbers, so `<` and `<=` differ by one. An equation that determines a loop below
// bounds the index from both sides. Coordinates of loops below may be anything from 0 to their extents. Each
// takes the end at which the bound is the loosest, or the tightest where all of them have to fit.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using operators::Function;

class CoordinateBounds {
 public:
  CoordinateBounds(int index, const loop_ir::Range& all, bool tight, const Scope& scope,
                   KernelBuilder& builder)
      : index_(index), tight_(tight), scope_(scope), builder_(builder), found_{all, {}} {}

  /// Narrows the range to where the comparison may hold.
  void compare(const CoordinateComparison& comparison) {
    const bool equal = comparison.function == Function::equal;
    const bool less = comparison.function == Function::less || comparison.function == Function::less_equal;
    const std::int64_t strict =
        comparison.function == Function::less || comparison.function == Function::greater ? 1 : 0;
    if (less || equal) at_most(comparison.difference, loop_ir::integer(-strict));
    if (!less) at_least(comparison.difference, loop_ir::integer(strict));
  }

  /// Narrows the range to where the value of a loop below may be a coordinate of its index.
  void contain(const Loop& below) {
    const LinearForm& value = *below.value;
    const bool begins = at_least(value, loop_ir::integer(0));
    const bool ends = at_most(value, loop_ir::add(builder_.extents.of(below.index), loop_ir::integer(-1)));
    if (begins && ends && (tight_ || is_known(value))) found_.certain.push_back(below.index);
  }

  /// Returns the range, which may be empty and then ends where it begins.
  CoordinateRange found() && {
    if (narrowed_)
      found_.range.end = loop_ir::apply(Function::maximum, {found_.range.begin, found_.range.end});
    return std::move(found_);
  }

 private:
  /// form <= bound; returns whether the range was narrowed.
  bool at_most(const LinearForm& form, const ExpressionPtr& bound) {
    const auto own = form.factors.find(index_);
    if (own == form.factors.end()) return false;
    if (own->second == 1) return end(loop_ir::subtract(bound, rest(form, tight_)));
    if (own->second == -1) return begin(loop_ir::subtract(rest(form, tight_), bound));
    return false;
  }
  /// form >= bound.
  bool at_least(const LinearForm& form, const ExpressionPtr& bound) {
    const auto own = form.factors.find(index_);
    if (own == form.factors.end()) return false;
    if (own->second == 1) return begin(loop_ir::subtract(bound, rest(form, !tight_)));
    if (own->second == -1) return end(loop_ir::subtract(rest(form, !tight_), bound));
    return false;
  }
  bool begin(const ExpressionPtr& least) {
    found_.range.begin = loop_ir::apply(Function::maximum, {found_.range.begin, least});
    return narrowed_ = true;
  }
  bool end(const ExpressionPtr& greatest) {
    found_.range.end = loop_ir::minimum(found_.range.end, loop_ir::add(greatest, loop_ir::integer(1)));
    return narrowed_ = true;
  }

  /// Returns the form without the index, unknown coordinates where it is the greatest, or the least.
  ExpressionPtr rest(const LinearForm& form, bool greatest) const {
    ExpressionPtr sum = loop_ir::integer(form.number);
    for (const auto& [index, factor] : form.factors) {
      if (index == index_) continue;
      const auto known = scope_.coordinates.find(index);
      if (known == scope_.coordinates.end() && (factor > 0) != greatest) continue;  // it is 0 there
      const ExpressionPtr coordinate = known != scope_.coordinates.end()
                                           ? loop_ir::name(known->second)
                                           : loop_ir::add(builder_.extents.of(index), loop_ir::integer(-1));
      sum = loop_ir::add(loop_ir::multiply(coordinate, loop_ir::integer(factor)), std::move(sum));
    }
    return sum;
  }

  bool is_known(const LinearForm& form) const {
    for (const auto& [index, factor] : form.factors)
      if (index != index_ && scope_.coordinates.count(index) == 0) return false;
    return true;
  }

  int index_;
  bool tight_;
  const Scope& scope_;
  KernelBuilder& builder_;
  CoordinateRange found_;
  bool narrowed_ = false;
};

}  // namespace

CoordinateRange bounded_by_coordinates(const Loop& loop, const loop_ir::Range& all, const Scope& scope,
                                       KernelBuilder& builder) {
  CoordinateBounds bounds(loop.index, all, false, scope, builder);
  const NestPtr* at = &loop.body;
  while (const auto* inner = std::get_if<Loop>(&(*at)->node)) {
    if (inner->value) bounds.contain(*inner);
    at = &inner->body;
  }
  for (const CoordinateComparison& comparison : std::get<Leaf>((*at)->node).comparisons)
    bounds.compare(comparison);
  return std::move(bounds).found();
}

CoordinateRange with_all_values(const Loop& loop, const loop_ir::Range& all, const Scope& scope,
                                KernelBuilder& builder) {
  CoordinateBounds bounds(loop.index, all, true, scope, builder);
  const std::function<void(const NestPtr&)> contain = [&](const NestPtr& nest) {
    std::visit(loop_ir::Match{
                   [&](const Loop& inner) {
                     if (inner.value) bounds.contain(inner);
                     contain(inner.body);
                   },
                   [&](const Blocks& blocks) { contain(blocks.body); },
                   [&](const Branch& branch) {
                     contain(branch.producer);
                     contain(branch.consumer);
                   },
                   [&](const Terms& sum) { std::for_each(sum.terms.begin(), sum.terms.end(), contain); },
                   [](const Leaf&) {},
               },
               nest->node);
  };
  contain(loop.body);
  return std::move(bounds).found();
}

ExpressionPtr evaluated(const LinearForm& form, const Scope& scope) {
  ExpressionPtr sum = loop_ir::integer(form.number);
  for (const auto& [index, factor] : form.factors)
    sum =
        loop_ir::add(loop_ir::multiply(loop_ir::name(scope.coordinates.at(index)), loop_ir::integer(factor)),
                     std::move(sum));
  return sum;
}

}  // namespace schaas::lower
