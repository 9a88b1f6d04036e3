#include "compiler/lower/emit/facts/kernel_builder.h"

#include <algorithm>
#include <optional>

#include "compiler/concrete_notation/semantics.h"
#include "compiler/index_notation/extent_classes.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/problem/copies.h"
#include "compiler/problem/extent_range.h"

// Declarations of a kernel, each made on first use under a fresh name and found again by tensor and suffix.
// So a kernel declares what it uses, and the extents that are fixed. Indices that a statement equates form a
// class of one extent. It is read from an argument that has the index itself, else from one that has another
// index of the class.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;

/// Returns the first indices of the classes of extents that a sparse level, or one above it, has.
std::set<std::string> sparse_extents(const problem::Problem& problem,
                                     const std::map<std::string, std::string>& classes) {
  std::set<std::string> found;
  for (const auto& tensor : problem.tensors()) {
    const auto& format = problem.formats.at(tensor);
    const auto indices = problem.indices_of(tensor);
    for (std::size_t level = 0; level < format.levels.size(); ++level) {
      if (std::any_of(format.levels.begin() + static_cast<std::ptrdiff_t>(level), format.levels.end(),
                      format::is_sparse)) {
        found.insert(classes.at(indices[static_cast<std::size_t>(format.mode_order[level])]));
      }
    }
  }
  return found;
}

}  // namespace

KernelBuilder::KernelBuilder(const problem::Problem& problem, const NestTree& tree)
    : problem_(problem),
      tree_(tree),
      classes_(index_notation::extent_classes(problem::without_copies(problem).statements())),
      sparse_(sparse_extents(problem, classes_)) {
  kernel_.value_type = problem.value_type;
  const auto tensors = problem.tensors();
  kernel_.arguments = static_cast<int>(tensors.size());
  for (const auto& copy : problem.copies) {
    const auto of = std::find(tensors.begin(), tensors.end(), copy.tensor) - tensors.begin();
    kernel_.copies.push_back({static_cast<int>(of), problem.formats.at(copy.name).mode_order});
  }
  kernel_.result_fill = concrete_notation::result_fill(problem);
}

/// Declares an extent at the first argument that has it: a constant where schedule or constraints fix it.
ExpressionPtr KernelBuilder::extent(int index) {
  const auto known = extents_.find(index);
  if (known != extents_.end()) return known->second;
  const std::string& named = tree_.index_names[static_cast<std::size_t>(index)];
  const std::string& first = classes_.at(named);
  for (const bool same_name : {true, false}) {
    int argument = 0;
    for (const auto& tensor : problem_.tensors()) {
      const auto& indices = problem_.indices_of(tensor);
      const auto found = std::find_if(indices.begin(), indices.end(), [&](const std::string& candidate) {
        return same_name ? candidate == named : classes_.at(candidate) == first;
      });
      if (found != indices.end()) {
        loop_ir::Extent extent{names_.fresh("n_" + Names::base(named, "x")), argument,
                               static_cast<int>(found - indices.begin())};
        constrain(extent, index, first);
        extents_[index] = extent.required ? loop_ir::integer(*extent.required) : loop_ir::name(extent.name);
        kernel_.extents.push_back(std::move(extent));
        return extents_[index];
      }
      ++argument;
    }
  }
  SCHAAS_CHECK(false, "index " + named + " belongs to no tensor");
}

void KernelBuilder::constrain(loop_ir::Extent& extent, int index, const std::string& first) const {
  extent.sparse = sparse_.count(first) > 0;
  const auto [minimum, maximum] = problem::extent_range(problem_, first);
  const auto bound = tree_.extents.find(index);
  if (bound != tree_.extents.end()) {
    extent.required = bound->second;
  } else if (minimum && maximum && *minimum == *maximum) {
    extent.required = minimum;
  } else {
    extent.minimum = minimum;
    extent.maximum = maximum;
  }
}

