#include <gtest/gtest.h>

#include <map>

#include "tests/support/interpreted_trial.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_program.h"
#include "tests/support/seed.h"

// Loop IR of random products and programs under random schedules, interpreted with every access checked,
// against the dense oracle. A kernel runs before passes, after all of them, and after a random selection, so
// that a pass that changes results or reads outside an array is found without a C compiler. SCHAAS_SEED=n
// chooses another seed; it is in every failure.
namespace schaas {
namespace {

constexpr int problems = 400;
constexpr std::size_t inputs = 6;

std::uint64_t seed() { return test_support::seed_or(20261127); }

/// Passes in the order of the table, each left out by chance.
lower::PassList some_passes(std::mt19937_64& random) {
  lower::PassList some;
  for (const lower::Pass* each : lower::all_passes())
    if (random() % 2 == 0) some.push_back(each);
  return some;
}

std::string names_of(const lower::PassList& passes) {
  std::string names;
  for (const lower::Pass* each : passes) names += (names.empty() ? "" : ",") + std::string(each->name);
  return names.empty() ? "no passes" : names;
}

class Session {
 public:
  Session() : random_(seed()) {}

  void check(const problem::Problem& problem, const schedule::Trace& trace) {
    const test_support::Trials trials(problem, inputs, random_());
    for (const auto& passes : {lower::PassList{}, lower::all_passes(), some_passes(random_)}) {
      const auto kernel = test_support::kernel_of(trace, problem, passes);
      if (!kernel.ok()) {
        if (kernel.error().family == support::Family::internal)
          failed(support::render(kernel.error()), trace, problem, passes);
        return;
      }
      const auto error =
          test_support::interpreted_error(*kernel, trials, random_() % inputs, inputs, random_);
      if (!error.empty()) failed(error, trace, problem, passes);
      ++kernels_;
    }
  }

  int kernels() const { return kernels_; }
  int failures() const { return failures_; }
  std::mt19937_64& random() { return random_; }

 private:
  void failed(const std::string& what, const schedule::Trace& trace, const problem::Problem& problem,
              const lower::PassList& passes) {
    if (++failures_ <= 5)
      ADD_FAILURE() << what << test_support::described(trace, problem, " with " + names_of(passes));
  }

  std::mt19937_64 random_;
  int kernels_ = 0, failures_ = 0;
};

TEST(InterpretedKernels, OfProductsComputeWhatTheOracleSays) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  Session session;
  for (int n = 0; n < problems && session.failures() < 5; ++n) {
    const auto problem = test_support::random_problem({.lists = true}, session.random());
    session.check(problem, test_support::random_trace(problem, 6, session.random()));
  }
  EXPECT_GE(session.kernels(), problems);
}

TEST(InterpretedKernels, OfProgramsComputeWhatTheOracleSays) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  Session session;
  for (int n = 0; n < problems && session.failures() < 5; ++n) {
    const auto problem = problem::build(test_support::random_program_text({}, session.random()));
    if (!problem.ok()) continue;
    session.check(*problem, schedule::Trace{});
    session.check(*problem, test_support::random_trace(*problem, 3, session.random()));
  }
  EXPECT_GE(session.kernels(), problems);
}

/// A schedule whose kernel was wrong once.
struct Case {
  const char* expression;
  std::map<std::string, std::string> formats;
  const char* trace;
};

