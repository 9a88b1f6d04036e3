#include "compiler/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include "compiler/index_notation/printer.h"
#include "tests/support/kernel_runner.h"

// The stages in order, from a canonical problem and a trace to a binary with its descriptor. EchoToolchain
// returns the source and counts calls, so a test sees what reaches the compiler; one test runs the real one.
// The key of a kernel must change with each ingredient, or the cache would serve another kernel. Illegal
// traces and cancellations end before any compiler starts.
namespace schaas::pipeline {
namespace {

/// No process: returns the source, counts calls.
class EchoToolchain : public toolchain::Toolchain {
 public:
  explicit EchoToolchain(std::string version = "echo 1") : version_(std::move(version)) {}
  std::string identity(const toolchain::Target& target) const override { return version_ + " " + target.isa; }
  support::Result<std::string> compile_c(const std::string& source, const toolchain::Target&,
                                         const support::Cancellation&) override {
    ++calls;
    return source;
  }
  int calls = 0;

 private:
  std::string version_;
};

problem::Problem spmm() {
  const auto built =
      problem::build({"A(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}}, {"8 <= k <= 64"}, "f64", "32", "default"});
  EXPECT_TRUE(built.ok()) << support::render(built.error());
  return *built;
}

TEST(Pipeline, LanguagesByName) {
  EXPECT_EQ(Language::trace, *parse_language("trace"));
  EXPECT_EQ(Language::tree, *parse_language("tree"));
  EXPECT_EQ(Language::loops, *parse_language("loops"));
  EXPECT_EQ(Language::c, *parse_language("c"));
  const auto unknown = parse_language("lops");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(
      "invalid [language]: unknown language `lops`; did you mean `loops`?; known are trace, tree, loops, c, "
      "cuda",
      support::render(unknown.error()));
}

TEST(Pipeline, EmitsEachForm) {
  const auto problem = spmm();
  EXPECT_EQ("linear\n", *emit(problem, {}, Language::trace, "x86-64-v3"));
  EXPECT_NE(std::string::npos,
            emit(problem, {}, Language::tree, "x86-64-v3")->find("A(i,k) += B(i,j) * C(j,k)"));
  EXPECT_EQ(0U, emit(problem, {}, Language::loops, "x86-64-v3")->find("kernel f64 arguments 3 {\n"));
  const std::string c = *emit(problem, {}, Language::c, "x86-64-v3");
  EXPECT_NE(std::string::npos, c.find("schaas_kernel ="));
  EXPECT_EQ(0U, c.find("// " + index_notation::print(problem.program()) + "\n// format "));
}

TEST(Pipeline, KeyChangesWithEveryIngredient) {
  const auto canonical = problem::canonicalize(spmm());
  const EchoToolchain toolchain;
  const schedule::Trace linear;
  const schedule::Trace reordered{{schedule::Reorder{{}, {"i", "k", "j"}}}};
  const std::string key = kernel_key(canonical, linear, {"x86-64-v3"}, toolchain);
  EXPECT_TRUE(support::is_sha256_hex(key));
  EXPECT_EQ(key, kernel_key(canonical, linear, {"x86-64-v3"}, EchoToolchain()));
  EXPECT_NE(key, kernel_key(canonical, reordered, {"x86-64-v3"}, toolchain));
  EXPECT_NE(key, kernel_key(canonical, linear, {"x86-64-v4"}, toolchain));
  EXPECT_NE(key, kernel_key(canonical, linear, {"x86-64-v3"}, EchoToolchain("echo 2")));
  EXPECT_NE(key, kernel_key(canonical, linear, {"x86-64-v3", true}, toolchain));
  auto other = canonical;
  other.key = std::string(64, '0');
  EXPECT_NE(key, kernel_key(other, linear, {"x86-64-v3"}, toolchain));
}

TEST(Pipeline, DraftsSayTheSameInLessCode) {
  const auto canonical = problem::canonicalize(spmm());
  EchoToolchain toolchain;
  const auto full = compile(canonical, {}, {"x86-64-v3"}, toolchain, {});
  const auto baseline = compile(canonical, {}, {"x86-64-v3", true}, toolchain, {});
  ASSERT_TRUE(full.ok() && baseline.ok());
  EXPECT_LT(3 * baseline->size(), 2 * full->size());
  EXPECT_EQ("x86-64-v3, draft", toolchain::print({"x86-64-v3", true}));
  EXPECT_EQ("x86-64-v3", toolchain::print({"x86-64-v3"}));
}

TEST(Pipeline, CompilesWhatTheDescriptorSays) {
  const auto canonical = problem::canonicalize(spmm());
  const auto toolchain = toolchain::make_c_toolchain({});
  const auto binary = compile(canonical, {}, {"x86-64-v3"}, *toolchain, {});
  ASSERT_TRUE(binary.ok()) << support::render(binary.error());
  const auto loaded = test_support::LoadedKernel::load(*binary);
  ASSERT_TRUE(loaded.ok()) << support::render(loaded.error());
  EXPECT_EQ(kernel_key(canonical, {}, {"x86-64-v3"}, *toolchain), loaded->descriptor().key);
  EXPECT_EQ(canonical.text, loaded->descriptor().problem);
  EXPECT_STREQ("linear", loaded->descriptor().schedule);
  EXPECT_STREQ("x86-64-v3", loaded->descriptor().isa);
}

TEST(Pipeline, AnIllegalTraceStopsBeforeTheToolchain) {
  const auto canonical = problem::canonicalize(spmm());
  EchoToolchain toolchain;
  const schedule::Trace illegal{{schedule::Reorder{{}, {"i", "i", "j"}}}};
  const auto binary = compile(canonical, illegal, {"x86-64-v3"}, toolchain, {});
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ(support::Family::invalid, binary.error().family);
  EXPECT_EQ(0, toolchain.calls);
}

TEST(Pipeline, CancellationStopsBeforeTheToolchain) {
  const auto canonical = problem::canonicalize(spmm());
  EchoToolchain toolchain;
  support::Cancellation cancellation;
  cancellation.cancel();
  const auto binary = compile(canonical, {}, {"x86-64-v3"}, toolchain, cancellation);
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ("cancelled", binary.error().code);
  EXPECT_EQ(0, toolchain.calls);
}

}  // namespace
}  // namespace schaas::pipeline
