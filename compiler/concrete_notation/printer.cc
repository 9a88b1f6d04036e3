#include "compiler/concrete_notation/printer.h"

#include <algorithm>

#include "compiler/concrete_notation/match.h"
#include "compiler/index_notation/printer.h"

// Three texts of a tree: one line that parses back, the papers' short form, and indented lines for people.
// The short form has loops and branches only, so different trees may share it.
namespace schaas::concrete_notation {
namespace {

std::string text_of(const Assign& leaf) {
  return index_notation::print(leaf.target) + " " + assignment_sign(leaf.monoid) + " " +
         index_notation::print(leaf.value);
}

std::string start_text(operators::Monoid monoid) {
  const double start = operators::identity(monoid);
  return start == 0 ? "0" : start == 1 ? "1" : start > 0 ? "infinity" : "-infinity";
}

/// Returns the size of the blocks, or their number.
std::string number_text(const Blocks& blocks) {
  return std::to_string(blocks.parts > 0 ? blocks.parts : blocks.size);
}

std::string mapping_text(const ThreadMapping& mapping) {
  std::string out = " threads " + std::to_string(mapping.grain) +
                    (mapping.threads_per_item > 1 ? "/" + std::to_string(mapping.threads_per_item) : "");
  if (mapping.group_size > 1 || mapping.reduce != GroupReduction::atomic)
    out += " group " + std::to_string(mapping.group_size) + " " + name(mapping.reduce);
  if (mapping.block != ThreadMapping{}.block) out += " block " + std::to_string(mapping.block);
  if (mapping.tile > 0) out += " warp " + std::to_string(mapping.tile);
  if (mapping.stage > 0) out += " stage " + std::to_string(mapping.stage);
  if (mapping.merge_path) out += " merge_path";
  return out;
}

/// Prints annotations in the order in which the parser reads them.
std::string annotation_text(const LoopAnnotation& annotation) {
  std::string out;
  if (annotation.extent) out += " of " + std::to_string(*annotation.extent);
  if (annotation.parallel) out += std::string(" parallel ") + name(*annotation.parallel);
  if (annotation.collapsed) out += " collapsed";
  if (annotation.positions > 0) out += " positions " + std::to_string(annotation.positions);
  if (annotation.mapping) out += mapping_text(*annotation.mapping);
  if (annotation.unroll > 1) out += " unroll " + std::to_string(annotation.unroll);
  return out;
}

bool has_long_name(const StatementPtr& statement) {
  return match(
      statement->node, [](const Forall& loop) { return loop.index.size() > 1 || has_long_name(loop.body); },
      [](const Blocks& blocks) { return blocks.index.size() > 1 || has_long_name(blocks.body); },
      [](const Where& branch) { return has_long_name(branch.producer) || has_long_name(branch.consumer); },
      [](const Terms& sum) { return std::any_of(sum.terms.begin(), sum.terms.end(), has_long_name); },
      [](const Assign&) { return false; });
}

bool has_loop(const StatementPtr& statement) {
  return std::holds_alternative<Forall>(statement->node) || std::holds_alternative<Blocks>(statement->node);
}

// Appends a loop tree; `separator` stands between two loops of one chain.
void append_loop_tree(const StatementPtr& statement, const char* separator, std::string& out) {
  match(
      statement->node,
      [&](const Forall& loop) {
        out += loop.index;
        if (has_loop(loop.body)) out += separator;
        append_loop_tree(loop.body, separator, out);
      },
      [&](const Blocks& blocks) {
        out += blocks.index + (blocks.parts > 0 ? "/" : ":") + number_text(blocks);
        if (has_loop(blocks.body)) out += separator;
        append_loop_tree(blocks.body, separator, out);
      },
      [&](const Where& branch) {
        out += branch.storage == Storage::hash ? "<#" : "<";
        append_loop_tree(branch.producer, separator, out);
        out += ',';
        append_loop_tree(branch.consumer, separator, out);
        out += '>';
      },
      [&](const Terms& sum) {
        for (std::size_t n = 0; n < sum.terms.size(); ++n) {
          out += n == 0 ? '[' : ',';
          append_loop_tree(sum.terms[n], separator, out);
        }
        out += ']';
      },
      [](const Assign&) {});
}

/// Appends a line for each loop, start value and assignment; a producer stands before its consumer.
void append_indented(const StatementPtr& statement, std::size_t depth, std::string& out) {
  const std::string margin(2 * depth, ' ');
  match(
      statement->node,
      [&](const Forall& loop) {
        out += margin + "for " + loop.index + annotation_text(loop.annotation) + "\n";
        append_indented(loop.body, depth + 1, out);
      },
      [&](const Blocks& blocks) {
        out += margin +
               (blocks.parts > 0 ? "for each of " + number_text(blocks) + " parts of "
                                 : "for each block of " + number_text(blocks) + " ") +
               blocks.index + "\n";
        append_indented(blocks.body, depth + 1, out);
      },
      [&](const Where& branch) {
        const Assign& producer = leaf_of(branch.producer);
        out += margin + index_notation::print(producer.target) + " = " + start_text(producer.monoid) +
               (branch.storage == Storage::hash ? " in a hash table\n" : "\n");
        append_indented(branch.producer, depth, out);
        append_indented(branch.consumer, depth, out);
      },
      [&](const Terms& sum) {
        for (const auto& term : sum.terms) append_indented(term, depth, out);
      },
      [&](const Assign& leaf) { out += margin + text_of(leaf) + "\n"; });
}

}  // namespace

std::string print(const StatementPtr& statement) {
  return match(
      statement->node,
      [](const Forall& loop) {
        return "forall(" + loop.index + annotation_text(loop.annotation) + ", " + print(loop.body) + ")";
      },
      [](const Blocks& blocks) {
        return "blocks(" + blocks.index + (blocks.parts > 0 ? ", in " : ", ") + number_text(blocks) + ", " +
               print(blocks.body) + ")";
      },
      [](const Where& branch) {
        const std::string storage = branch.storage == Storage::hash ? ", hash)" : ")";
        return "where(" + print(branch.consumer) + ", " + print(branch.producer) + storage;
      },
      [](const Terms& sum) {
        std::string out;
        for (const auto& term : sum.terms) out += (out.empty() ? "terms(" : ", ") + print(term);
        return out + ")";
      },
      [](const Assign& leaf) { return text_of(leaf); });
}

std::string print_loop_tree(const StatementPtr& statement) {
  std::string out;
  append_loop_tree(statement, has_long_name(statement) ? " " : "", out);
  return out;
}

std::string print_indented(const StatementPtr& statement) {
  std::string out;
  append_indented(statement, 0, out);
  return out;
}

}  // namespace schaas::concrete_notation