void KernelBuilder::declare_fixed_extents() {
  for (std::size_t n = 0; n < tree_.index_names.size(); ++n) {
    const auto index = static_cast<int>(n);
    const auto [minimum, maximum] = problem::extent_range(problem_, classes_.at(tree_.index_names[n]));
    if (tree_.extents.count(index) > 0 || (minimum && minimum == maximum)) extent(index);
  }
}

ExpressionPtr KernelBuilder::block_size(int index, BlockSize size) {
  if (size.parts == 0) return loop_ir::integer(size.size);
  // Rounds up, so that all blocks together cover the extent.
  return loop_ir::apply(
      operators::Function::divide,
      {loop_ir::add(extent(index), loop_ir::integer(size.parts - 1)), loop_ir::integer(size.parts)});
}

ExpressionPtr KernelBuilder::extents(int tensor, const std::vector<int>& indices) {
  const auto& blocks = tree_.tensors[static_cast<std::size_t>(tensor)].blocks;
  ExpressionPtr product = loop_ir::integer(1);
  std::vector<std::string> sorted;
  for (const int index : indices) {
    const auto block = blocks.find(index);
    const auto factor = block != blocks.end() ? block_size(index, block->second) : extent(index);
    // Products are equal when their factors are, in any order.
    sorted.push_back(loop_ir::print(factor));
    product = loop_ir::multiply(product, factor);
  }
  if (loop_ir::arguments_of(product, operators::Function::multiply) == nullptr) return product;
  std::sort(sorted.begin(), sorted.end());
  auto& text = products_[sorted];
  if (text.empty()) {
    text = names_.fresh("s");
    kernel_.lets.push_back({text, loop_ir::Type::index, product});
  }
  return loop_ir::name(text);
}

ExpressionPtr KernelBuilder::entries(const Operand& operand, int level) {
  if (level < 0) return loop_ir::integer(1);
  const auto kind =
      tree_.tensors[static_cast<std::size_t>(operand.tensor)].levels[static_cast<std::size_t>(level)];
  // The client asks before any phase has indexed the rows of a list; the list tells how many entries it has.
  if (level == 1 && tree_.tensors[static_cast<std::size_t>(operand.tensor)].has_row_index)
    return loop_ir::load(positions(operand.tensor, 0), loop_ir::integer(1));
  // A dense level has all coordinates below each parent, a singleton one; the last position of others counts
  // their entries.
  auto parents = entries(operand, level - 1);
  if (format::computes_positions(kind))
    return loop_ir::multiply(std::move(parents), extent(operand.indices[static_cast<std::size_t>(level)]));
  if (format::is_singleton(kind)) return parents;
  return loop_ir::load(positions(operand.tensor, level), std::move(parents));
}

/// Returns the array of a tensor and suffix, declared on first use. Temporaries are called `w`, others by
/// their letter.
std::string KernelBuilder::add_array(int tensor, const std::string& suffix, loop_ir::Array array) {
  auto& text = arrays_[{tensor, suffix}];
  if (!text.empty()) return text;
  const auto& description = tree_.tensors[static_cast<std::size_t>(tensor)];
  text = names_.fresh((description.temporary() ? "w" : Names::base(description.name, "X")) + suffix);
  array.name = text;
  kernel_.arrays.push_back(std::move(array));
  return text;
}

std::string KernelBuilder::values(int tensor) {
  const auto& description = tree_.tensors[static_cast<std::size_t>(tensor)];
  // Temporaries get their memory where their branch is emitted, operands where they are first read.
  if (description.temporary()) {
    const auto found = arrays_.find({tensor, ""});
    SCHAAS_CHECK(found != arrays_.end(), "a temporary is used before it has memory");
    return found->second;
  }
  const auto& format =
      problem_.formats.at(problem_.tensors()[static_cast<std::size_t>(description.argument)]);
  return add_array(
      tensor, "",
      {"", loop_ir::Element::value, loop_ir::ArgumentValues{description.argument, format.values}, false});
}

