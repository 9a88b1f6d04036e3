#include "client/cpp/api/ranged_program.h"

#include <utility>

#include "client/cpp/api/computation.h"
#include "client/cpp/selection/binding.h"

// A kernel set behind the interface of one. A selection depends on extents and on the numbers in bounds,
// which are read when tensors are bound; a computation keeps it. Names in bounds are scalar operands that no
// kernel reads.
namespace schaas::client {

support::Result<std::unique_ptr<const RangedProgram>> RangedProgram::open(const Session& session,
                                                                          const ProblemText& problem,
                                                                          const Program& program,
                                                                          const KernelSetOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(Selections selections,
                          Selections::of(program, problem.formats, problem.expression));
  if (selections.empty()) return std::unique_ptr<const RangedProgram>();
  ProblemText text = problem;
  selections.apply_to(text.expression, text.formats);
  SCHAAS_ASSIGN_OR_RETURN(KernelSet kernels, KernelSet::open(session, std::move(text), options));
  return std::unique_ptr<const RangedProgram>(new RangedProgram(std::move(selections), std::move(kernels)));
}

support::Result<RangedProgram::Selected> RangedProgram::selected(const Operands& operands,
                                                                 const BindOptions& options) const {
  Selected out{operands, {}};
  const Program& program = selections_.program();
  const auto read = read_by(program);
  Selections::Parameters parameters;
  for (const std::string& name : selections_.parameters()) {
    const auto given = operands.find(name);
    if (given == operands.end()) continue;
    const PackedTensor& scalar = *given->second;
    if (scalar.order() != 0 || scalar.on_device())
      return support::invalid("range", "`" + name + "` bounds a range: expected a scalar in memory");
    SCHAAS_ASSIGN_OR_RETURN(parameters[name], parameter_of(name, scalar.value(0)));
    const auto reads = [&, name = name](const Access& access) { return access.tensor == name; };
    if (std::none_of(read.begin(), read.end(), reads)) out.operands.erase(name);
  }
  Extents extents;
  for (const Access& access : read) {
    const auto given = operands.find(access.tensor);
    if (given == operands.end() || given->second->extents().size() != access.indices.size()) continue;
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode)
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
  SCHAAS_RETURN_IF_ERROR(selections_.bind(extents, parameters));
  SCHAAS_ASSIGN_OR_RETURN(const auto tensors, selections_.tensors(extents, parameters));
  const ProblemText& problem = kernels_.problem();
  for (const auto& [name, tensor] : tensors) {
    SCHAAS_ASSIGN_OR_RETURN(const auto format, format::parse(problem.formats.at(name), tensor.order(), name));
    const PackOptions pack_options{name, problem.value_type, problem.position_bits == "32" ? 32 : 64,
                                   program.semiring->zero};
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor packed, pack(tensor, format, pack_options));
    out.own.push_back(std::make_unique<PackedTensor>(std::move(packed)));
    out.operands[name] = out.own.back().get();
  }
  return out;
}

support::Result<Computation> RangedProgram::bind(const Operands& operands, const BindOptions& options) const {
  SCHAAS_ASSIGN_OR_RETURN(Selected here, selected(operands, options));
  SCHAAS_ASSIGN_OR_RETURN(Computation bound, kernels_.bind(here.operands, options));
  // With numbers that are read at binding the computation cannot take other arrays.
  auto& kept = selections_.parameters().empty() ? bound.state_->selections : bound.state_->kept;
  for (auto& one : here.own) kept.push_back(std::move(one));
  return bound;
}

support::Result<Tuning> RangedProgram::tune(const Operands& operands, const BindOptions& options) const {
  SCHAAS_ASSIGN_OR_RETURN(const Selected here, selected(operands, options));
  return kernels_.tune(here.operands, options);
}

support::Result<FrontierHere> RangedProgram::frontier_at(const Operands& operands,
                                                         const BindOptions& options) const {
  if (operands.empty()) return kernels_.frontier_at(operands, options);
  SCHAAS_ASSIGN_OR_RETURN(const Selected here, selected(operands, options));
  return kernels_.frontier_at(here.operands, options);
}

}  // namespace schaas::client
