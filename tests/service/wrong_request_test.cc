// Requests that are wrong, each with the exact status and diagnostic a client gets. None of them costs a
// search or a compilation, and the server answers the next request.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ostream>

#include "server/daemon/daemon.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

class NoWork final : public server::KernelProvider {
 public:
  support::Result<server::FrontierAnswer> frontier(const server::FrontierQuery&, const frontier::Progress&,
                                                   const support::Cancellation&) override {
    return support::unsupported("worked", "a wrong request was searched for");
  }
  support::Result<server::KernelAnswer> kernel(const server::KernelQuery&,
                                               const support::Cancellation&) override {
    return support::unsupported("worked", "a wrong request was compiled");
  }
};

struct Case {
  std::string name;
  std::function<void(v1::ScheduleRequest&)> spoil;
  std::string expected;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

v1::ScheduleRequest good() {
  v1::ScheduleRequest request;
  request.mutable_problem()->set_expression("A(i,k) = B(i,j) * C(j,k)");
  (*request.mutable_problem()->mutable_formats())["B"] = "csr";
  return request;
}

// One server for all cases: it must outlive every wrong request.
class WrongRequests : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    directory_ = new test_support::TemporaryDirectory();
    server::DaemonOptions options;
    options.data_directory = *directory_ / "data";
    options.wrap_compiling = [](std::unique_ptr<server::KernelProvider>) {
      return std::make_unique<NoWork>();
    };
    daemon_ = server::Daemon::start(options, server::silent_log()).value().release();
    client_ = new test::ServiceClient(daemon_->addresses().front());
  }
  static void TearDownTestSuite() {
    delete client_;
    delete daemon_;
    delete directory_;
  }
  static inline test_support::TemporaryDirectory* directory_ = nullptr;
  static inline server::Daemon* daemon_ = nullptr;
  static inline test::ServiceClient* client_ = nullptr;
};

TEST_P(WrongRequests, AreRefusedWithTheReason) {
  v1::ScheduleRequest request = good();
  GetParam().spoil(request);
  EXPECT_EQ(client_->schedule(request).refusal.text(), GetParam().expected);
}

TEST_F(WrongRequests, GetTheirLocationInTheText) {
  v1::ScheduleRequest request = good();
  request.mutable_problem()->set_expression("A(i,k) = B(i,j) * ");
  const v1::Diagnostic diagnostic = client_->schedule(request).refusal.diagnostic;
  EXPECT_EQ(diagnostic.source_name(), "expression");
  EXPECT_EQ(diagnostic.source(), "A(i,k) = B(i,j) * ");
  EXPECT_TRUE(diagnostic.has_range());
  EXPECT_EQ(diagnostic.begin(), 18u);
}

TEST_F(WrongRequests, ToLookUpAndEmitAreRefusedToo) {
  v1::LookupRequest lookup;
  lookup.mutable_problem()->set_expression("A(i");
  v1::Frontier frontier;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Lookup, lookup, frontier).status,
            grpc::StatusCode::INVALID_ARGUMENT);
  v1::EmitRequest emit;
  *emit.mutable_problem() = good().problem();
  emit.set_language("fortran");
  emit.set_schedule("linear");
  v1::EmitReply reply;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Emit, emit, reply).text(),
            "INVALID_ARGUMENT invalid [language]: unknown language `fortran`; known are trace, tree, loops, "
            "c, cuda");
}

TEST_F(WrongRequests, ForBinariesAreRefused) {
  EXPECT_EQ(
      client_->download("").second.text(),
      "INVALID_ARGUMENT invalid [wrong-digest]: `` is not a binary's digest; expected the 64 lower-case "
      "hexadecimal digits of a SHA-256");
  EXPECT_EQ(client_->download("../../../../etc/passwd").second.text(),
            "INVALID_ARGUMENT invalid [wrong-digest]: `../../../../etc/passwd` is not a binary's digest; "
            "expected the 64 "
            "lower-case hexadecimal digits of a SHA-256");
  const std::string upper(64, 'A');
  EXPECT_EQ(client_->download(upper).second.text(),
            "INVALID_ARGUMENT invalid [wrong-digest]: `" + upper +
                "` is not a binary's digest; expected the 64 lower-case "
                "hexadecimal digits of a SHA-256");
  const std::string unknown(64, '7');
  EXPECT_EQ(client_->download(unknown).second.text(),
            "NOT_FOUND invalid [unknown-binary]: no binary " + unknown + " is stored");
}

