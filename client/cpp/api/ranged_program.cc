#include "client/cpp/api/ranged_program.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "client/cpp/selection/binding.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "client/cpp/tensor/tensor_part.h"
#include "compiler/index_notation/verifier.h"

// A kernel set behind the interface of one. Parts of operands and selections depend on extents and on the
// numbers in bounds, which are read when tensors are bound; a computation keeps them. Names in bounds are
// scalar operands that no kernel reads. A bundle has what its maker was asked for, the program with
// selections; so has a part of a sparse tensor on a device, whose positions cannot be read here.
namespace schaas::client {

support::Result<std::unique_ptr<const RangedProgram>> RangedProgram::open(const Session& session,
                                                                          const ProblemText& problem,
                                                                          const Program& program,
                                                                          const KernelSetOptions& options) {
  // Constraints name tensors as they are written.
  const bool as_written = session.source().is_bundle() || !problem.constraints.empty();
  return open(session, problem, program, options, as_written ? Parts::selected : Parts::where_they_lie);
}

support::Result<std::unique_ptr<const RangedProgram>> RangedProgram::open(const Session& session,
                                                                          const ProblemText& problem,
                                                                          const Program& program,
                                                                          const KernelSetOptions& options,
                                                                          Parts wanted) {
  ProgramOfParts parts{program, {}, problem.formats};
  if (index_notation::has_ranges(program)) {
    SCHAAS_RETURN_IF_ERROR(index_notation::verify(program, problem.expression));
    if (wanted == Parts::where_they_lie) parts = with_operand_parts(program, problem.formats);
  }
  ProblemText text = problem;
  text.formats = parts.formats;
  if (!parts.parts.empty()) text.expression = print(parts.program);
  SCHAAS_ASSIGN_OR_RETURN(Selections selections,
                          Selections::of(parts.program, text.formats, text.expression));
  if (parts.parts.empty() && selections.empty()) return std::unique_ptr<const RangedProgram>();
  selections.apply_to(text.expression, text.formats);
  SCHAAS_ASSIGN_OR_RETURN(KernelSet kernels, KernelSet::open(session, std::move(text), options));
  return std::unique_ptr<const RangedProgram>(new RangedProgram(
      session, problem, program, options, std::move(parts), std::move(selections), std::move(kernels)));
}

/// These kernels, or those of the program with selections alone where a part cannot be read.
support::Result<const RangedProgram*> RangedProgram::serving(const Operands& operands) const {
  const auto is_out_of_reach = [&](const OperandPart& part) {
    const auto given = operands.find(part.tensor);
    return given != operands.end() && given->second->on_device() && !given->second->format().all_dense();
  };
  if (std::none_of(parts_.parts.begin(), parts_.parts.end(), is_out_of_reach)) return this;
  const std::lock_guard lock(mutex_);
  if (!all_selected_) {
    KernelSetOptions options = options_;
    options.stop = {};  // ended the first opening, if any
    SCHAAS_ASSIGN_OR_RETURN(all_selected_, open(session_, problem_, given_, options, Parts::selected));
  }
  return all_selected_.get();
}

/// Takes the numbers in bounds from the operands; what no kernel reads goes.
support::Result<Selections::Parameters> RangedProgram::take_parameters(Selected& out) const {
  Selections::Parameters parameters;
  const auto read = read_by(selections_.program());
  for (const std::string& name : index_notation::range_parameters(given_)) {
    const auto given = out.operands.find(name);
    if (given == out.operands.end()) continue;
    const PackedTensor& scalar = *given->second;
    if (scalar.order() != 0 || scalar.on_device())
      return support::invalid("range", "`" + name + "` bounds a range: expected a scalar in memory");
    SCHAAS_ASSIGN_OR_RETURN(parameters[name], parameter_of(name, scalar.value(0)));
    const auto reads = [&, name = name](const Access& access) { return access.tensor == name; };
    if (std::none_of(read.begin(), read.end(), reads)) out.operands.erase(name);
  }
  return parameters;
}

/// Puts parts in place of the operands that are read in part.
support::Result<void> RangedProgram::take_parts(Selected& out,
                                                const Selections::Parameters& parameters) const {
  const auto read = read_by(selections_.program());
  const auto given_operands = out.operands;
  for (const OperandPart& part : parts_.parts) {
    const auto given = given_operands.find(part.tensor);
    if (given == given_operands.end())
      return support::invalid("missing-operand", "no tensor is given for `" + part.tensor + "`");
    const PackedTensor& whole = *given->second;
    if (whole.order() != part.format.order())
      return support::invalid("operand-rank", "`" + part.tensor + "` has shape " +
                                                  tuple_text(whole.extents()) + ", the expression has `" +
                                                  part.written + "`");
    if (whole.format() != part.format)
      return support::invalid("argument-format", "`" + part.tensor + "` is stored as " +
                                                     format::print(whole.format()) + ", the kernel expects " +
                                                     format::print(part.format));
    const auto extent = whole.extents()[part.mode];
    SCHAAS_ASSIGN_OR_RETURN(const auto selected, selected_coordinates(part.selection, extent, parameters));
    const bool is_fixed = part.selection.range.is_fixed;
    if (!is_fixed)
      out.extents.push_back({part.selection.index, selected.count, range_source(part.selection, extent)});
    PackedTensor piece = part_of(whole, selected.begin, selected.count, is_fixed);
    out.parts.push_back(
        {&whole, selected.begin, selected.count, is_fixed, std::make_unique<PackedTensor>(std::move(piece))});
    out.operands[part.name] = out.parts.back().part.get();
    if (out.options.unordered.count(part.tensor) > 0) out.options.unordered.insert(part.name);
    const auto reads = [&](const Access& access) { return access.tensor == part.tensor; };
    if (std::none_of(read.begin(), read.end(), reads)) {
      out.operands.erase(part.tensor);
      out.options.unordered.erase(part.tensor);
    }
  }
  return {};
}

bool RangedProgram::is_range_of_part(const Access& access, std::size_t mode) const {
  return std::any_of(parts_.parts.begin(), parts_.parts.end(), [&](const OperandPart& part) {
    return part.name == access.tensor && part.mode == mode && !part.selection.range.is_fixed;
  });
}

support::Result<RangedProgram::Selected> RangedProgram::selected(const Operands& operands,
                                                                 const BindOptions& options) const {
  Selected out{operands, options, {}, {}, {}};
  SCHAAS_ASSIGN_OR_RETURN(const Selections::Parameters parameters, take_parameters(out));
  SCHAAS_RETURN_IF_ERROR(take_parts(out, parameters));
  Extents extents;
  const Program& program = selections_.program();
  for (const Access& access : read_by(program)) {
    const auto given = out.operands.find(access.tensor);
    if (given == out.operands.end() || given->second->extents().size() != access.indices.size()) continue;
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode)
      if (!is_range_of_part(access, mode))
        SCHAAS_RETURN_IF_ERROR(
            extents.bind(access.indices[mode], given->second->extents()[mode],
                         "mode " + std::to_string(mode + 1) + " of `" + print(access) + "`"));
  }
  for (const auto& [index, extent] : options.extents)
    SCHAAS_RETURN_IF_ERROR(extents.bind(index, extent, "what is given"));
  if (options.result != nullptr) {
    const auto& indices = program.result().indices;
    const auto& shape = options.result->extents();
    for (std::size_t mode = 0; mode < std::min(indices.size(), shape.size()); ++mode)
      if (!extents.bound(indices[mode]))
        SCHAAS_RETURN_IF_ERROR(extents.bind(indices[mode], shape[mode], "the result"));
  }
  // Last, so that messages begin with what is read whole.
  for (const PartExtent& part : out.extents)
    SCHAAS_RETURN_IF_ERROR(extents.bind(part.index, part.count, part.source));
  SCHAAS_RETURN_IF_ERROR(selections_.bind(extents, parameters));
  SCHAAS_ASSIGN_OR_RETURN(const auto tensors, selections_.tensors(extents, parameters));
  const ProblemText& problem = kernels_.problem();
  for (const auto& [name, tensor] : tensors) {
    SCHAAS_ASSIGN_OR_RETURN(const auto format, format::parse(problem.formats.at(name), tensor.order(), name));
    const PackOptions pack_options{name, problem.value_type, problem.position_bits == "32" ? 32 : 64,
                                   program.semiring->zero};
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor packed, pack(tensor, format, pack_options));
    out.selections.push_back(std::make_unique<PackedTensor>(std::move(packed)));
    out.operands[name] = out.selections.back().get();
  }
  return out;
}

