#include <algorithm>
#include <set>

#include "client/cpp/api/bundle_state.h"
#include "client/cpp/remote/received_answer.h"
#include "compiler/support/instruction_set.h"
#include "schaas/expression.h"
#include "schaas/host.h"
#include "schaas/selections.h"

// Answers from a file, in the role of a server. A request is compared with the problems of the file. Blanks,
// brackets, and ways of naming a format do not matter, widths of positions only where there are positions. Of
// several instruction sets the best one that this processor runs is taken. Nothing is searched or compiled,
// so what the file lacks is an error that lists what it has.
namespace schaas::client {
namespace {

/// The statement without what does not matter to it.
std::string plain(const std::string& expression) {
  std::string text;
  for (const char c : expression) {
    if (c == '[' || c == ']') {
      text += c == '[' ? '(' : ')';
    } else if (c != ' ' && c != '\t' && c != '\n') {
      text += c;
    }
  }
  return text;
}

/// Orders of all tensors of a program.
std::map<std::string, int> orders(const Program& program) {
  std::map<std::string, int> found;
  for (const Statement& statement : program.statements) {
    found.emplace(statement.result.tensor, static_cast<int>(statement.result.indices.size()));
    for (const Access& access : index_notation::operands(statement.value))
      found.emplace(access.tensor, static_cast<int>(access.indices.size()));
  }
  return found;
}

/// A format as it is printed, so that names and levels of the same one are equal; dense where none is given.
std::string format_of(const ProblemText& problem, const std::string& tensor, int order) {
  const auto given = problem.formats.find(tensor);
  const std::string text = given == problem.formats.end() ? "dense" : given->second;
  if (order == 0) return "dense";
  const auto parsed = format::parse(text, order, tensor);
  return parsed.ok() ? format::print(*parsed) : text;
}

// Returns the rank of an instruction set; unknown ones are no better than any.
int rank(const std::string& isa) {
  const support::InstructionSet* found = support::find_instruction_set(isa);
  return found == nullptr ? 0 : found->rank;
}

std::string described(const ProblemText& problem) {
  std::string text = "`" + problem.expression + "`";
  for (const auto& [tensor, format] : problem.formats) text += ", " + tensor + "=" + format;
  return text + ", " + name(problem.value_type) + ", positions of " + problem.position_bits + " bits";
}

class BundleSource final : public KernelSource {
 public:
  explicit BundleSource(std::shared_ptr<const Bundle::State> state) : state_(std::move(state)) {}

  const std::string& address() const override { return state_->address; }
  bool is_bundle() const override { return true; }

  support::Result<ScheduleAnswer> schedule(
      const ScheduleRequest& request, const std::function<bool(const ScheduleEvent&)>& listener) override {
    SCHAAS_ASSIGN_OR_RETURN(const BundledAnswer* found, find(request.problem, request.isa));
    ScheduleAnswer answer;
    answer.frontier = found->frontier;
    if (!request.search_only) answer.kernels = wanted(*found, request);
    if (request.traces_only && answer.kernels.empty()) return no_such_schedule(*found, request.traces);
    answer.done = {true, 0, 0, 0, 0};
    tell(answer, listener);
    return answer;
  }

  support::Result<Frontier> lookup(const ProblemText& problem, std::stop_token) override {
    SCHAAS_ASSIGN_OR_RETURN(const BundledAnswer* found, find(problem, ""));
    return found->frontier;
  }

  support::Result<std::string> download(const KernelInfo& kernel, std::stop_token) override {
    const support::Digest& digest = kernel.digest;
    const auto found = state_->binaries.find(digest.sha256);
    if (found == state_->binaries.end()) return not_in_bundle(*state_, "the binary " + digest.sha256 + " is");
    return std::string(found->second);
  }

  support::Result<void> report(const ProblemText& problem,
                               const std::vector<Measurement>& measurements) override {
    (void)problem, (void)measurements;
    return {};
  }

 private:
  /// The best that this processor runs; `isa` is only met where it is there, as the client always names one.
  support::Result<const BundledAnswer*> find(const ProblemText& problem, const std::string& isa) const {
    const BundledAnswer* best = nullptr;
    bool known = false;
    for (const BundledAnswer& answer : state_->header.answers) {
      if (!same_kernels(answer.problem, problem)) continue;
      known = true;
      if (answer.isa == isa) return &answer;
      if (host_runs(answer.isa) && (best == nullptr || rank(answer.isa) > rank(best->isa))) best = &answer;
    }
    if (best != nullptr) return best;
    return not_in_bundle(
        *state_, known ? "kernels for this processor (" + host_isa() + ") are" : described(problem) + " is");
  }

  // Kernels are named by their id or their trace; the answer has the name that was asked for.
  static std::vector<KernelInfo> wanted(const BundledAnswer& answer, const ScheduleRequest& request) {
    if (!request.traces_only) return answer.kernels;
    std::vector<KernelInfo> kernels;
    for (const std::string& name : request.traces) {
      for (const KernelInfo& kernel : answer.kernels) {
        if (kernel.id != name && kernel.trace != name) continue;
        kernels.push_back(kernel);
        kernels.back().id = name;
        break;
      }
    }
    return kernels;
  }

  support::Diagnostic no_such_schedule(const BundledAnswer& answer,
                                       const std::vector<std::string>& traces) const {
    std::string known;
    for (const KernelInfo& kernel : answer.kernels) known += (known.empty() ? "" : ", ") + kernel.id;
    return support::noting(
        support::unsupported("not-in-bundle", "there is no kernel for the schedule `" +
                                                  (traces.empty() ? "" : traces.front()) + "` in " +
                                                  state_->path + "; there are " + known),
        "`schaas bundle --schedule` adds further ones");
  }

  const std::shared_ptr<const Bundle::State> state_;
};

}  // namespace

std::shared_ptr<KernelSource> source_of(std::shared_ptr<const Bundle::State> state) {
  return std::make_shared<BundleSource>(std::move(state));
}

support::Diagnostic not_in_bundle(const Bundle::State& state, const std::string& what) {
  support::Diagnostic found = support::unsupported("not-in-bundle", what + " not in " + state.path);
  std::set<std::string> told;
  for (const BundledAnswer& answer : state.header.answers) {
    const std::string text = described(answer.problem) + ", for " + answer.isa;
    if (told.insert(text).second) found = support::noting(std::move(found), "it holds " + text);
  }
  return found;
}

namespace {

/// The same problem without ranges: requests have none, and a bundle has what its maker was asked for.
ProblemText without_ranges(ProblemText given) {
  const auto program = parse_program(given.expression);
  if (!program.ok()) return given;
  const auto selections = Selections::of(*program, given.formats, given.expression);
  if (selections.ok()) selections->apply_to(given.expression, given.formats);
  return given;
}

}  // namespace

// Statements are compared as texts, not by their canonical form: a bundle's kernels bear the names of its
// problem.
bool same_kernels(const ProblemText& bundled, const ProblemText& requested) {
  const ProblemText a = without_ranges(bundled), b = without_ranges(requested);
  if (plain(a.expression) != plain(b.expression) || a.value_type != b.value_type) return false;
  const auto program = parse_program(a.expression);
  if (!program.ok()) return false;
  bool positions = false;
  for (const auto& [tensor, order] : orders(*program)) {
    const std::string format = format_of(a, tensor, order);
    if (format != format_of(b, tensor, order)) return false;
    positions = positions || format.find_first_not_of("dense,:0123456789") != std::string::npos;
  }
  return a.position_bits == b.position_bits || b.position_bits == "auto" || !positions;
}

}  // namespace schaas::client
