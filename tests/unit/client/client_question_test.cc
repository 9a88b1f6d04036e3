// Answers and kernels are checked against the problem that the client asked: a swap of any field is refused.
#include "client/cpp/remote/question.h"

#include <gtest/gtest.h>

#include <functional>

#include "proto/kernel_abi.h"
#include "proto/signed_kernel.h"
#include "proto/signed_problem.h"

namespace schaas::client {
namespace {

const Origin nowhere{"nowhere", "a remedy"};

support::SigningKey server() { return support::SigningKey::from_seed(std::string(32, 's')); }

ProblemText product() {
  ProblemText problem;
  problem.expression = "Y(i,k) = M(i,j) * X(j,k)";
  problem.formats = {{"M", "csr"}};
  problem.constraints = {"k <= 64"};
  problem.position_bits = "32";
  return problem;
}

/// The answer that an honest server gives.
Frontier answer_to(const ProblemText& problem) {
  const auto asked = canonical_form(problem).value();
  Frontier frontier;
  frontier.key = asked.key;
  frontier.canonical = asked.text;
  frontier.constraints = constraints_of(asked);
  frontier.user_tensors = asked.user_tensor;
  frontier.user_indices = asked.user_index;
  frontier.arguments = {"Y", "M", "X"};
  frontier.signature = server().sign(signed_problem_text(texts_with_defaults(problem), asked.key));
  return frontier;
}

KernelInfo kernel_of(const ProblemText& problem) {
  KernelInfo kernel;
  kernel.id = "s1";
  kernel.problem_key = canonical_form(problem)->key;
  kernel.kernel_key = std::string(64, 'a');
  kernel.isa = "generic";
  kernel.digest = support::digest_of("binary");
  kernel.signature =
      server().sign(signed_text(kernel.problem_key, kernel.kernel_key, kernel.isa, SCHAAS_KERNEL_ABI_VERSION,
                                kernel.digest.sha256, kernel.digest.bytes));
  return kernel;
}

/// One change of each field of a problem that decides what its kernels compute.
std::vector<ProblemText> other_problems() {
  std::vector<ProblemText> others(10, product());
  others[0].expression = "Y(k,i) = M(i,j) * X(j,k)";
  others[1].expression = "Y(i,k) = M(j,i) * X(j,k)";
  others[2].expression = "Y(i,k) += M(i,j) * X(j,k)";
  others[3].expression = "min-plus: Y(i,k) = M(i,j) * X(j,k)";
  others[4].expression = "Y(i,k) = 2 * M(i,j) * X(j,k)";
  others[5].formats = {{"M", "csc"}};
  others[6].value_type = ValueType::f32;
  others[7].position_bits = "64";
  others[8].profile = "sparseauto";
  others[9].constraints = {"k <= 65"};
  return others;
}

std::string refusal(const support::Result<void>& outcome) {
  return outcome.ok() ? "accepted" : support::render(outcome.error());
}

TEST(Question, HasTheKeyOfAllWaysToWriteIt) {
  ProblemText other = product();
  other.expression = "C(r,t)=B(s,t)*A(r,s)";
  other.formats = {{"A", "CSR"}};
  other.constraints = {"64 >= t"};
  EXPECT_EQ(canonical_form(other)->key, canonical_form(product())->key);
}

TEST(Question, HasTheServersDefaultsWhereATextIsEmpty) {
  ProblemText bare = product();
  bare.profile = bare.space = "";
  EXPECT_EQ(canonical_form(bare)->key, canonical_form(product())->key);
  EXPECT_TRUE(check_problem_signature(bare, answer_to(product()), server().public_key(), nowhere).ok());
}

TEST(Question, HasItsConstraintsAsMonomials) {
  ProblemText problem = product();
  problem.constraints = {"density(M) <= 0.001"};
  using Kind = Constraint::Factor::Kind;
  const std::vector<Constraint> expected = {{{{1000, {{Kind::nonzeros, "B", 2, 1}}}},
                                             {{1, {{Kind::extent, "i", 0, 1}, {Kind::extent, "j", 0, 1}}}}}};
  EXPECT_EQ(constraints_of(*canonical_form(problem)), expected);
}

TEST(Question, AcceptsItsOwnAnswer) {
  EXPECT_EQ(refusal(check_frontier(answer_to(product()), *canonical_form(product()), nowhere)), "accepted");
  EXPECT_EQ(refusal(check_signature(kernel_of(product()), server().public_key(), nowhere)), "accepted");
  EXPECT_EQ(refusal(check_problem_signature(product(), answer_to(product()), server().public_key(), nowhere)),
            "accepted");
}

TEST(Question, RefusesAnswersToOtherProblems) {
  for (const ProblemText& other : other_problems()) {
    Frontier answer = answer_to(product());
    answer.key = answer_to(other).key;
    answer.canonical = answer_to(other).canonical;
    EXPECT_EQ(refusal(check_frontier(answer, *canonical_form(product()), nowhere)),
              "invalid [answer-mismatch]: the answer from nowhere is not to the problem that was asked: it "
              "differs in the problem; nothing of it was used\n  note: a remedy")
        << other.expression;
  }
}

TEST(Question, RefusesExchangedNames) {
  const auto refused = [](const std::function<void(Frontier&)>& change) {
    Frontier answer = answer_to(product());
    change(answer);
    const std::string text = refusal(check_frontier(answer, *canonical_form(product()), nowhere));
    const std::size_t begin = text.find("the ", text.find("differs"));
    return begin == std::string::npos ? text : text.substr(begin, text.find(';') - begin);
  };
  EXPECT_EQ(refused([](Frontier& a) { a.arguments = {"Y", "X", "M"}; }), "the order of arguments");
  EXPECT_EQ(refused([](Frontier& a) { a.arguments.clear(); }), "the order of arguments");
  EXPECT_EQ(refused([](Frontier& a) { std::swap(a.user_tensors["B"], a.user_tensors["C"]); }),
            "the names of tensors");
  EXPECT_EQ(refused([](Frontier& a) { std::swap(a.user_indices["i"], a.user_indices["k"]); }),
            "the names of indices");
  EXPECT_EQ(refused([](Frontier& a) { a.constraints.clear(); }), "the constraints");
  EXPECT_EQ(refused([](Frontier& a) { a.constraints[0].right[0].coefficient = 65; }), "the constraints");
  EXPECT_EQ(refused([](Frontier& a) { a.canonical += "\n"; }), "the problem");
  EXPECT_EQ(refused([](Frontier& a) { a = {}; }), "the problem");
}

TEST(Question, RefusesValidlySignedKernelsOfOtherProblems) {
  for (const ProblemText& other : other_problems()) {
    KernelInfo kernel = kernel_of(other);
    ASSERT_TRUE(check_signature(kernel, server().public_key(), nowhere).ok());
    kernel.problem_key = canonical_form(product())->key;
    EXPECT_EQ(refusal(check_signature(kernel, server().public_key(), nowhere)),
              "invalid [kernel-signature]: the kernel of schedule `s1` from nowhere is not signed for this "
              "problem by the key " +
                  server().public_key().text() + "; it was not loaded\n  note: a remedy")
        << other.expression;
  }
}

TEST(Question, RefusesKernelsWithAnyOtherField) {
  std::vector<KernelInfo> wrong(7, kernel_of(product()));
  wrong[0].kernel_key[0] = 'b';
  wrong[1].isa = "x86-64-v4";
  wrong[2].digest = support::digest_of("other binary");
  wrong[3].digest.bytes += 1;
  wrong[4].problem_key.clear();
  wrong[5].signature.clear();
  wrong[6].signature[0] = wrong[6].signature[0] == '0' ? '1' : '0';
  for (const KernelInfo& kernel : wrong)
    EXPECT_EQ(check_signature(kernel, server().public_key(), nowhere).error().code, "kernel-signature");
  const auto another = support::SigningKey::from_seed(std::string(32, 't')).public_key();
  EXPECT_FALSE(check_signature(kernel_of(product()), another, nowhere).ok());
}

TEST(Question, BindsTheUsersTextsInFiles) {
  const auto refused = [](const ProblemText& claimed) {
    return check_problem_signature(claimed, answer_to(product()), server().public_key(), nowhere);
  };
  for (const ProblemText& other : other_problems())
    EXPECT_EQ(refused(other).error().code, "answer-signature") << other.expression;
  ProblemText renamed = product();  // computes the same of operands under exchanged names
  renamed.expression = "Y(i,k) = X(i,j) * M(j,k)";
  renamed.formats = {{"X", "csr"}};
  ASSERT_EQ(canonical_form(renamed)->key, canonical_form(product())->key);
  EXPECT_EQ(refused(renamed).error().message,
            "the answer to `Y(i,k) = X(i,j) * M(j,k)` from nowhere is not signed by the key " +
                server().public_key().text() + " for these formats and types; nothing of it was used");
}

TEST(Question, SignsEachTextWithItsLength) {
  ProblemText one = product(), other = product();
  one.constraints = {"k <= 64\n7 i <= 64"};
  other.constraints = {"k <= 64", "i <= 64"};
  EXPECT_NE(signed_problem_text(texts_with_defaults(one), "key"),
            signed_problem_text(texts_with_defaults(other), "key"));
}

}  // namespace
}  // namespace schaas::client
