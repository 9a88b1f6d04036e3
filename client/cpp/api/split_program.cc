#include "client/cpp/api/split_program.h"

#include <mutex>
#include <utility>

#include "client/cpp/api/computation.h"
#include "client/cpp/api/long_product.h"
#include "client/cpp/remote/question.h"
#include "client/cpp/selection/binding.h"
#include "compiler/support/contains.h"

// Several kernel sets behind the interface of one. The entries of a sparse result are known after a run only.
// Binding its readers needs them, since counts decide on their kernels. So binding runs all parts but the
// last. Their results belong to the computation of the last part, which keeps them. The searches of all parts
// begin before the first is waited for.
namespace schaas::client {
namespace {

/// Extents of a product before tensors are bound.
constexpr std::int64_t middling_extent = 16;
/// Orders that are remembered by the extents they were found for: finding one takes longer than a small run.
constexpr std::size_t max_extents = 64;

/// The options as far as they concern a part.
BindOptions options_of(const KernelSet& part, const BindOptions& options) {
  BindOptions out = options;
  const auto indices = indices_of(part.program());
  std::erase_if(out.extents, [&](const auto& given) { return !support::contains(indices, given.first); });
  return out;
}

const std::string& made_by(const KernelSet& part) { return part.program().result().tensor; }

}  // namespace

/// Binding of all parts to the tensors of a program.
class SplitProgram::Run {
 public:
  Run(const Parts& parts, const Operands& operands, const BindOptions& options)
      : parts_(parts), tensors_(operands), options_(options) {}

  /// Runs all parts but the last. `tuned`: each has its schedules measured before.
  support::Result<void> produce(bool tuned) {
    for (const KernelSet& part : parts_.sets) part.begin(options_);
    made_.reserve(parts_.sets.size());
    for (std::size_t n = 0; n + 1 < parts_.sets.size(); ++n) {
      const KernelSet& part = parts_.sets[n];
      BindOptions own = options_of(part, options_);
      own.result = nullptr;
      own.single_run = true;
      if (own.schedule != "linear") own.schedule = "auto";
      if (tuned) SCHAAS_RETURN_IF_ERROR(part.tune(operands_of(part), own));
      SCHAAS_ASSIGN_OR_RETURN(Computation computation, part.bind(operands_of(part), own));
      SCHAAS_RETURN_IF_ERROR(computation.run());
      tensors_[made_by(part)] = &computation.result();
      made_.push_back(std::move(computation));
    }
    return {};
  }

  Operands operands_of_last() const { return operands_of(parts_.last()); }
  BindOptions options_of_last() const { return options_of(parts_.last(), options_); }
  std::vector<Computation> take() { return std::move(made_); }

 private:
  Operands operands_of(const KernelSet& part) const {
    Operands out;
    for (const Access& access : read_by(part.program())) {
      const auto given = tensors_.find(access.tensor);
      if (given != tensors_.end()) out.insert(*given);
    }
    return out;
  }

