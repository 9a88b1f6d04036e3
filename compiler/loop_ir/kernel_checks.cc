#include "compiler/loop_ir/kernel_checks.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "compiler/loop_ir/store_target.h"
#include "compiler/loop_ir/uses.h"

// Checks of declarations around statements, called by the verifier. They come after its walk over the
// phases, so every name and array in a statement is known to be declared. Errors are internal: a pass of
// lowering or the author of a text broke a rule, never the user's statement.
namespace schaas::loop_ir {

using support::Result;

support::Diagnostic wrong(const std::string& what) { return support::internal("loop-ir", what); }

bool belongs_to_result(const Array& array) {
  return std::visit(Match{
                        [](const ArgumentValues& x) { return x.argument == 0; },
                        [](const Positions& x) { return x.argument == 0; },
                        [](const Coordinates& x) { return x.argument == 0; },
                        [](const Shared&) { return false; },
                        [](const Scratch&) { return false; },
                        [](const CarryOut&) { return false; },
                        [](const Staged&) { return false; },
                    },
                    array.origin);
}

Result<void> check_alignment(const Kernel& kernel, const Phase& phase) {
  if (!phase.mapping) return wrong("a phase for the processor asks for alignment");
  // With a width of 1 every tensor would be aligned.
  if (phase.alignment->width < 2) return wrong("an alignment to single values");
  for (const auto& name : phase.alignment->extents) {
    if (std::none_of(kernel.extents.begin(), kernel.extents.end(),
                     [&](const Extent& extent) { return extent.name == name; }))
      return wrong("`" + name + "` is no extent that may be aligned");
  }
  for (const auto& name : phase.alignment->arrays) {
    if (std::none_of(kernel.arrays.begin(), kernel.arrays.end(), [&](const Array& array) {
          return array.name == name && array.element == Element::value;
        }))
      return wrong("`" + name + "` is no array of values that may be aligned");
  }
  return {};
}

namespace {

/// A base aligned to a width is aligned to its divisors.
bool is_aligned(const std::string& array, int width, const Alignment* alignment) {
  return alignment != nullptr && alignment->width % width == 0 &&
         std::count(alignment->arrays.begin(), alignment->arrays.end(), array) > 0;
}

}  // namespace

Result<void> check_wide_load(const std::vector<StatementPtr>& statements, std::size_t at,
                             const Alignment* alignment) {
  const auto& let = std::get<Let>(statements[at]->node);
  const auto* from = std::get_if<Load>(&let.value->node);
  if (from == nullptr || let.type != Type::value) return wrong("`" + let.name + "` is wide but no load");
  if (!is_aligned(from->array, let.wide, alignment))
    return wrong("`" + from->array + "` is loaded " + std::to_string(let.wide) +
                 " values wide but not known to be aligned");
  // The values of one load are as many adjacent lets, in order of their elements.
  for (int n = 1; n < let.wide; ++n) {
    const std::size_t next = at + static_cast<std::size_t>(n);
    const auto* other = next < statements.size() ? as<Let>(statements[next]) : nullptr;
    if (other == nullptr || other->type != Type::value ||
        !equal(other->value, load(from->array, add(from->index, integer(n)))))
      return wrong("`" + let.name + "` is " + std::to_string(let.wide) +
                   " values wide, and the next lets do not load the others");
  }
  return {};
}

Result<void> check_wide_store(const std::vector<StatementPtr>& statements, std::size_t at,
                              const Alignment* alignment) {
  const StoreTarget first = *store_target(statements[at]);
  if (!is_aligned(first.array, first.wide, alignment))
    return wrong("`" + first.array + "` is written " + std::to_string(first.wide) +
                 " values wide but not known to be aligned");
  // The values of one write are those of as many adjacent stores, in order of their elements.
  for (int n = 1; n < first.wide; ++n) {
    const std::size_t next = at + static_cast<std::size_t>(n);
    const auto other = next < statements.size() ? store_target(statements[next]) : std::nullopt;
    if (!other || !write_alike(*other, first) || other->wide != 1 ||
        !equal(other->index, add(first.index, integer(n))))
      return wrong("`" + first.array + "` is written " + std::to_string(first.wide) +
                   " values wide, and the next stores do not write the others");
  }
  return {};
}

Result<void> check_over(const Phase& phase, const Kernel& kernel) {
  if (phase.over.empty()) return {};
  for (const auto& array : kernel.arrays) {
    const auto* shared = std::get_if<Shared>(&array.origin);
    if (array.name == phase.over && shared != nullptr && shared->referenced) return {};
  }
  return wrong("a phase over `" + phase.over + "`, which is no list of referenced coordinates");
}

Result<void> check_mapping(const Phase& phase, const Kernel& kernel) {
  const ThreadMapping& mapping = *phase.mapping;
  const bool positive =
      mapping.grain > 0 && mapping.threads_per_item > 0 && mapping.tile > 0 && mapping.columns_grain > 0;
  const bool whole = mapping.group_size > 0 &&
                     mapping.tile * mapping.threads_per_item % mapping.group_size == 0 &&
                     mapping.block % 32 == 0 && mapping.block > 0;
  const bool groups = mapping.groups == 1 || (mapping.groups > 1 && mapping.group_size > 1 &&
                                              mapping.group_size == mapping.threads_per_item);
  if (!positive || !whole || !groups) return wrong("a thread mapping that no GPU has");
  if (phase.row_split || phase.fold) return wrong("a phase for a GPU splits rows or reduces");
  const bool alone = mapping.columns && mapping.threads_per_item == 1 && mapping.tile == 1;
  if (mapping.stage != 0 && (!alone || mapping.stage < 0 || mapping.stage > 32 || 32 % mapping.stage != 0))
    return wrong("entries are staged by threads that do not have columns of one row");
  if (!mapping.rows) return {};
  for (const auto& array : kernel.arrays) {
    if (array.name == mapping.merged_positions && std::holds_alternative<Positions>(array.origin)) return {};
  }
  return wrong("`" + mapping.merged_positions + "` holds no positions of entries");
}

Result<void> check_stage(const Stage& stage, int threads, const Kernel& kernel) {
  if (stage.threads != threads || threads == 0) return wrong("entries are staged by other threads");
  const auto find = [&](const std::string& name) {
    return std::find_if(kernel.arrays.begin(), kernel.arrays.end(),
                        [&](const Array& array) { return array.name == name; });
  };
  for (const auto& copy : stage.copies) {
    const auto to = find(copy.to), from = find(copy.from);
    if (to == kernel.arrays.end() || !std::holds_alternative<Staged>(to->origin))
      return wrong("`" + copy.to + "` is no staged array");
    if (from == kernel.arrays.end() || from->written || from->element != to->element)
      return wrong("`" + copy.to + "` cannot stage elements of `" + copy.from + "`");
  }
  return {};
}

bool is_wide_store(const StatementPtr& statement) {
  const auto target = store_target(statement);
  return target && target->wide > 1;
}

namespace {

/// Returns an array that the verifier has found to be declared.
const Array& array_of(const Kernel& kernel, const std::string& name) {
  return *std::find_if(kernel.arrays.begin(), kernel.arrays.end(),
                       [&](const Array& array) { return array.name == name; });
}

/// Specialised sizes must be possible.
Result<void> specialisation(const Kernel& kernel, const Specialisation& specialisation) {
  if (kernel.for_gpu()) return wrong("specialisation of a phase for a GPU");
  // Each extent occurs at most once, and none that is a constant already.
  std::set<std::string> open;
  for (const auto& extent : kernel.extents) {
    if (!extent.required) open.insert(extent.name);
  }
  for (const auto* names : {&specialisation.extents, &specialisation.singles}) {
    for (const auto& name : *names) {
      if (open.erase(name) == 0)
        return wrong("`" + name + "` is no extent to specialise, or specialised twice");
    }
  }
  const auto& sizes = specialisation.sizes;
  if (specialisation.extents.empty() || sizes.empty() || sizes.front() < 1)
    return wrong("specialisation of no extent, or for no size");
  if (std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) != sizes.end())
    return wrong("specialised sizes that do not ascend");
  int before = 0;
  for (const int bound : specialisation.registers) {
    const int step = bound - before;
    if (step < 1 || !std::has_single_bit(static_cast<unsigned>(step)) || before % step != 0)
      return wrong("specialisation for registers by steps other than powers of two, or from other bounds");
    before = bound;
  }
  return {};
}

/// Copies come last, and are made of operands that are no copies themselves.
Result<void> copies(const Kernel& kernel) {
  const int first = kernel.arguments - static_cast<int>(kernel.copies.size());
  for (const auto& copy : kernel.copies) {
    if (copy.of < 1 || copy.of >= first)
      return wrong("argument " + std::to_string(copy.of) + " is no operand to be copied");
    // With as many entries as modes, an order that contains each mode is a permutation.
    for (std::size_t mode = 0; mode < copy.mode_order.size(); ++mode) {
      if (std::find(copy.mode_order.begin(), copy.mode_order.end(), static_cast<int>(mode)) ==
          copy.mode_order.end())
        return wrong("the modes of a copy are no permutation");
    }
  }
  return {};
}

/// Checks counters and their arrays, and that the result is untouched until it is allocated.
Result<void> counters(const Kernel& kernel) {
  int last_level = -1;
  for (const auto& counter : kernel.counters) {
    if (counter.level <= last_level) return wrong("counters are not in level order");
    last_level = counter.level;
    const bool found = std::any_of(kernel.arrays.begin(), kernel.arrays.end(), [&](const Array& array) {
      const auto* shared = std::get_if<Shared>(&array.origin);
      return shared && shared->slot == counter.slot && array.element == Element::index64;
    });
    if (!found)
      return wrong("the counter of level " + std::to_string(counter.level) +
                   " has no shared array of index64");
  }
  std::size_t counting = 0;  // phases up to the last symbolic one
  for (std::size_t n = 0; n < kernel.phases.size(); ++n) {
    if (kernel.phases[n].step == Step::symbolic) counting = n + 1;
  }
  // Symbolic phases and counters imply each other; a phase that follows fills the result.
  if ((counting > 0) == kernel.counters.empty()) return wrong("phases count without counters, or none does");
  if (counting > 0 && counting == kernel.phases.size()) return wrong("nothing is computed after counting");
  // The client allocates the result after the last symbolic phase; until then none of its arrays exists.
  for (std::size_t n = 0; n < counting; ++n) {
    Uses uses;
    collect_uses(kernel.phases[n].body, uses);
    for (const auto& name : uses.arrays) {
      if (belongs_to_result(array_of(kernel, name)))
        return wrong("`" + name + "` is used before the result is allocated");
    }
  }
  return {};
}

}  // namespace

Result<void> check_around(const Kernel& kernel) {
  for (const auto& phase : kernel.phases) {
    if (phase.specialised) SCHAAS_RETURN_IF_ERROR(specialisation(kernel, *phase.specialised));
  }
  SCHAAS_RETURN_IF_ERROR(copies(kernel));
  return counters(kernel);
}

}  // namespace schaas::loop_ir
