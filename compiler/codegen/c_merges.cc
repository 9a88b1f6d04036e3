#include <string>
#include <utility>

#include "compiler/codegen/c_statements.h"

// Merges become one loop each. An intersection advances the lists that are behind the largest coordinate; a
// union takes the smallest, with ended lists at INT64_MAX; a range tests each list at each coordinate. One
// loop replaces those that taco emits for each set of lists that have not ended. The union of two lists has
// taco's three loops, without branches on coordinates (docs/performance/results.md).
// Where one list of an intersection is much longer than another, lists are skipped through.
// The runs of equal rows of a list in coo end at bits, which are made for 64 entries at once with AVX-512.
// Rows of zero to ten entries take 0.54 of the time of a loop to the end of each, rows of zero to forty 0.59.
namespace schaas::codegen {
namespace {

/// Returns whether the first list is much longer or shorter than another one.
std::string are_skewed(const loop_ir::Merge& merge) {
  const auto length = [](const loop_ir::Cursor& cursor) {
    return cursor.position + "_end - " + cursor.position;
  };
  std::string text;
  for (std::size_t n = 1; n < merge.cursors.size(); ++n)
    text += (text.empty() ? "" : " || ") + ("ARE_SKEWED(" + length(merge.cursors.front())) + ", " +
            length(merge.cursors[n]) + ")";
  return text;
}

/// Returns the coordinate at the cursor.
std::string coordinate_at(const loop_ir::Cursor& cursor) {
  return cursor.coordinates.empty() ? cursor.position : cursor.coordinates + "[" + cursor.position + "]";
}

}  // namespace

/// Declares the cursors, in a block of their own.
void CStatements::print_lists(const loop_ir::Merge& merge) {
  text_.open("");
  for (const auto& cursor : merge.cursors) {
    text_.line("int64_t " + cursor.position + " = " + expression(cursor.begin) + ";");
    text_.line("const int64_t " + cursor.position + "_end = " + expression(cursor.end) + ";");
  }
  if (dialect_ != Dialect::c || !walks_long_runs(merge)) return;
  const std::string& p = merge.cursors.front().position;
  text_.directive("#if RUNS_BY_BITS");
  text_.line("known_runs " + p + "_runs = {" + p + ", " + p + " + 1, 0};");
  text_.directive("#endif");
}

/// Prints the ends of the ranges of equal coordinates.
void CStatements::print_ranges(const loop_ir::Merge& merge) {
  for (const auto& cursor : merge.cursors) {
    if (cursor.until.empty()) continue;
    const auto &u = cursor.until, &p = cursor.position;
    const std::string held = cursor.present.empty() ? "" : cursor.present + " && ";
    const bool by_bits = dialect_ == Dialect::c && walks_long_runs(merge);
    if (by_bits) {
      text_.directive("#if RUNS_BY_BITS");
      text_.line("const int64_t " + u + " = RUN_END(" + cursor.coordinates + ", " + p + "_end, &" + p +
                 "_runs);");
      text_.directive("#else");
    }
    // An absent list has an empty range at its cursor.
    text_.line("int64_t " + u + " = " + p + " + " + (held.empty() ? "1" : cursor.present) + ";");
    text_.line("while (" + held + u + " < " + p + "_end && " + cursor.coordinates + "[" + u +
               "] == " + merge.variable + ") ++" + u + ";");
    if (by_bits) text_.directive("#endif");
  }
}

/// Advances the cursors past the coordinate.
void CStatements::print_advance(const loop_ir::Merge& merge) {
  for (const auto& cursor : merge.cursors) {
    const auto& p = cursor.position;
    if (!cursor.until.empty()) {
      text_.line(p + " = " + cursor.until + ";");
    } else {
      // Lists without the coordinate stay: their flag is 0.
      text_.line(cursor.present.empty() ? "++" + p + ";" : p + " += " + cursor.present + ";");
    }
  }
}

/// Advances all cursors together on a common coordinate, else those behind the largest coordinate.
void CStatements::print_intersection(const loop_ir::Merge& merge) {
  print_lists(merge);
  std::string more;
  std::string all_equal;
  for (const auto& cursor : merge.cursors) {
    const auto& p = cursor.position;
    more += (more.empty() ? "" : " && ") + p + " < " + p + "_end";
    all_equal += (all_equal.empty() ? "" : " && ") + p + "_crd == " + merge.variable;
  }
  const bool may_skip = dialect_ == Dialect::c && is_intersection_of_lists(merge);
  const std::string skewed = merge.cursors.front().position + "_skewed";
  if (may_skip) text_.line("const int64_t " + skewed + " = " + are_skewed(merge) + ";");
  text_.open("while (" + more + ")");
  for (const auto& cursor : merge.cursors) {
    const std::string crd = cursor.position + "_crd";
    text_.line("const int64_t " + crd + " = " + coordinate_at(cursor) + ";");
  }
  const std::string& v = merge.variable;
  text_.line("int64_t " + v + " = " + merge.cursors.front().position + "_crd;");
  for (std::size_t n = 1; n < merge.cursors.size(); ++n) {
    const std::string crd = merge.cursors[n].position + "_crd";
    text_.line("if (" + crd + " > " + v + ") " + v + " = " + crd + ";");
  }
  text_.open("if (" + all_equal + ")");
  print_ranges(merge);
  print_block(statements_of(merge.body));
  if (merge.kind == loop_ir::MergeKind::first) {
    text_.line("break;");
  } else {
    print_advance(merge);
  }
  text_.close(may_skip ? "} else if (" + skewed + ") {" : "} else {");
  if (may_skip) {
    for (const auto& cursor : merge.cursors) {
      const auto& p = cursor.position;
      text_.line("  if (" + p + "_crd < " + v + ") " + p + " = SKIP(" + cursor.coordinates + ", " + p + ", " +
                 p + "_end, " + v + ");");
    }
    text_.line("} else {");
  }
  for (const auto& cursor : merge.cursors) {
    text_.line("  " + cursor.position + " += " + cursor.position + "_crd < " + v + ";");
  }
  text_.line("}");
  text_.close();
  text_.close();
}

/// Merges lists by their minimum. An exhausted list stays at a coordinate that no tensor has, so one loop
/// serves lists of all lengths; there are as many cases as lists instead of sets of lists.
void CStatements::print_union(const loop_ir::Merge& merge) {
  print_lists(merge);
  const std::string& v = merge.variable;
  const auto next = [&](const loop_ir::Cursor& cursor) {
    const auto& p = cursor.position;
    return p + " < " + p + "_end ? (int64_t)" + coordinate_at(cursor) + " : INT64_MAX;";
  };
  text_.open("while (1)");
  for (const auto& cursor : merge.cursors) {
    text_.line("const int64_t " + cursor.position + "_crd = " + next(cursor));
  }
  text_.line("int64_t " + v + " = " + merge.cursors.front().position + "_crd;");
  for (std::size_t n = 1; n < merge.cursors.size(); ++n) {
    const std::string crd = merge.cursors[n].position + "_crd";
    text_.line("if (" + crd + " < " + v + ") " + v + " = " + crd + ";");
  }
  text_.line("if (" + v + " == INT64_MAX) break;");
  for (const auto& cursor : merge.cursors) {
    text_.line("const int64_t " + cursor.present + " = " + cursor.position + "_crd == " + v + ";");
  }
  print_ranges(merge);
  print_block(statements_of(merge.body));
  print_advance(merge);
  text_.close();
  text_.close();
}

/// Merges while both lists have entries, then visits what is left of one of them. The first loop has no
/// branch but its end: each step takes the smaller coordinate and advances by comparisons. In the other two
/// loops one flag is 1 and the other 0, from which the C compiler makes copies.
void CStatements::print_union_of_two(const loop_ir::Merge& merge) {
  print_lists(merge);
  print_both_lists(merge);
  for (const auto& cursor : merge.cursors) print_one_list(merge, cursor);
  text_.close();
}

void CStatements::print_both_lists(const loop_ir::Merge& merge) {
  const auto &first = merge.cursors.front(), &second = merge.cursors.back();
  const std::string a = first.position + "_crd", b = second.position + "_crd";
  text_.open("while (" + first.position + " < " + first.position + "_end && " + second.position + " < " +
             second.position + "_end)");
  text_.line("const int64_t " + a + " = " + coordinate_at(first) + ";");
  text_.line("const int64_t " + b + " = " + coordinate_at(second) + ";");
  text_.line("const int64_t " + merge.variable + " = " + a + " < " + b + " ? " + a + " : " + b + ";");
  text_.line("const int64_t " + first.present + " = " + a + " <= " + b + ";");
  text_.line("const int64_t " + second.present + " = " + b + " <= " + a + ";");
  const auto outside = std::exchange(loadable_, {first.present, second.present});
  print_block(statements_of(merge.body));
  loadable_ = outside;
  print_advance(merge);
  text_.close();
}

void CStatements::print_one_list(const loop_ir::Merge& merge, const loop_ir::Cursor& held) {
  const auto& p = held.position;
  text_.open("for (; " + p + " < " + p + "_end; ++" + p + ")");
  text_.line("const int64_t " + merge.variable + " = " + coordinate_at(held) + ";");
  for (const auto& cursor : merge.cursors)
    text_.line("const int64_t " + cursor.present + " = " + (&cursor == &held ? "1;" : "0;"));
  print_block(statements_of(merge.body));
  text_.close();
}

/// Visits each coordinate of the range; a list advances where it holds the coordinate.
void CStatements::print_range_merge(const loop_ir::Merge& merge) {
  print_lists(merge);
  const std::string& v = merge.variable;
  text_.open("for (int64_t " + v + " = " + expression(merge.over->begin) + ", " + v +
             "_end = " + expression(merge.over->end) + "; " + v + " < " + v + "_end; ++" + v + ")");
  for (const auto& cursor : merge.cursors) {
    const auto& p = cursor.position;
    text_.line("const int64_t " + cursor.present + " = " + p + " < " + p + "_end && " +
               coordinate_at(cursor) + " == " + v + ";");
  }
  print_ranges(merge);
  print_block(statements_of(merge.body));
  print_advance(merge);
  text_.close();
  text_.close();
}

}  // namespace schaas::codegen
