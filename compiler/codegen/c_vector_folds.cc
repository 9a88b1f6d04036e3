#include <algorithm>

#include "compiler/codegen/c_lanes.h"
#include "compiler/codegen/c_statements.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/loop_ir/vector_form.h"

// Reductions over adjacent elements: registers of partial results, folded at the end. Of the last register
// the elements of the loop alone are loaded; the others are zeros, or the identity of other monoids.
// Interleaved registers hide the latency of additions; one fold alone has four, several share them.
namespace schaas::codegen {
namespace {

/// Iterations that are fully unrolled when the compiler knows the length. docs/performance/kernels.md.
constexpr int unrolled_iterations = 16;

/// Returns the partial results of each of several interleaved folds.
int parts_of(std::size_t folds) { return std::max(1, CVectorLoops::partial_sums / static_cast<int>(folds)); }

}  // namespace

bool CVectorLoops::print_fold(const loop_ir::For& loop, CLanes& lanes) {
  Folds folds;
  for (const auto& each : statements_of(loop.body)) {
    const auto* fold = std::get_if<loop_ir::Accumulate>(&each->node);
    if (!fold) return false;
    folds.push_back(fold);
  }
  varying_ = {loop.variable};
  const auto monoid = expressions_.monoid_of(folds.front()->name);
  for (const auto* fold : folds) {
    // Folds of one loop share its registers' type and steps, so they have one monoid.
    const bool in_lanes = loop_ir::is_vector_value(fold->value, loop.variable, varying_);
    if (!varies(fold->value) || !in_lanes || expressions_.monoid_of(fold->name) != monoid) return false;
  }
  if (monoid == operators::Monoid::sum) {
    print_sums(loop, folds, lanes);
  } else {
    print_other_folds(loop, folds, monoid);
  }
  return true;
}

/// Prints a loop while `block` fits: `each` for every fold and part of it.
void CVectorLoops::step(const loop_ir::For& loop, const Folds& folds, const Block& block, const char* keyword,
                        const std::function<void(const loop_ir::Accumulate&, int)>& each) {
  const std::string& v = loop.variable;
  const std::string width = std::to_string(block.count) + " * WIDTH(" + block.type + ")";
  text_.open(std::string(keyword) + " (" + v + " + " + width + " <= " + v + "_end)");
  for (const auto* fold : folds) {
    for (int part = 0; part < block.count; ++part) each(*fold, part);
  }
  text_.line(v + " += " + width + ";");
  text_.close();
}

/// Prints partial results that begin at the identity, and the fold of every element at the end.
void CVectorLoops::print_other_folds(const loop_ir::For& loop, const Folds& folds, operators::Monoid monoid) {
  const int parts = parts_of(folds.size());
  const auto steps = [&](const Block& block) {
    step(loop, folds, block, "while", [&](const loop_ir::Accumulate& fold, int part) {
      const std::string target = block.type == "value" ? fold.name : partial(fold, part);
      text_.line(expressions_.fold(block.type, monoid, target, vector_expression(fold.value, block, part)));
    });
  };
  open_range(loop);
  const std::string identity =
      expressions_.broadcast("vec", expressions_.number(operators::identity(monoid)));
  for (const auto* fold : folds) {
    for (int part = 0; part < parts; ++part)
      text_.line("vec " + partial(*fold, part) + " = " + identity + ";");
  }
  if (parts > 1) steps({"vec", parts});
  steps({"vec", 1});
  for (const auto* fold : folds) {
    for (int part = 1; part < parts; ++part) {
      text_.line(expressions_.fold("vec", monoid, partial(*fold, 0), partial(*fold, part)));
    }
  }
  loop_ir::Uses uses;
  for (const auto* fold : folds) loop_ir::collect_uses(fold->value, uses);
  const bool in_part = expressions_.load_in_part(uses) && !expressions_.is_complex();
  if (in_part) {
    const std::string& v = loop.variable;
    text_.open("if (" + v + " < " + v + "_end)");
    Block rest{"vec", 1};
    rest.first = v + "_end - " + v;
    for (const auto* fold : folds) {
      text_.line(expressions_.fold("vec", monoid, partial(*fold, 0),
                                   "FIRST_OR(vec, (" + vector_expression(fold->value, rest, 0) + "), " +
                                       rest.first + ", " + identity + ")"));
    }
    text_.close();
  }
  for (const auto* fold : folds) print_fold_of_lanes(*fold, monoid);
  if (!in_part) steps({"value", 1});
  text_.close();
}

/// Folds the lanes of the partial result, first whole registers of 16 bytes, whose folds wait for each other
/// less.
void CVectorLoops::print_fold_of_lanes(const loop_ir::Accumulate& fold, operators::Monoid monoid) {
  const std::string lanes = fold.name + "_lanes", first = lanes + ".parts[0]",
                    count = "(int)(sizeof(vec) / sizeof(vec16))";
  text_.line("union { vec whole; vec16 parts[" + count + "]; } " + lanes + " = {" + partial(fold, 0) + "};");
  text_.open("for (int n = 1; n < " + count + "; ++n)");
  text_.line(expressions_.fold("vec16", monoid, first, lanes + ".parts[n]"));
  text_.close();
  text_.open("for (int n = 0; n < WIDTH(vec16); ++n)");
  text_.line(expressions_.fold("value", monoid, fold.name, expressions_.lane("vec16", first, "n")));
  text_.close();
}

/// Prints the loops over whole registers, and what folds their partial results into the first one.
void CVectorLoops::print_whole_registers(const loop_ir::For& loop, const Folds& folds) {
  const int parts = parts_of(folds.size());
  const auto steps = [&](int count) {
    step(loop, folds, {"vec", count}, "while", [&](const loop_ir::Accumulate& fold, int part) {
      text_.line(partial(fold, part) + " += " + vector_expression(fold.value, {"vec", count}, part) + ";");
    });
  };
  const std::string& v = loop.variable;
  for (const auto* fold : folds) text_.line("vec " + partial(*fold, 0) + " = {0};");
  if (parts > 1) {
    // Short sums do not pay for the registers of long ones.
    text_.open("if (" + v + " + " + std::to_string(parts) + " * WIDTH(vec) <= " + v + "_end)");
    for (const auto* fold : folds) {
      for (int part = 1; part < parts; ++part) text_.line("vec " + partial(*fold, part) + " = {0};");
    }
    steps(parts);
    for (const auto* fold : folds) {
      for (int part = 1; part < parts; ++part)
        text_.line(partial(*fold, 0) + " += " + partial(*fold, part) + ";");
    }
    text_.close();
    steps(1);
    return;
  }
  // Specialised for a constant length, without interleaving: the loads of the next sums begin beside these.
  text_.open("if (__builtin_constant_p(" + v + "_end) && " + v +
             "_end <= " + std::to_string(unrolled_iterations) + " * WIDTH(vec))");
  text_.directive("#pragma GCC unroll " + std::to_string(unrolled_iterations));
  steps(1);
  text_.close();
  text_.open("else");
  steps(1);
  text_.close();
}

/// Folds the partial results of each sum: those of four sums while they are transposed, with the additions of
/// two. `vector`: the declared vector of four lanes, or "".
void CVectorLoops::print_sums_of_registers(const Folds& folds, const CLanes& lanes,
                                           const std::string& vector) {
  if (folds.size() != CLanes::count || expressions_.is_complex()) {
    for (const auto* fold : folds)
      text_.line(fold->name + (lanes.is_zero(fold->name) ? " = " : " += ") + "SUM(" + partial(*fold, 0) +
                 ");");
    return;
  }
  std::string registers, sums;
  for (const auto* fold : folds) {
    registers += (registers.empty() ? "" : ", ") + partial(*fold, 0);
    sums += (sums.empty() ? "" : ", ") + fold->name;
  }
  const bool all_zero =
      std::all_of(folds.begin(), folds.end(), [&](const auto* fold) { return lanes.is_zero(fold->name); });
  const std::string four = vector.empty() ? "four" : vector;
  text_.open("");
  // One addition for all four.
  text_.line((vector.empty() ? "const vec4 " : "") + four + " = sum_four(" + registers + ")" +
             (all_zero ? ";" : " + (vec4){" + sums + "};"));
  for (std::size_t n = 0; n < folds.size(); ++n)
    text_.line(folds[n]->name + " = " + four + "[" + std::to_string(n) + "];");
  text_.close();
}

/// True where the value is zero if all loaded elements that vary are: nothing else multiplies them, since
/// zero times infinity is none.
bool CVectorLoops::is_zero_of_zeros(const loop_ir::ExpressionPtr& value) const {
  if (const auto* load = std::get_if<loop_ir::Load>(&value->node)) return varies(load->index);
  const auto* apply = std::get_if<loop_ir::Apply>(&value->node);
  return apply != nullptr &&
         (apply->function == operators::Function::add || apply->function == operators::Function::multiply) &&
         std::all_of(apply->arguments.begin(), apply->arguments.end(),
                     [&](const auto& each) { return is_zero_of_zeros(each); });
}

void CVectorLoops::print_sums(const loop_ir::For& loop, const Folds& folds, CLanes& lanes) {
  loop_ir::Uses uses;
  for (const auto* fold : folds) loop_ir::collect_uses(fold->value, uses);
  if (expressions_.load_in_part(uses)) {
    print_masked_sums(loop, folds, lanes);
  } else {
    print_overlapping_sums(loop, folds, lanes);
  }
}

/// Sums in whole registers, and one that is loaded in part, which crosses fewer cache lines than one that
/// overlaps.
void CVectorLoops::print_masked_sums(const loop_ir::For& loop, const Folds& folds, CLanes& lanes) {
  const std::string& v = loop.variable;
  std::string vector;
  if (folds.size() == CLanes::count && !expressions_.is_complex()) {
    std::vector<std::string> names;
    for (const auto* fold : folds) names.push_back(fold->name);
    vector = lanes.declare(names);
    text_.line("vec4 " + vector + ";");
  }
  open_range(loop);
  print_whole_registers(loop, folds);
  text_.open("if (" + v + " < " + v + "_end)");
  Block rest{"vec", 1};
  rest.first = v + "_end - " + v;
  for (const auto* fold : folds) {
    const std::string value = vector_expression(fold->value, rest, 0);
    text_.line(partial(*fold, 0) + " += " +
               (is_zero_of_zeros(fold->value) ? value : "FIRST(vec, " + value + ", " + rest.first + ")") +
               ";");
  }
  text_.close();
  print_sums_of_registers(folds, lanes, vector);
  text_.close();
}

/// Sums in whole registers, the last of which overlaps the one before; what it holds of that one is masked.
/// Extents below a register's take two narrower ones in the same way. Elements of two bytes have no cheap
/// load in part.
void CVectorLoops::print_overlapping_sums(const loop_ir::For& loop, const Folds& folds, const CLanes& lanes) {
  const std::string& v = loop.variable;
  // Adds a register that ends with the loop, without the elements before `counted` of its last ones.
  const auto last = [&](const std::string& type, const loop_ir::Accumulate& fold,
                        const std::string& counted) {
    Block block{type, 1};
    block.last = v + "_last";
    return "LAST(" + type + ", " + vector_expression(fold.value, block, 0) + ", " + counted + ")";
  };
  const auto narrow = [&](const char* type, const char* bytes) {
    text_.directive(std::string("#if VECTOR_BYTES > ") + bytes);
    text_.open("else if (" + v + "_extent >= WIDTH(" + type + "))");
    text_.line("const int64_t " + v + "_last = " + v + "_extent - WIDTH(" + type + ");");
    for (const auto* fold : folds) {
      text_.line(fold->name + " += sum" + bytes + "(" + vector_expression(fold->value, {type, 1}, 0) + " + " +
                 last(type, *fold, v + "_last") + ");");
    }
    text_.close();
    text_.directive("#endif");
  };
  open_extent(loop);
  text_.open("if (" + v + "_extent >= WIDTH(vec))");
  print_whole_registers(loop, folds);
  text_.open("if (" + v + " < " + v + "_end)");
  text_.line("const int64_t " + v + "_last = " + v + "_end - WIDTH(vec) - " + v + ";");
  for (const auto* fold : folds)
    text_.line(partial(*fold, 0) + " += " + last("vec", *fold, v + "_end - " + v) + ";");
  text_.close();
  print_sums_of_registers(folds, lanes);
  text_.close();
  narrow("vec32", "32");
  narrow("vec16", "16");
  text_.open("else");
  step(loop, folds, {"value", 1}, "while", [&](const loop_ir::Accumulate& fold, int part) {
    text_.line(fold.name + " += " + vector_expression(fold.value, {"value", 1}, part) + ";");
  });
  text_.close();
  text_.close();
}

}  // namespace schaas::codegen