const std::vector<Case> cases{
    // The mask is B's pattern, and D leaves out entries of it.
    {"T(i,j) = D(i,j) * C(i,k) * E(j,k); S(i) = B(i,j) * exp(T(i,j)); A(i,j) = B(i,j) * exp(T(i,j)) / S(i)",
     {{"A", "csr"}, {"B", "csr"}, {"D", "csr"}},
     "mask(tensor=T, by={B}); share(nest=1, loops={i}); share(nest=0, loops={i})"},
    {"max-plus: T(i) = B(i) + D(i); A = C(i) * T(i)", {{"B", "csf"}, {"C", "csf"}}, "mask(tensor=T, by={C})"},
    // Both copies begin with what the tensors share.
    {"G(j,m) = T(i,j,k) * T(i,m,k)",
     {{"T", "csf"}},
     "store(tensor=T, order={0,2,1}, at={i,j,k}); store(tensor=T, order={0,2,1}, at={i,m,k})"},
    {"A(i,l) = T(i,j,k) * U(l,j,k)",
     {{"T", "csf"}, {"U", "coo"}},
     "store(tensor=T, order={1,2,0}); store(tensor=U, order={1,2,0})"},
    // One loop reads two workspaces whose start value is not 0 and walks the list of one.
    {"max-min: A(k,n,l) = B(k,n,l) * C(k,n,l)",
     {{"B", "compressed,compressed,hashed:0,2,1"}, {"C", "compressed,compressed,hashed:0,2,1"}},
     "loopfuse(path={}, loc=1, pol=left, fuse=2); loopfuse(path={1}, loc=1, pol=right, fuse=0); "
     "permute(path={0}, factors={0})"},
    // Issue 38: loops that clear the workspace were taken for rows of products, as those that fill it are.
    {"A(i,m,k) = where(D(k,j) > 0, sum(n)(C(n,m,j) * B(n,k)), 0) * (2 - E(j,k))",
     {{"C", "compressed,dense,dense:2,0,1"}, {"D", "coo"}, {"E", "csr"}},
     "store(tensor=E, order={1,0}); sequence(order={0,1}); share(nest=0, loops={k}); "
     "reorder(path={0}, order={j,n,m}); reorder(path={1}, order={j,i,m})"},
    // Issue 38: an equation leaves one value of a loop that walks the list of a workspace.
    {"T(m,n) = sum(j)(C(n,j) * B(n,j) * D(n,l) - E(n,j,l)) * F(i,m) * (l + 1 == n); A(l) = T(l,l) * G(l)",
     {{"A", "csf"}, {"B", "bitmap"}, {"C", "csr"}, {"D", "csr"}, {"E", "csf:0,2,1"}, {"F", "dcsr"}},
     "sequence(order={0,1,2}); share(nest=0, loops={n}); reorder(path={0,1}, order={l,i,m}); "
     "distribute(path={0,0}, depth=0)"},
    // A vector that a phase before has made of the list that the loop looks in.
    {"A(l) = B(l,i) * C(i) * D(l)",
     {{"A", "compressed"}, {"B", "csr"}, {"C", "compressed"}, {"D", "bitmap"}},
     "permute(path={}, factors={1,0,2}); loopfuse(path={}, loc=1, pol=left)"},
    // Two phases that walk the rows of B become one, also where a phase before stores the result.
    {"y(i) = B(i,j) * x(j) + B(j,i) * x(j) + d(i) * x(i)", {{"B", "csr"}}, "linear"},
    {"y(i) = d(i) * x(i) + B(i,j) * x(j) + B(j,i) * z(j)", {{"B", "dcsr"}}, "linear"},
    {"y(i) = x(j) * (B(i,j) - B(j,i)) * u(i)", {{"B", "csr"}, {"x", "compressed"}}, "linear"},
    // The values of a loop with one coordinate were counted as those of all.
    {"T(m) = exp(B(j,m)) * (m == i); A(i) = T(j) * C(j,i)", {}, "linear"},
    // Entries of the second vector were counted, where those of the first are appended, and some of them
    // alone.
    {"A(n,m) = 2 * B(l,m) * where(E(l,m) > 0, sum(i)(D(i,m) * C(i,n)), 0) * relu(sum(k)(G(m,k) * F(k,n)))",
     {{"A", "dcsc"}, {"B", "csc"}, {"C", "dcsr"}, {"D", "coo"}, {"E", "csr"}, {"F", "coo"}},
     "store(tensor=E, order={1,0}); store(tensor=D, order={1,0})"},
    // Rows that no list holds are no entries of the result, also where rows of a list could be indexed.
    {"A(l,i) = (B(l,i) != C(l,i)) * D(l,i)",
     {{"A", "compressed,dense"}, {"B", "hashed,dense"}, {"C", "coo"}},
     "linear"},
    {"A(k,n) = where(B(k,n) > or(l)(sqrt(abs(D(k,l)))), C(k), B(n,k))",
     {{"A", "dense,compressed(unordered)"}, {"B", "coo:1,0"}, {"C", "hashed"}, {"D", "dcsr"}},
     "store(tensor=B, order={0,1}, at={k,n}); share(nest=0, loops={})"},
    // Rows are coalesced unless their loop is to be unrolled.
    {"A = B(i,j)", {{"B", "csr"}}, "unroll(path={}, loop=j, factor=4)"},
};

TEST(InterpretedKernels, OfKnownCasesComputeWhatTheOracleSays) {
  Session session;
  for (const Case& each : cases) {
    problem::ProblemText text;
    text.expression = each.expression;
    text.formats = each.formats;
    const auto problem = problem::build(text).value();
    for (int n = 0; n < 10; ++n) session.check(problem, schedule::parse(each.trace).value());
  }
  EXPECT_EQ(session.kernels(), static_cast<int>(cases.size()) * 30);
}

}  // namespace
}  // namespace schaas