std::string KernelBuilder::declared_values(int tensor) const {
  const auto found = arrays_.find({tensor, ""});
  return found == arrays_.end() ? "" : found->second;
}

/// Declares positions or coordinates in the width that the problem asks for.
std::string KernelBuilder::index_array(int tensor, int level, const std::string& suffix,
                                       loop_ir::Array array) {
  array.element = problem_.position_bits == 32 ? loop_ir::Element::index32 : loop_ir::Element::index64;
  return add_array(tensor, suffix + std::to_string(level), std::move(array));
}

std::string KernelBuilder::positions(int tensor, int level) {
  const int argument = tree_.tensors[static_cast<std::size_t>(tensor)].argument;
  return index_array(tensor, level, "_pos", {"", {}, loop_ir::Positions{argument, level}, false});
}

std::string KernelBuilder::add_row_index(int tensor, const ExpressionPtr& rows) {
  const loop_ir::Shared shared{shared_count_++, loop_ir::add(rows, loop_ir::integer(1))};
  return index_array(tensor, 1, "_pos", {"", {}, shared, true});
}

std::string KernelBuilder::coordinates(int tensor, int level) {
  const int argument = tree_.tensors[static_cast<std::size_t>(tensor)].argument;
  return index_array(tensor, level, "_crd", {"", {}, loop_ir::Coordinates{argument, level}, false});
}

std::string KernelBuilder::held(int tensor, int level) {
  const int argument = tree_.tensors[static_cast<std::size_t>(tensor)].argument;
  return add_array(tensor, "_held" + std::to_string(level),
                   {"", loop_ir::Element::byte, loop_ir::Coordinates{argument, level}, false});
}

void KernelBuilder::set_written(int tensor) { set_written(values(tensor)); }

void KernelBuilder::set_written(const std::string& array) {
  for (auto& known : kernel_.arrays) {
    if (known.name == array) known.written = true;
  }
}

ExpressionPtr KernelBuilder::elements(int tensor, const std::vector<int>& indices) {
  const int by = tree_.tensors[static_cast<std::size_t>(tensor)].entries_of;
  if (by < 0) return extents(tensor, indices);
  const Operand& walked = tree_.operands[static_cast<std::size_t>(by)];
  return entries(walked, static_cast<int>(walked.indices.size()) - 1);
}

void KernelBuilder::add_scratch(int tensor, const std::vector<int>& indices) {
  add_array(tensor, "", {"", loop_ir::Element::value, loop_ir::Scratch{extents(tensor, indices)}, true});
}

void KernelBuilder::add_carry_out(int tensor, const std::vector<int>& indices) {
  add_array(tensor, "", {"", loop_ir::Element::value, loop_ir::CarryOut{extents(tensor, indices)}, true});
}

std::string KernelBuilder::add_flags(int tensor, const std::vector<int>& indices) {
  return add_array(tensor, "_set",
                   {"", loop_ir::Element::byte, loop_ir::Scratch{extents(tensor, indices)}, true});
}

std::string KernelBuilder::add_shared_flags(int tensor, const std::vector<int>& indices) {
  const int slot = shared_count_++;
  return add_array(tensor, "_set",
                   {"", loop_ir::Element::byte, loop_ir::Shared{slot, extents(tensor, indices)}, true});
}

std::string KernelBuilder::add_occupancy(int tensor, const std::vector<int>& indices) {
  const auto bytes = loop_ir::occupancy_bytes(extents(tensor, indices));
  return add_array(tensor, "_set", {"", loop_ir::Element::byte, loop_ir::Scratch{bytes}, true});
}
std::string KernelBuilder::add_epochs(int tensor, const std::vector<int>& indices) {
  return add_array(tensor, "_epochs",
                   {"", loop_ir::Element::index64, loop_ir::Scratch{extents(tensor, indices)}, true});
}

