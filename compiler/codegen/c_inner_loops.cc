#include <algorithm>

#include "compiler/codegen/c_prefetch.h"
#include "compiler/codegen/c_statements.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"

// Loops inside of vector loops, over the entries of a row or a dense index. Iterations of those that only add
// are interleaved where registers are left. So are those of a scalar loop that adds and stores, as for a
// symmetric matrix, y(i) = L(i,j)*x(j) + L(j,i)*x(j). Rows of 13 entries take 0.9 of the time then, rows of
// 40 entries 0.75 to 0.95.
namespace schaas::codegen {
namespace {

/// Registers for the partial sums of a reduction with interleaved iterations.
constexpr int accumulator_budget = 8;

/// Whole rounds of interleaved iterations below which a loop runs one by one; a mispredicted second loop
/// costs as much as three of its rounds gain.
constexpr int min_rounds = 3;

/// The statement computes a value or an index of an element from one of the names.
bool reads(const loop_ir::StatementPtr& statement, const std::set<std::string>& names) {
  if (const auto* let = loop_ir::as<loop_ir::Let>(statement)) return loop_ir::mentions(let->value, names);
  if (const auto* fold = loop_ir::as<loop_ir::Accumulate>(statement))
    return loop_ir::mentions(fold->value, names);
  const auto* store = loop_ir::as<loop_ir::Store>(statement);
  return store != nullptr &&
         (loop_ir::mentions(store->index, names) || loop_ir::mentions(store->value, names));
}

}  // namespace

/// Returns the accumulators of a loop that only adds to them, or stores besides where that is said; none for
/// other loops, and where a running sum is read.
std::set<std::string> CVectorLoops::sums_of(const loop_ir::For& loop, bool may_store) const {
  std::set<std::string> sums;
  const auto statements = loop_ir::statements_of(loop.body);
  for (const auto& each : statements) {
    const auto* fold = std::get_if<loop_ir::Accumulate>(&each->node);
    const auto* store = std::get_if<loop_ir::Store>(&each->node);
    if (fold && expressions_.monoid_of(fold->name) == operators::Monoid::sum) {
      sums.insert(fold->name);
    } else if (store ? !may_store || expressions_.element_of(store->array) != loop_ir::Element::value
                     : !std::holds_alternative<loop_ir::Let>(each->node) &&
                           !std::holds_alternative<loop_ir::Prefetch>(each->node)) {
      return {};
    }
  }
  const bool is_read =
      std::any_of(statements.begin(), statements.end(), [&](const auto& each) { return reads(each, sums); });
  return is_read ? std::set<std::string>() : sums;
}

/// Prints an inner loop. When it only adds, and registers are left, iterations are interleaved with sums of
/// their own, so that additions do not wait for each other.
void CVectorLoops::print_inner(const loop_ir::For& loop, const Block& block) {
  if (block.type == "value" && print_gathered_sums(loop, block)) return;
  const auto sums = sums_of(loop, false);
  const int used = block.count * static_cast<int>(sums.size());
  // As many iterations as have registers for sums of their own.
  const int budget = blocks_ == Blocks::many ? accumulator_budget : partial_sums;
  const int iterations = used == 0 ? 1 : std::clamp(budget / used, 1, partial_sums);
  if (iterations > 1 && loop.step == 1 && loop.unroll == 1) {
    print_interleaved(loop, sums, block, iterations);
    return;
  }
  if (loop.unroll > 1) text_.line("UNROLL(" + std::to_string(loop.unroll) + ")");
  text_.open(for_header(loop, expressions_));
  print_iteration(loop, block);
  text_.close();
}

void CVectorLoops::print_iteration(const loop_ir::For& loop, const Block& block) {
  if (loop.prefetch_distance > 0 && block.type == "vec") print_prefetch(loop, block);
  print_body(loop.body, block);
}

/// Prefetches the last position again beyond the end.
void CVectorLoops::print_prefetch(const loop_ir::For& loop, const Block& block) {
  const Gathered gathers = gathered(loop);
  if (gathers.loads.empty()) return;
  const auto later = [](const std::string& name) { return name + "_prefetched"; };
  const std::string next = loop.variable + " + " + std::to_string(loop.prefetch_distance);
  const std::string last = gathers.coordinates + "_last";
  // Out of line, so that loops without prefetches do not jump over them.
  text_.open("if (__builtin_expect(prefetch, 0))");
  text_.line("const int64_t " + later(loop.variable) + " = " + next + " < " + last + " ? " + next + " : " +
             last + ";");
  loop_ir::Substitution with{{loop.variable, loop_ir::name(later(loop.variable))}};
  for (const auto& let : gathers.indices) {
    text_.line("const int64_t " + later(let.name) + " = " +
               expressions_.print(loop_ir::substitute(let.value, with)) + ";");
    with[let.name] = loop_ir::name(later(let.name));
  }
  for (const auto& load : gathers.loads) {
    const auto index = loop_ir::substitute(load.index, with);
    for (int part = 0; part < (varies(load.index) ? block.count : 1); ++part)
      text_.line("PREFETCH(" + std::to_string(part) + ", " + address(load.array, index, block, part) + ");");
  }
  text_.close();
}

/// Prints gathered sums, or interleaved iterations with accumulators of single values.
bool CVectorLoops::print_scalar_sums(const loop_ir::For& loop) {
  if (loop.step != 1 || loop.unroll != 1) return false;
  varying_.clear();
  if (loop.overruns) return print_overrun_by_loads(loop);
  Block block{"value", 1};
  block.scalar = true;
  if (print_gathered_sums(loop, block)) return true;
  const auto sums = sums_of(loop, true);
  if (sums.empty() || static_cast<int>(sums.size()) > partial_sums) return false;
  print_interleaved(loop, sums, block, partial_sums);
  return true;
}

/// Prints interleaved iterations; their later sums are numbered after the first ones. Does not pay for few
/// iterations.
void CVectorLoops::print_interleaved(const loop_ir::For& loop, const std::set<std::string>& sums,
                                     const Block& block, int iterations) {
  const std::string& v = loop.variable;
  const std::string count = std::to_string(iterations), more = v + " + " + count + " <= " + v + "_end";
  open_range(loop);
  text_.open("if (" + v + " + " + std::to_string(min_rounds * iterations) + " <= " + v + "_end)");
  for (const auto& name : sums) {
    for (int part = block.count; part < iterations * block.count; ++part) {
      text_.line(block.type + " " + part_name(name, part) + (block.type == "value" ? " = 0;" : " = {0};"));
    }
  }
  text_.open("for (; " + more + "; " + v + " += " + count + ")");
  // The body finds its iteration under the loop's name.
  text_.line("const int64_t " + v + "_iteration = " + v + ";");
  for (int iteration = 0; iteration < iterations; ++iteration) {
    text_.open("");
    text_.line("const int64_t " + v + " = " + v + "_iteration + " + std::to_string(iteration) + ";");
    Block own = block;
    own.first_sum = iteration * block.count;
    print_iteration(loop, own);
    text_.close();
  }
  text_.close();
  for (const auto& name : sums) {
    for (int part = 0; part < block.count; ++part) {
      std::string others;
      for (int iteration = iterations - 1; iteration > 0; --iteration) {
        const std::string own = part_name(name, part + iteration * block.count);
        others = others.empty() ? own : "(" + own + " + " + others + ")";
      }
      text_.line(sum_name(name, part, block) + " += " + others + ";");
    }
  }
  text_.close();
  text_.open("for (; " + v + " < " + v + "_end; ++" + v + ")");
  print_iteration(loop, block);
  text_.close();
  text_.close();
}

/// Outside vectors the first sum is the accumulator itself.
std::string CVectorLoops::sum_name(const std::string& name, int part, const Block& block) {
  return block.type == "value" && part == 0 && block.scalar ? name : part_name(name, part);
}

}  // namespace schaas::codegen
