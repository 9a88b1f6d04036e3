#include "client/cpp/api/split_program.h"

#include <algorithm>
#include <vector>

#include "client/cpp/api/computation.h"
#include "client/cpp/remote/question.h"
#include "client/cpp/selection/binding.h"

// Two kernel sets behind the interface of one. The entries of the intermediate are known after its first run
// only, and binding the consumer needs them: extents and counts decide on its kernel. So binding runs the
// producer. Its result belongs to the computation of the consumer, which keeps the producer.
namespace schaas::client {
namespace {

using Operands = SplitProgram::Operands;

/// The tensors that a part reads.
Operands operands_of(const KernelSet& part, const Operands& operands) {
  Operands out;
  for (const Access& access : read_by(part.program())) {
    const auto given = operands.find(access.tensor);
    if (given != operands.end()) out.insert(*given);
  }
  return out;
}

/// The options as far as they concern a part.
BindOptions options_of(const KernelSet& part, const BindOptions& options) {
  BindOptions out = options;
  const auto indices = indices_of(part.program());
  std::erase_if(out.extents, [&](const auto& given) {
    return std::find(indices.begin(), indices.end(), given.first) == indices.end();
  });
  return out;
}

}  // namespace

support::Result<std::unique_ptr<const SplitProgram>> SplitProgram::open(const Session& session,
                                                                        const ProblemText& problem,
                                                                        const KernelSetOptions& options) {
  using Opened = std::unique_ptr<const SplitProgram>;
  SCHAAS_ASSIGN_OR_RETURN(const auto parts, program_parts(problem));
  if (!parts) return Opened();
  auto producer = KernelSet::open(session, parts->producer, options);
  if (!producer.ok() && producer.error().code == "not-in-bundle") return Opened();
  if (!producer.ok()) return producer.error();
  SCHAAS_ASSIGN_OR_RETURN(KernelSet consumer, KernelSet::open(session, parts->consumer, options));
  return Opened(new SplitProgram(parts->tensor, std::move(producer).value(), std::move(consumer)));
}

support::Result<Computation> SplitProgram::produced(const Operands& operands,
                                                    const BindOptions& options) const {
  BindOptions own = options_of(producer_, options);
  own.result = nullptr;
  own.single_run = true;
  if (own.schedule != "linear") own.schedule = "auto";
  SCHAAS_ASSIGN_OR_RETURN(Computation computation, producer_.bind(operands_of(producer_, operands), own));
  SCHAAS_RETURN_IF_ERROR(computation.run());
  return computation;
}

Operands SplitProgram::operands_of_consumer(const Operands& operands, Computation& produced) const {
  Operands out = operands_of(consumer_, operands);
  out[tensor_] = &produced.result();
  return out;
}

support::Result<Computation> SplitProgram::bind(const Operands& operands, const BindOptions& options) const {
  SCHAAS_ASSIGN_OR_RETURN(Computation first, produced(operands, options));
  SCHAAS_ASSIGN_OR_RETURN(
      Computation out, consumer_.bind(operands_of_consumer(operands, first), options_of(consumer_, options)));
  Computation::State& state = *out.state_;
  state.bound.reason += "; `" + tensor_ + "` is computed before and stored as " +
                        format::print(first.result().format()) + ", " +
                        std::to_string(first.result().stored()) + " entries";
  state.operands_change = options.operands_change;
  state.producers.insert(state.producers.begin(), std::move(first));
  return out;
}

support::Result<Tuning> SplitProgram::tune(const Operands& operands, const BindOptions& options) const {
  BindOptions own = options_of(producer_, options);
  own.result = nullptr;
  SCHAAS_RETURN_IF_ERROR(producer_.tune(operands_of(producer_, operands), own));
  SCHAAS_ASSIGN_OR_RETURN(Computation first, produced(operands, options));
  return consumer_.tune(operands_of_consumer(operands, first), options_of(consumer_, options));
}

support::Result<FrontierHere> SplitProgram::frontier_at(const Operands& operands,
                                                        const BindOptions& options) const {
  if (operands.empty()) return consumer_.frontier_at(operands, options_of(consumer_, options));
  SCHAAS_ASSIGN_OR_RETURN(Computation first, produced(operands, options));
  return consumer_.frontier_at(operands_of_consumer(operands, first), options_of(consumer_, options));
}

}  // namespace schaas::client
