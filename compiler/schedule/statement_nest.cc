#include "compiler/schedule/statement_nest.h"

#include <algorithm>
#include <utility>

#include "compiler/concrete_notation/linear_order.h"
#include "compiler/concrete_notation/loop_order.h"
#include "compiler/concrete_notation/semantics.h"
#include "compiler/problem/sparse_factors.h"
#include "compiler/support/contains.h"

// Default nest of a statement with reductions inside its value, by recursion over them. The outermost
// reductions are replaced by placeholders. What is left is one assignment, whose loops are ordered by the
// storage of its tensors. Then each reduction gets a depth among these loops: its branch stands there, and
// its temporary has the free indices of the loops below. The bodies of reductions are nests of their own,
// built the same way inside the loops above their branch. Invariants: no branch stands in a loop over an
// index that it binds itself. Storage orders hold between the loops above it and its own. Equal reductions of
// an assignment share a temporary. Placeholders come first because the loops depend on all reductions, and a
// temporary's indices on the loops.
namespace schaas::schedule {
namespace {

using concrete_notation::LoopOrder;
using concrete_notation::StatementPtr;
using index_notation::Access;
using index_notation::Expression;
using index_notation::Reduction;
using Names = std::vector<std::string>;

void add_new(const Names& more, const Names& known, Names& out) {
  for (const auto& name : more) {
    if (!support::contains(known, name) && !support::contains(out, name)) out.push_back(name);
  }
}

/// Appends all indices that reductions in an expression bind.
void add_bound(const Expression& expression, Names& out) {
  if (const auto* reduction = std::get_if<Reduction>(&expression.node)) add_new(reduction->indices, {}, out);
  for (const auto& part : index_notation::parts(expression)) add_bound(part, out);
}

/// A reduction inside the value of an assignment, and the temporary that stands for it.
struct Inner {
  Reduction reduction;
  Names free;
  Access temporary{};
  std::size_t depth = 0;  ///< number of the assignment's loops above its branch
};

/// A computation: target = monoid(target, value), folded over `reduced` too.
struct Task {
  Access target;
  Expression value;
  Names reduced;
  operators::Monoid monoid = operators::Monoid::sum;
};

class Builder {
 public:
  Builder(const problem::Problem& problem, TemporaryNames& names) : problem_(problem), names_(names) {}

  /// `outer`: the loops around.
  StatementPtr nest(const Task& task, const Names& outer) {
    std::vector<Inner> inner;
    std::vector<Access> accesses;
    const Expression with_placeholders = without_reductions(task.value, inner, accesses);
    const Names loops = loops_of(task, with_placeholders, inner, outer);
    for (auto& each : inner) choose_depth(each, accesses, loops, outer);
    return build(task, named(with_placeholders, inner), inner, loops, 0, outer);
  }

 private:
  /// Replaces outermost reductions by placeholders `#0`, `#1`, ..., equal ones by the same.
  static Expression without_reductions(const Expression& value, std::vector<Inner>& inner,
                                       std::vector<Access>& accesses) {
    if (const auto* reduction = std::get_if<Reduction>(&value.node)) {
      const auto same = std::find_if(inner.begin(), inner.end(),
                                     [&](const Inner& each) { return each.reduction == *reduction; });
      const auto number = static_cast<std::size_t>(same - inner.begin());
      if (same == inner.end()) inner.push_back({*reduction, index_notation::free_indices(value)});
      return Expression{Access{"#" + std::to_string(number), {}, {}, {}}, value.range};
    }
    if (const auto* access = std::get_if<Access>(&value.node)) accesses.push_back(*access);
    std::vector<Expression> parts = index_notation::parts(value);
    if (parts.empty()) return value;
    for (auto& part : parts) part = without_reductions(part, inner, accesses);
    return index_notation::with_parts(value, std::move(parts));
  }

  /// Puts the temporaries in, once their depths and so their indices are known.
  static Expression named(const Expression& with_placeholders, const std::vector<Inner>& inner) {
    return index_notation::with_accesses(with_placeholders, [&](Access access) {
      if (access.tensor.front() != '#') return access;
      return inner[static_cast<std::size_t>(std::stoul(access.tensor.substr(1)))].temporary;
    });
  }