TEST_F(WrongRequests, GetAShortDiagnosticForAnImmenseExpression) {
  v1::ScheduleRequest request = good();
  request.mutable_problem()->set_expression(std::string(1'000'000, 'A'));
  const auto refusal = client_->schedule(request).refusal;
  EXPECT_EQ(refusal.status, grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refusal.diagnostic.code(), "too-long");
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongRequests,
    testing::Values(
        Case{"Isa", [](auto& r) { r.set_isa("x86-64-v33"); },
             "INVALID_ARGUMENT invalid [isa]: unknown instruction set `x86-64-v33`; expected x86-64-v2, "
             "x86-64-v3, "
             "x86-64-v4, generic, native or cuda; did you mean `x86-64-v3`?"},
        Case{"Kernels", [](auto& r) { r.set_kernels(65); },
             "INVALID_ARGUMENT invalid [kernels]: 65 kernels are asked for; at most 64 are made for one "
             "request"},
        Case{"Traces",
             [](auto& r) {
               for (int n = 0; n < 65; ++n) r.add_traces("linear");
             },
             "INVALID_ARGUMENT invalid [traces]: 65 traces are asked for; at most 64 are compiled for one "
             "request"},
        Case{"SecondsTooMany", [](auto& r) { r.mutable_search()->set_seconds(150.5); },
             "INVALID_ARGUMENT invalid [search-bounds]: the seconds of a search must be 0, for the default, "
             "to 150"},
        Case{"SecondsHuge", [](auto& r) { r.mutable_search()->set_seconds(1e300); },
             "INVALID_ARGUMENT invalid [search-bounds]: the seconds of a search must be 0, for the default, "
             "to 150"},
        Case{"SecondsWithoutEnd", [](auto& r) { r.mutable_search()->set_seconds(HUGE_VAL); },
             "INVALID_ARGUMENT invalid [search-bounds]: the seconds of a search must be 0, for the default, "
             "to 150"},
        Case{"SecondsNoNumber", [](auto& r) { r.mutable_search()->set_seconds(NAN); },
             "INVALID_ARGUMENT invalid [search-bounds]: the seconds of a search must be 0, for the default, "
             "to 150"},
        Case{"SecondsNegative", [](auto& r) { r.mutable_search()->set_seconds(-1); },
             "INVALID_ARGUMENT invalid [search-bounds]: the seconds of a search must be 0, for the default, "
             "to 150"},
        Case{"NoStage2", [](auto& r) { r.set_no_stage2(true); },
             "INVALID_ARGUMENT invalid [no-stage2]: stage 2 can only be left out with profile sparseauto; "
             "the default "
             "profile has none"},
        Case{
            "Profile", [](auto& r) { r.mutable_problem()->set_profile("fast"); },
            "INVALID_ARGUMENT invalid [profile]: unknown profile `fast`, expected `default` or `sparseauto`"},
        Case{"ValueType", [](auto& r) { r.mutable_problem()->set_value_type("f46"); },
             "INVALID_ARGUMENT invalid [value-type]: unknown value type `f46`, expected `f64`, `f32`, `i64`, "
             "`i32`, `bf16`, `f16`, `i8`, `i16`, `u8`, `u16`, `u32`, `u64`, `bool`, `c64` or `c128`; did you "
             "mean `f64`?"},
        Case{"PositionBits", [](auto& r) { r.mutable_problem()->set_position_bits("16"); },
             "INVALID_ARGUMENT invalid [position-bits]: unknown position bits `16`, expected `auto`, `32` or "
             "`64`"},
        Case{"Empty", [](auto& r) { r.clear_problem(); },
             "INVALID_ARGUMENT invalid [empty]: the expression is empty"},
        Case{"TraceSyntax", [](auto& r) { r.add_traces("reorder(path={}"); },
             "INVALID_ARGUMENT invalid [trace-syntax]: expected `)` but found the end of the text"},
        Case{"Directive", [](auto& r) { r.add_traces("reorden(path={}, order={i,j,k})"); },
             "INVALID_ARGUMENT invalid [unknown-directive]: `reorden` is no directive; there are permute, "
             "reorder, loopfuse, block, share, sequence, distribute, parallelize, split, divide, unroll, "
             "bound, collapse, pos, threads, group, launch, stage, merge_path, gather, store, mask and "
             "precompute; did "
             "you mean "
             "`reorder`?"},
        Case{"Illegal", [](auto& r) { r.add_traces("reorder(path={}, order={j,i,k})"); },
             "INVALID_ARGUMENT invalid [illegal-directive]: `B(i,j)` is stored dense,compressed:0,1: loop "
             "`i` must be outside loop `j`"}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace schaas