std::string KernelBuilder::add_last_epoch(int tensor) {
  return add_array(tensor, "_last_epoch",
                   {"", loop_ir::Element::index64, loop_ir::Scratch{loop_ir::integer(1)}, true});
}

std::string KernelBuilder::add_list(int tensor, const std::vector<int>& indices) {
  const auto element = problem_.position_bits == 32 ? loop_ir::Element::index32 : loop_ir::Element::index64;
  const auto count = loop_ir::list_elements(extents(tensor, indices));
  return add_array(tensor, "_list", {"", element, loop_ir::Scratch{count}, true});
}

void KernelBuilder::add_table(int tensor, const std::vector<int>& rest) {
  // Each slot holds the elements of the levels below the first.
  auto count = loop_ir::multiply(loop_ir::name("capacity"), extents(tensor, rest));
  add_array(tensor, "", {"", loop_ir::Element::value, loop_ir::Scratch{std::move(count)}, true});
}

/// Declares an array of indices of a hash table, in scratch.
std::string KernelBuilder::table_array(int tensor, const std::string& suffix, ExpressionPtr count) {
  const auto element = problem_.position_bits == 32 ? loop_ir::Element::index32 : loop_ir::Element::index64;
  return add_array(tensor, suffix, {"", element, loop_ir::Scratch{std::move(count)}, true});
}

namespace {

/// Largest number of occupied slots.
ExpressionPtr half_capacity() {
  return loop_ir::apply(operators::Function::divide, {loop_ir::name("capacity"), loop_ir::integer(2)});
}

}  // namespace

std::string KernelBuilder::add_keys(int tensor) {
  return table_array(tensor, "_keys", loop_ir::name("capacity"));
}

std::string KernelBuilder::add_taken(int tensor) { return table_array(tensor, "_taken", half_capacity()); }

std::string KernelBuilder::add_table_list(int tensor) {
  return table_array(tensor, "_list", half_capacity());
}

std::string KernelBuilder::add_counts(int level, const ExpressionPtr& iterations) {
  const int slot = shared_count_++;
  kernel_.counters.push_back({level, slot});
  return add_array(0, "_counts" + std::to_string(level),
                   {"", loop_ir::Element::index64,
                    // One more than iterations: after the client's scan the last one is the total.
                    loop_ir::Shared{slot, loop_ir::add(iterations, loop_ir::integer(1))}, true});
}

bool KernelBuilder::is_private(const std::string& array) const {
  return std::any_of(kernel_.arrays.begin(), kernel_.arrays.end(), [&](const loop_ir::Array& known) {
    return known.name == array && std::holds_alternative<loop_ir::Scratch>(known.origin);
  });
}

void KernelBuilder::add_shared(int tensor, const std::vector<int>& indices) {
  const int slot = shared_count_++;
  add_array(tensor, "",
            {"", loop_ir::Element::value, loop_ir::Shared{slot, elements(tensor, indices)}, true});
}

void KernelBuilder::set_stored(int tensor) {
  for (auto& known : kernel_.arrays) {
    if (known.name == values(tensor)) std::get<loop_ir::Shared>(known.origin).stored = true;
  }
}

std::string KernelBuilder::add_referenced(const Operand& operand, int level) {
  const auto& known = arrays_.find({operand.tensor, "_ref" + std::to_string(level)});
  if (known != arrays_.end()) return known->second;
  const int argument = tree_.tensors[static_cast<std::size_t>(operand.tensor)].argument;
  loop_ir::Shared shared{shared_count_++, extent(operand.indices[static_cast<std::size_t>(level)])};
  shared.referenced = loop_ir::ReferencedCoordinates{argument, level};
  return add_array(operand.tensor, "_ref" + std::to_string(level),
                   {"", loop_ir::Element::index64, std::move(shared), false});
}

}  // namespace schaas::lower