  /// Returns the demands that the storage of these tensors makes on the loops.
  std::vector<LoopOrder> orders_of(const std::vector<Access>& accesses) const {
    std::vector<LoopOrder> out;
    for (const auto& access : accesses) {
      const auto more = concrete_notation::loop_order(access, problem_);
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }

  /// Orders the loops of an assignment: indices of the target first, then as they appear, as storage permits.
  Names loops_of(const Task& task, const Expression& with_placeholders, const std::vector<Inner>& inner,
                 const Names& outer) const {
    Names indices;
    std::vector<Access> accesses = index_notation::operands(with_placeholders);
    std::erase_if(accesses, [](const Access& access) { return access.tensor.front() == '#'; });
    add_new(task.target.indices, outer, indices);
    for (const auto& access : accesses) add_new(access.indices, outer, indices);
    add_new(index_notation::coordinates(with_placeholders), outer, indices);
    for (const auto& each : inner) add_new(each.free, outer, indices);
    add_new(task.reduced, outer, indices);
    const auto own = orders_of(accesses);
    std::vector<LoopOrder> inside = own;
    for (const auto& each : inner) {
      const auto more = orders_of(index_notation::operands(each.reduction.body.front()));
      inside.insert(inside.end(), more.begin(), more.end());
    }
    std::vector<LoopOrder> result;
    if (task.target.tensor == problem_.statement.result.tensor)
      result = concrete_notation::result_loop_order(problem_);
    // Stronger demands come first; those of the reductions and of the result can be dropped.
    for (const bool with_inner : {true, false}) {
      const auto& wanted = with_inner ? inside : own;
      std::vector<LoopOrder> all = result;
      all.insert(all.end(), wanted.begin(), wanted.end());
      if (auto order = concrete_notation::linear_order(indices, all); order.legal) return order.loops;
    }
    return concrete_notation::linear_order(indices, own).loops;
  }

  /// Storage orders allow the loops of the reduction below those around it.
  bool reachable(const Inner& inner, const Names& around) const {
    const auto orders = orders_of(index_notation::operands(inner.reduction.body.front()));
    return std::none_of(orders.begin(), orders.end(), [&](const LoopOrder& order) {
      const auto after = std::find(around.begin(), around.end(), order.after);
      return after != around.end() && std::find(around.begin(), after, order.before) == after;
    });
  }

  bool is_walked(const std::string& index, const std::vector<Access>& accesses) const {
    return std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
      return concrete_notation::is_walked(access, index, problem_);
    });
  }

  /// Chooses the depth of a reduction's branch, and so the indices of its temporary.
  void choose_depth(Inner& inner, const std::vector<Access>& accesses, const Names& loops,
                    const Names& outer) {
    Names bound = inner.reduction.indices;
    add_bound(inner.reduction.body.front(), bound);
    const auto is_free = [&](const std::string& index) { return support::contains(inner.free, index); };
    // Below the prefix the branch would be repeated in loops over other indices.
    const auto prefix =
        static_cast<std::size_t>(std::find_if_not(loops.begin(), loops.end(), is_free) - loops.begin());
    std::size_t last = 0;  // below the last loop over a free index
    for (std::size_t n = 0; n < loops.size(); ++n) {
      if (is_free(loops[n])) last = n + 1;
    }
    // Loops over entries are worth the repetition: they decide where the reduction is needed at all.
    const bool sparse = std::any_of(loops.begin() + static_cast<std::ptrdiff_t>(std::min(prefix, last)),
                                    loops.begin() + static_cast<std::ptrdiff_t>(last),
                                    [&](const std::string& index) { return is_walked(index, accesses); });
    inner.depth = last > prefix && !sparse ? prefix : last;
    const auto fits = [&] {
      Names around = outer;
      around.insert(around.end(), loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(inner.depth));
      return reachable(inner, around) && std::none_of(bound.begin(), bound.end(), [&](const auto& index) {
               return support::contains(around, index);
             });
    };
    // Moves outwards until the branch is legal and stands right below a loop that it depends on.
    while (inner.depth > 0 && (!fits() || !is_free(loops[inner.depth - 1]))) --inner.depth;
    inner.temporary.tensor = names_.next();
    for (std::size_t n = inner.depth; n < loops.size(); ++n) {
      if (is_free(loops[n])) inner.temporary.indices.push_back(loops[n]);
    }
  }

  /// Builds the loops from `depth` on, each branch around the statement of its depth; the first reduction
  /// runs first.
  StatementPtr build(const Task& task, const Expression& value, const std::vector<Inner>& inner,
                     const Names& loops, std::size_t depth, const Names& around) {
    StatementPtr out;
    Names here = around;
    if (depth == loops.size()) {
      out = concrete_notation::assign(task.target, value, task.monoid);
    } else {
      here.push_back(loops[depth]);
      out = concrete_notation::forall(loops[depth], build(task, value, inner, loops, depth + 1, here));
    }
    for (auto each = inner.rbegin(); each != inner.rend(); ++each) {
      if (each->depth != depth) continue;
      const Reduction& reduction = each->reduction;
      const auto producer =
          nest(Task{each->temporary, reduction.body.front(), reduction.indices, reduction.monoid}, around);
      out = concrete_notation::where(std::move(out), producer);
    }
    return out;
  }

  const problem::Problem& problem_;
  TemporaryNames& names_;
};

}  // namespace

StatementPtr statement_nest(const index_notation::Assignment& statement, const problem::Problem& problem,
                            TemporaryNames& names) {
  Task task{statement.result,
            problem::explicit_value(statement, problem),
            {},
            concrete_notation::target_monoid(statement, problem)};
  // A reduction that is the whole value folds straight into the target, without a temporary.
  const auto* reduction = std::get_if<Reduction>(&task.value.node);
  if (reduction != nullptr && reduction->monoid == task.monoid) {
    task.reduced = reduction->indices;
    Expression body = reduction->body.front();
    task.value = std::move(body);
  }
  return Builder(problem, names).nest(task, {});
}

}  // namespace schaas::schedule