support::Result<Computation> RangedProgram::bind(const Operands& operands, const BindOptions& options) const {
  SCHAAS_ASSIGN_OR_RETURN(const RangedProgram* serving_this, serving(operands));
  if (serving_this != this) return serving_this->bind(operands, options);
  SCHAAS_ASSIGN_OR_RETURN(Selected here, selected(operands, options));
  SCHAAS_ASSIGN_OR_RETURN(Computation bound, kernels_.bind(here.operands, here.options));
  Computation::State& state = *bound.state_;
  // With numbers that are read at binding the computation cannot take other arrays.
  const bool takes_others = index_notation::range_parameters(given_).empty();
  auto& kept = takes_others ? state.selections : state.kept;
  for (auto& one : here.selections) kept.push_back(std::move(one));
  if (takes_others) {
    state.parts = std::move(here.parts);
  } else {
    for (auto& one : here.parts) kept.push_back(std::move(one.part));
  }
  return bound;
}

support::Result<Tuning> RangedProgram::tune(const Operands& operands, const BindOptions& options) const {
  SCHAAS_ASSIGN_OR_RETURN(const RangedProgram* serving_this, serving(operands));
  if (serving_this != this) return serving_this->tune(operands, options);
  SCHAAS_ASSIGN_OR_RETURN(const Selected here, selected(operands, options));
  return kernels_.tune(here.operands, here.options);
}

support::Result<FrontierHere> RangedProgram::frontier_at(const Operands& operands,
                                                         const BindOptions& options) const {
  if (operands.empty()) return kernels_.frontier_at(operands, options);
  SCHAAS_ASSIGN_OR_RETURN(const RangedProgram* serving_this, serving(operands));
  if (serving_this != this) return serving_this->frontier_at(operands, options);
  SCHAAS_ASSIGN_OR_RETURN(const Selected here, selected(operands, options));
  return kernels_.frontier_at(here.operands, here.options);
}

}  // namespace schaas::client