  const Parts& parts_;
  Operands tensors_;  ///< with those that were made
  const BindOptions& options_;
  std::vector<Computation> made_;
};

SplitProgram::SplitProgram(Session session, ProblemText problem, Program program, KernelSetOptions options)
    : session_(std::move(session)),
      problem_(std::move(problem)),
      program_(std::move(program)),
      options_(std::move(options)) {}

support::Result<SplitProgram::PartsPointer> SplitProgram::opened(const Session& session,
                                                                 const std::vector<ProblemText>& problems,
                                                                 std::string note,
                                                                 const KernelSetOptions& options) {
  auto out = std::make_shared<Parts>();
  out->note = std::move(note);
  for (const ProblemText& problem : problems) {
    SCHAAS_ASSIGN_OR_RETURN(KernelSet set, KernelSet::open(session, problem, options));
    out->sets.push_back(std::move(set));
  }
  return PartsPointer(std::move(out));
}

support::Result<std::unique_ptr<const SplitProgram>> SplitProgram::open(const Session& session,
                                                                        const ProblemText& problem,
                                                                        const Program& program,
                                                                        const KernelSetOptions& options) {
  using Opened = std::unique_ptr<const SplitProgram>;
  std::unique_ptr<SplitProgram> out(new SplitProgram(session, problem, program, options));
  if (is_long_product(program)) {
    SCHAAS_RETURN_IF_ERROR(out->parts({}));
    return Opened(std::move(out));
  }
  SCHAAS_ASSIGN_OR_RETURN(const auto parts, program_parts(problem));
  if (!parts) return Opened();
  auto sets = opened(session, {parts->producer, parts->consumer},
                     "`" + parts->tensor + "` is computed before and stored as " + parts->format, options);
  if (!sets.ok() && sets.error().code == "not-in-bundle") return Opened();
  if (!sets.ok()) return sets.error();
  out->fixed_ = std::move(sets).value();
  return Opened(std::move(out));
}

// The mutex is not held while parts are opened; two threads may open the same ones, and one of them is kept.
support::Result<SplitProgram::PartsPointer> SplitProgram::parts(const Extents& extents) const {
  if (fixed_) return fixed_;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = by_extents_.find(extents); found != by_extents_.end()) return found->second;
  }
  Extents all = extents;
  for (const std::string& index : indices_of(program_)) all.emplace(index, middling_extent);
  SCHAAS_ASSIGN_OR_RETURN(const ProductSteps steps, product_steps(problem_, program_, all));
  std::vector<std::string> key;
  for (const ProblemText& problem : steps.problems) key.push_back(problem.expression);
  PartsPointer made;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) made = found->second;
  }
  if (!made) {
    SCHAAS_ASSIGN_OR_RETURN(made, opened(session_, steps.problems, steps.order, options_));
  }
  const std::lock_guard lock(mutex_);
  made = known_.emplace(std::move(key), std::move(made)).first->second;
  if (by_extents_.size() >= max_extents) by_extents_.clear();
  // The same order takes other multiplications at other extents.
  return by_extents_[extents] = std::make_shared<Parts>(Parts{made->sets, steps.order});
}

/// Checks the operands as those of the whole program.
support::Result<SplitProgram::PartsPointer> SplitProgram::parts_for(const Operands& operands,
                                                                    const BindOptions& options) const {
  SCHAAS_ASSIGN_OR_RETURN(const Extents extents, bound_extents(program_, operands, options.extents));
  return parts(extents);
}

support::Result<Computation> SplitProgram::bind(const Operands& operands, const BindOptions& options) const {
  SCHAAS_ASSIGN_OR_RETURN(const PartsPointer parts, parts_for(operands, options));
  Run run(*parts, operands, options);
  SCHAAS_RETURN_IF_ERROR(run.produce(false));
  SCHAAS_ASSIGN_OR_RETURN(Computation out, parts->last().bind(run.operands_of_last(), run.options_of_last()));
  Computation::State& state = *out.state_;
  state.bound.reason += "; " + parts->note;
  state.operands_change = options.operands_change;
  std::vector<Computation> made = run.take();
  state.producers.insert(state.producers.begin(), std::make_move_iterator(made.begin()),
                         std::make_move_iterator(made.end()));
  return out;
}

support::Result<Tuning> SplitProgram::tune(const Operands& operands, const BindOptions& options) const {
  SCHAAS_ASSIGN_OR_RETURN(const PartsPointer parts, parts_for(operands, options));
  Run run(*parts, operands, options);
  SCHAAS_RETURN_IF_ERROR(run.produce(true));
  return parts->last().tune(run.operands_of_last(), run.options_of_last());
}

support::Result<Frontier> SplitProgram::frontier(const std::stop_token& stop) const {
  SCHAAS_ASSIGN_OR_RETURN(const PartsPointer parts, this->parts({}));
  return parts->last().frontier(stop);
}

support::Result<FrontierHere> SplitProgram::frontier_at(const Operands& operands,
                                                        const BindOptions& options) const {
  if (operands.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(const PartsPointer parts, this->parts({}));
    return parts->last().frontier_at(operands, options_of(parts->last(), options));
  }
  SCHAAS_ASSIGN_OR_RETURN(const PartsPointer parts, parts_for(operands, options));
  Run run(*parts, operands, options);
  SCHAAS_RETURN_IF_ERROR(run.produce(false));
  return parts->last().frontier_at(run.operands_of_last(), run.options_of_last());
}

}  // namespace schaas::client
