#include "client/cpp/remote/question.h"

#include "proto/kernel_abi.h"
#include "proto/signed_kernel.h"
#include "proto/signed_problem.h"

// The question as the client understands it. The client derives the canonical form of a problem by the code
// of the server (docs/decisions/0013). It so knows the key for which kernels must be signed. An answer to
// another problem differs in that key, in the constraints, or in the names; nothing of it is used.
namespace schaas::client {
namespace {

/// Arguments of a kernel in order, in the user's names.
std::vector<std::string> arguments_of(const problem::Canonical& asked) {
  std::vector<std::string> names = asked.problem.tensors();
  for (std::string& name : names) name = asked.user_tensor.at(name);
  return names;
}

std::vector<Constraint::Monomial> sum(const std::vector<problem::Monomial>& from) {
  std::vector<Constraint::Monomial> result;
  for (const auto& [coefficient, powers] : from) {
    auto& monomial = result.emplace_back();
    monomial.coefficient = static_cast<std::uint64_t>(coefficient);
    for (const auto& [symbol, exponent] : powers)
      monomial.factors.push_back({symbol.kind == problem::Symbol::Kind::extent
                                      ? Constraint::Factor::Kind::extent
                                      : Constraint::Factor::Kind::nonzeros,
                                  symbol.name, symbol.levels, static_cast<unsigned>(exponent)});
  }
  return result;
}

// Returns the first field in which a frontier differs from the answer to `asked`; "": none. The order goes
// from the problem to the names: the first difference is the most telling one.
std::string difference(const Frontier& frontier, const problem::Canonical& asked) {
  if (frontier.key != asked.key || frontier.canonical != asked.text) return "problem";
  if (frontier.constraints != constraints_of(asked)) return "constraints";
  if (frontier.arguments != arguments_of(asked)) return "order of arguments";
  if (frontier.user_tensors != asked.user_tensor) return "names of tensors";
  if (frontier.user_indices != asked.user_extent) return "names of indices";
  return "";
}

/// Returns the request with the statements, formats and constraints of a part.
ProblemText with_texts(ProblemText asked, const problem::ProblemText& part) {
  asked.expression = part.expression;
  asked.formats = part.formats;
  asked.constraints = part.constraints;
  return asked;
}

}  // namespace

// Both sides sign and compare texts with all defaults written out.
problem::ProblemText texts_with_defaults(const ProblemText& asked) {
  const problem::ProblemText defaults;
  const auto or_default = [](const std::string& text, const std::string& otherwise) {
    return text.empty() ? otherwise : text;
  };
  return {asked.expression,
          asked.formats,
          asked.constraints,
          name(asked.value_type),
          or_default(asked.position_bits, defaults.position_bits),
          or_default(asked.profile, defaults.profile),
          or_default(asked.space, defaults.space)};
}

std::vector<Constraint> constraints_of(const problem::Canonical& asked) {
  std::vector<Constraint> result;
  for (const auto& [left, right] : asked.problem.constraints) result.push_back({sum(left), sum(right)});
  return result;
}

support::Result<problem::Canonical> canonical_form(const ProblemText& asked) {
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem problem, problem::build(texts_with_defaults(asked)));
  return problem::canonicalize(problem, asked.expression);
}

support::Result<std::optional<ProgramParts>> program_parts(const ProblemText& asked) {
  SCHAAS_ASSIGN_OR_RETURN(const auto found, problem::stored_intermediate(texts_with_defaults(asked)));
  if (!found) return std::optional<ProgramParts>();
  return std::optional(ProgramParts{found->tensor, found->format, with_texts(asked, found->producer),
                                    with_texts(asked, found->consumer)});
}

support::Result<ProblemText> part_of(const ProblemText& whole, const index_notation::Program& part) {
  SCHAAS_ASSIGN_OR_RETURN(const auto text, problem::part_of(texts_with_defaults(whole), part));
  return with_texts(whole, text);
}

Origin server_at(const std::string& address) {
  return {"the server at " + address,
          "ask again: an honest server of this version makes it anew. When it comes again the server, or the "
          "way to it, is not to be trusted"};
}
Origin file_at(const std::string& path) {
  return {path, "copy it anew, or make it again with `schaas bundle`"};
}

support::Result<void> check_frontier(const Frontier& frontier, const problem::Canonical& asked,
                                     const Origin& origin) {
  const std::string other = difference(frontier, asked);
  if (other.empty()) return {};
  return support::noting(
      support::invalid("answer-mismatch", "the answer from " + origin.name +
                                              " is not to the problem that was asked: it differs in the " +
                                              other + "; nothing of it was used"),
      origin.remedy);
}

support::Result<void> check_problem_signature(const ProblemText& problem, const Frontier& frontier,
                                              const support::PublicKey& key, const Origin& origin) {
  if (key.verifies(signed_problem_text(texts_with_defaults(problem), frontier.key), frontier.signature))
    return {};
  return support::noting(
      support::invalid("answer-signature", "the answer to `" + problem.expression + "` from " + origin.name +
                                               " is not signed by the key " + key.text() +
                                               " for these formats and types; nothing of it was used"),
      origin.remedy);
}

// The signature covers the binary's digest, so a binary of another kernel does not pass.
support::Result<void> check_signature(const KernelInfo& kernel, const support::PublicKey& key,
                                      const Origin& origin) {
  const std::string text = signed_text(kernel.problem_key, kernel.kernel_key, kernel.isa,
                                       SCHAAS_KERNEL_ABI_VERSION, kernel.digest.sha256, kernel.digest.bytes);
  if (key.verifies(text, kernel.signature)) return {};
  return support::noting(
      support::invalid("kernel-signature", "the kernel of schedule `" + kernel.id + "` from " + origin.name +
                                               " is not signed for this problem by the key " + key.text() +
                                               "; it was not loaded"),
      origin.remedy);
}

}  // namespace schaas::client
