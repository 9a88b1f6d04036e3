#include "server/rpc/marshalling.h"

#include <gmock/gmock.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include "server/answers/terms.h"

// Translation between messages of the protocol and values of the server, both ways. Reflection fills every
// field of a request, each text with another value, and each field must arrive in the query. Replies are made
// from values that are set throughout, and reflection demands that no field stays empty. Fields that only one
// kind of term or variable has are excepted by name. A field that is not translated fails, and so does a new
// field of a request that has no line here.
namespace schaas::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Expects every field of `message` and of its submessages to be set.
void expect_every_field_set(const Message& message, const std::string& path,
                            const std::vector<std::string>& except) {
  const auto* reflection = message.GetReflection();
  const auto* descriptor = message.GetDescriptor();
  for (int f = 0; f < descriptor->field_count(); ++f) {
    const FieldDescriptor* field = descriptor->field(f);
    const std::string name = path + "." + field->name();
    if (std::find(except.begin(), except.end(), name) != except.end()) continue;
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (field->is_repeated()) {
      EXPECT_GT(reflection->FieldSize(message, field), 0) << name;
      for (int n = 0; is_message && !field->is_map() && n < reflection->FieldSize(message, field); ++n) {
        expect_every_field_set(reflection->GetRepeatedMessage(message, field, n), name, except);
      }
    } else {
      EXPECT_TRUE(reflection->HasField(message, field)) << name;
      if (is_message) expect_every_field_set(reflection->GetMessage(message, field), name, except);
    }
  }
}

// Sets every field, each text to a different value.
void fill(Message& message) {
  const auto* reflection = message.GetReflection();
  const auto* descriptor = message.GetDescriptor();
  for (int f = 0; f < descriptor->field_count(); ++f) {
    const FieldDescriptor* field = descriptor->field(f);
    if (field->is_map()) continue;  // filled by hand
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      fill(*reflection->MutableMessage(&message, field));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && field->is_repeated()) {
      reflection->AddString(&message, field, field->name() + " 1");
      reflection->AddString(&message, field, field->name() + " 2");
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      reflection->SetString(&message, field, "the " + field->name());
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
      reflection->SetBool(&message, field, true);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
      reflection->SetUInt64(&message, field, 17);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      reflection->SetDouble(&message, field, 17.5);
    } else {
      ASSERT_EQ(field->cpp_type(), FieldDescriptor::CPPTYPE_UINT32) << field->name();
      reflection->SetUInt32(&message, field, 17);
    }
  }
}

void expect_filled(const problem::ProblemText& text) {
  EXPECT_EQ(text.expression, "the expression");
  EXPECT_THAT(text.constraints, testing::ElementsAre("constraints 1", "constraints 2"));
  EXPECT_EQ(text.value_type, "the value_type");
  EXPECT_EQ(text.position_bits, "the position_bits");
  EXPECT_EQ(text.profile, "the profile");
  EXPECT_EQ(text.space, "the space");
}

TEST(Requests, ArriveInEveryField) {
  v1::ScheduleRequest request;
  fill(request);
  (*request.mutable_problem()->mutable_formats())["B"] = "csr";
  const ScheduleQuery query = from_proto(request);
  expect_filled(query.problem);
  EXPECT_THAT(query.problem.formats, testing::ElementsAre(testing::Pair("B", "csr")));
  EXPECT_EQ(query.isa, "the isa");
  EXPECT_EQ(query.kernels, 17u);
  EXPECT_THAT(query.traces, testing::ElementsAre("traces 1", "traces 2"));
  EXPECT_TRUE(query.search_only && query.no_cache && query.no_stage2 && query.traces_only && query.wins);
  EXPECT_TRUE(query.gpu && query.deterministic && query.first_kernel_only);
  EXPECT_EQ(query.host, "the host");
  // keep_working is read by the service itself.
  EXPECT_EQ(query.bounds.memory_depth, 16) << "17, but a problem has at most 16 indices";
  EXPECT_EQ(query.bounds.max_temporary_bytes, 17u);
  EXPECT_EQ(query.bounds.seconds, 17.5);
  EXPECT_EQ(request.search().GetDescriptor()->field_count(), 3) << "a new field needs a line above";
  EXPECT_EQ(request.GetDescriptor()->field_count(), 15) << "a new field needs a line above";
  EXPECT_EQ(request.problem().GetDescriptor()->field_count(), 7) << "a new field needs a line above";
}

TEST(Requests, ToReportArriveInEveryField) {
  v1::ReportRequest request;
  fill(*request.mutable_problem());
  request.set_host("the host");
  fill(*request.add_measurements());
  const ReportQuery query = from_proto(request);
  expect_filled(query.problem);
  EXPECT_EQ(query.host, "the host");
  ASSERT_EQ(query.measurements.size(), 1u);
  const answers::Measurement& one = query.measurements.front();
  EXPECT_EQ(one.trace, "the trace");
  EXPECT_EQ(one.sizes, "the sizes");
  EXPECT_EQ(one.isa, "the isa");
  EXPECT_EQ(one.threads, 17);
  EXPECT_EQ(one.seconds, 17.5);
  EXPECT_TRUE(one.exclusive);
  EXPECT_EQ(request.measurements(0).GetDescriptor()->field_count(), 6) << "a new field needs a line above";
  EXPECT_EQ(request.GetDescriptor()->field_count(), 3) << "a new field needs a line above";
}

TEST(Requests, ForGpuKernelsGetTheirSchedules) {
  v1::ScheduleRequest request;
  EXPECT_FALSE(from_proto(request).gpu);
  request.set_isa("cuda");
  EXPECT_TRUE(from_proto(request).gpu);
}

TEST(Requests, HaveDefaultsForEmptyFields) {
  const ScheduleQuery query = from_proto(v1::ScheduleRequest());
  EXPECT_EQ(query.problem.value_type, "f64");
  EXPECT_EQ(query.problem.position_bits, "auto");
  EXPECT_EQ(query.problem.profile, "default");
  EXPECT_EQ(query.problem.space, "none");
  EXPECT_EQ(query.isa, "x86-64-v3");
  EXPECT_EQ(query.kernels, 6u);
  EXPECT_FALSE(query.search_only || query.no_cache || query.no_stage2 || query.traces_only ||
               query.first_kernel_only);
  const EmitQuery emit = from_proto(v1::EmitRequest());
  EXPECT_EQ(emit.schedule, "auto");
  EXPECT_EQ(emit.language, "c");
  EXPECT_EQ(emit.isa, "x86-64-v3");
}

TEST(Requests, ToEmitArriveInEveryField) {
  v1::EmitRequest request;
  fill(request);
  const EmitQuery query = from_proto(request);
  expect_filled(query.problem);
  EXPECT_EQ(query.schedule, "the schedule");
  EXPECT_EQ(query.language, "the language");
  EXPECT_EQ(query.isa, "the isa");
  EXPECT_EQ(query.bounds.memory_depth, 16);
  EXPECT_EQ(query.passes, "the passes");
  EXPECT_EQ(query.last_pass, "the last_pass");
  EXPECT_EQ(request.GetDescriptor()->field_count(), 7) << "a new field needs a line above";
}

TEST(Replies, HaveEveryRemarkOfAPass) {
  const auto reply = to_proto(EmitAnswer{
      "text",
      {{"a", true, "", std::chrono::nanoseconds(7)}, {"b", false, "no loop", std::chrono::nanoseconds(8)}}});
  EXPECT_EQ(reply.text(), "text");
  ASSERT_EQ(reply.remarks_size(), 2);
  EXPECT_EQ(reply.remarks(0).pass(), "a");
  EXPECT_TRUE(reply.remarks(0).applied());
  EXPECT_EQ(reply.remarks(0).nanoseconds(), 7u);
  EXPECT_FALSE(reply.remarks(1).applied());
  EXPECT_EQ(reply.remarks(1).reason(), "no loop");
}

TEST(Requests, ToExplainArriveInEveryField) {
  v1::ExplainRequest request;
  fill(request);
  const ExplainQuery query = from_proto(request);
  expect_filled(query.problem);
  EXPECT_EQ(query.bounds.memory_depth, 16);
  EXPECT_EQ(query.schedule, "the schedule");
  EXPECT_TRUE(query.no_stage2);
  EXPECT_EQ(request.GetDescriptor()->field_count(), 4) << "a new field needs a line above";
}

cost::Variables two_variables() {
  cost::Variables variables;
  variables.extents = {{cost::Variable::Kind::extent, "row", "", 0}};
  variables.fibers = {{cost::Variable::Kind::fiber, "k", "Sparse", 1, "Original", {"row"}, true}};
  return variables;
}
cost::Cost a_cost() {
  cost::Cost cost;
  cost.time = {cost::make_term(1 | cost::Term{1} << cost::Variables::first_fiber, cost::Access::strided) |
               cost::serial_bit};
  cost.memory = {cost::make_term(1, cost::Access::contiguous)};
  return cost;
}

/// One array of each thread: 8 elements for each coordinate of the first index.
std::vector<answers::Term> some_memory() {
  return memory_terms({{1, cost::Scope::thread, 8}}, two_variables());
}

TEST(Terms, CarryWeightAndVariablesInTheUsersNames) {
  answers::Kernel kernel;
  kernel.time_terms = time_terms(a_cost(), two_variables());
  kernel.memory_terms = some_memory();
  const v1::Kernel out = to_proto(kernel);
  ASSERT_EQ(out.time_terms_size(), 1);
  const v1::Term& time = out.time_terms(0);
  EXPECT_EQ(time.weight(), cost::weight(cost::Access::strided));
  EXPECT_TRUE(time.serial());
  ASSERT_EQ(time.variables_size(), 2);
  EXPECT_EQ(time.variables(0).kind(), v1::Variable::EXTENT);
  EXPECT_EQ(time.variables(0).index(), "row");
  EXPECT_EQ(time.variables(1).kind(), v1::Variable::FIBER);
  EXPECT_EQ(time.variables(1).index(), "k");
  EXPECT_EQ(time.variables(1).tensor(), "Sparse");
  EXPECT_EQ(time.variables(1).level(), 1u);
  EXPECT_EQ(time.variables(1).copy_of(), "Original");
  ASSERT_EQ(time.variables(1).outer_size(), 1);
  EXPECT_EQ(time.variables(1).outer(0), "row");
  EXPECT_TRUE(time.variables(1).outer_dense());
  ASSERT_EQ(out.memory_terms_size(), 1);
  EXPECT_EQ(out.memory_terms(0).weight(), 8);
  EXPECT_EQ(out.memory_terms(0).scope(), v1::Term::THREAD);
  EXPECT_EQ(out.memory_terms(0).variables_size(), 1);
}

TEST(Terms, CarryTheListsOfIntersections) {
  cost::Variable steps{cost::Variable::Kind::steps, "k", "", 0};
  steps.lists = {{cost::Variable::Kind::fiber, "k", "Sparse", 1, "", {"row"}, true},
                 {cost::Variable::Kind::fiber, "k", "Vector", 0, "", {}, true}};
  cost::Variables variables = two_variables();
  variables.fibers.push_back(steps);
  cost::Cost cost;
  cost.time = {
      cost::make_term(1 | cost::Term{1} << (cost::Variables::first_fiber + 1), cost::Access::merged)};
  answers::Kernel kernel;
  kernel.time_terms = time_terms(cost, variables);
  const v1::Kernel out = to_proto(kernel);
  ASSERT_EQ(out.time_terms_size(), 1);
  EXPECT_EQ(out.time_terms(0).weight(), cost::weight(cost::Access::merged));
  ASSERT_EQ(out.time_terms(0).variables_size(), 2);
  const v1::Variable& variable = out.time_terms(0).variables(1);
  EXPECT_EQ(variable.kind(), v1::Variable::STEPS);
  EXPECT_EQ(variable.index(), "k");
  ASSERT_EQ(variable.lists_size(), 2);
  EXPECT_EQ(variable.lists(0).kind(), v1::Variable::FIBER);
  EXPECT_EQ(variable.lists(0).tensor(), "Sparse");
  EXPECT_EQ(variable.lists(0).level(), 1u);
  EXPECT_EQ(variable.lists(0).outer(0), "row");
  EXPECT_EQ(variable.lists(1).tensor(), "Vector");
}

answers::Variant a_variant() {
  cost::LeafNest nest;
  nest.loops = {{1, "row", 48, true, 1}, {cost::Term{1} << cost::Variables::first_fiber, "k", 8, true, 1}};
  nest.accesses = {{"Out", true, 1, 1, {3}, true}, {"In", true, 2, 2, {3}, true}};
  nest.shared = 1;
  nest.serial = true;
  nest.access = cost::Access::strided;
  return {"trace", "tree", nests({nest}, two_variables(), {{1, 4, 1, {8, 16}, true, true, true}}),
          some_memory()};
}

answers::Frontier a_frontier() {
  answers::Frontier f;
  f.key = "key";
  f.canonical = "canonical";
  const problem::Symbol entries{problem::Symbol::Kind::nonzeros, "B", 2}, rows{.name = "i"};
  problem::Problem constrained;
  constrained.constraints = {{{{1000, {{entries, 1}}}}, {{3, {{rows, 2}, {entries, 1}}}}}};
  f.constraints = constraints(constrained);
  f.statement = "statement";
  f.complete = true;
  f.arguments = {"Out", "In"};
  f.user_tensors = {{"A", "Out"}};
  f.user_indices = {{"i", "row"}};
  f.entries = {{"s1",
                "trace",
                "tree",
                "time",
                "memory",
                time_terms(a_cost(), two_variables()),
                some_memory(),
                "12",
                3,
                {"other"},
                "wins",
                "code",
                {a_variant()}}};
  answers::GpuSchedule gpu;
  gpu.id = "g1";
  gpu.entry = "s1";
  gpu.trace = "gpu trace";
  gpu.tree = "gpu tree";
  gpu.point = "point";
  gpu.nondeterministic = true;
  gpu.phases = {{true, 4, 1, 2, 3, 8, true, 32, 256, true, 32, true}};
  gpu.nests = a_variant().nests;
  gpu.memory_terms = some_memory();
  f.gpu = {gpu};
  f.removals = {{"r1", "time", "memory", "by", "kind", "argument", time_terms(a_cost(), two_variables()),
                 memory_terms(a_cost(), two_variables()), "winner"}};
  f.removed = 9;
  f.counts = {"1", "2", "3", "4", 5, 6, 7, 8, 9, 10, 11, 12, 13, 14.5, 15.5, {{"plain", "14"}}};
  f.seconds = {0.1, 0.2, 0.3, 0.4, 1.5};
  f.hit = f.partial = true;
  f.limited = "limited";
  f.relaxed_from = "looser";
  f.measurements = {{"trace", "sizes", "isa", 2, 0.5, true}};
  return f;
}

// Fields that only one kind of term or of variable has, or that are set later.
std::vector<std::string> kind_fields() {
  const std::vector<std::string> of_copies{"tensor", "level", "copy_of", "outer", "outer_dense", "lists"};
  std::vector<std::string> fields{"frontier.signature"};          // by the service, which has the key
  fields.push_back("frontier.constraints.right.factors.levels");  // an extent has none
  for (const std::string& field : of_copies)
    for (const std::string message : {"frontier.entries.variants", "frontier.gpu"})
      fields.push_back(message + ".nests.loops.trips." + field);
  for (const std::string message : {"frontier.gpu", "frontier.entries.variants"}) {
    for (const std::string& field : of_copies) fields.push_back(message + ".memory_terms.variables." + field);
    fields.push_back(message + ".memory_terms.serial");
  }
  fields.push_back("frontier.removals.memory_terms.scope");  // schedules of a removed class may differ in it
  for (const std::string message : {"frontier.entries", "frontier.removals", "kernel"}) {
    fields.push_back(message + ".memory_terms.serial");
    fields.push_back(message + ".time_terms.scope");
    for (const std::string terms : {".time_terms", ".memory_terms"}) {
      for (const std::string& field : of_copies) fields.push_back(message + terms + ".variables." + field);
    }
  }
  return fields;
}
const std::vector<std::string> variable_fields = kind_fields();

TEST(Replies, SetEveryField) {
  const v1::Frontier frontier = to_proto(a_frontier());
  expect_every_field_set(frontier, "frontier", variable_fields);
  EXPECT_EQ(frontier.entries(0).other_traces(0), "other");
  EXPECT_EQ(frontier.removals(0).by(), "by");
  const v1::Constraint& constraint = frontier.constraints(0);
  EXPECT_EQ(constraint.left(0).coefficient(), 1000u);
  EXPECT_EQ(constraint.right(0).factors(0).kind(), v1::Constraint::Factor::EXTENT);
  EXPECT_EQ(constraint.right(0).factors(0).exponent(), 2u);
  EXPECT_EQ(constraint.right(0).factors(1).kind(), v1::Constraint::Factor::NONZEROS);
  EXPECT_EQ(constraint.right(0).factors(1).name(), "B");
  EXPECT_EQ(constraint.right(0).factors(1).levels(), 2u);
  ASSERT_EQ(frontier.gpu_size(), 1);
  EXPECT_EQ(frontier.gpu(0).entry(), "s1");
  EXPECT_EQ(frontier.gpu(0).trace(), "gpu trace");
  const v1::GpuSchedule::Phase& phase = frontier.gpu(0).phases(0);
  EXPECT_EQ(phase.columns_take(), 4u);
  EXPECT_EQ(phase.take(), 2u);
  EXPECT_EQ(phase.width(), 8u);
  EXPECT_EQ(phase.side_by_side(), 32u);
  EXPECT_EQ(phase.stage(), 32u);
  EXPECT_EQ(frontier.counts().stage3(), "4");
  EXPECT_EQ(frontier.counts().witnesses(), 12u);
  EXPECT_EQ(frontier.counts().log_proofs(), 11u);
  EXPECT_EQ(frontier.counts().spaces(0).name(), "plain");
  EXPECT_EQ(frontier.counts().spaces(0).members(), "14");
  EXPECT_EQ(frontier.seconds().stage3(), 0.4);
  EXPECT_EQ(frontier.seconds().total(), 1.5);
  EXPECT_EQ(frontier.user_tensors().at("A"), "Out");
  EXPECT_EQ(frontier.user_indices().at("i"), "row");

  answers::Kernel kernel;
  kernel.id = "s1", kernel.kernel_key = "key", kernel.trace = "trace", kernel.isa = "isa";
  kernel.tree = "tree", kernel.time = "time", kernel.memory = "memory", kernel.signature = "signature";
  kernel.time_terms = time_terms(a_cost(), two_variables());
  kernel.memory_terms = some_memory();
  kernel.digest = {"sha256", 7};
  kernel.compile_seconds = 0.5;
  kernel.hit = kernel.baseline = kernel.nondeterministic = true;
  expect_every_field_set(to_proto(kernel), "kernel", variable_fields);

  const answers::Explanation why{
      answers::Verdict::removed,    "r1", "trace", "tree", "code", "time", "memory", "s1", "kind", "argument",
      {{"s1", "sizes", 1, 2, 3, 4}}};
  expect_every_field_set(to_proto(why), "explanation", {});
  EXPECT_EQ(to_proto(why).rivals(0).other_memory(), 4);

  ServerFacts facts{"version",    1,     "toolchain", {"isa"},       2,         3, 4, 5.0,
                    "/directory", "key", "files",     "no compiler", "for GPUs"};
  expect_every_field_set(to_proto(facts), "info", {});

  const support::Diagnostic diagnostic = support::noting(
      support::at(support::invalid("code", "message"), "expression", "A = B", {1, 3}), "note");
  const v1::Diagnostic out = to_proto(diagnostic);
  expect_every_field_set(out, "diagnostic", {});
  EXPECT_EQ(out.family(), "invalid");
  EXPECT_EQ(out.begin(), 1u);
  EXPECT_EQ(out.end(), 3u);
}

TEST(Replies, DistinguishEveryEvent) {
  const v1::ScheduleEvent stage = to_proto(Event(StageProgress{"stage1", 2, 3, 4, 5, "6"}));
  EXPECT_EQ(stage.progress().of(), 3u);
  expect_every_field_set(stage.progress(), "progress", {});
  EXPECT_EQ(to_proto(Event(a_frontier())).frontier().key(), "key");
  answers::Kernel kernel;
  kernel.id = "s2";
  EXPECT_EQ(to_proto(Event(kernel)).kernel().id(), "s2");
  const v1::ScheduleEvent failure =
      to_proto(Event(KernelFailure{"s3", "linear", "cuda", support::unsupported("no", "why")}));
  EXPECT_EQ(failure.failure().id(), "s3");
  EXPECT_EQ(failure.failure().trace(), "linear");
  EXPECT_EQ(failure.failure().isa(), "cuda");
  EXPECT_EQ(failure.failure().diagnostic().code(), "no");
  const v1::ScheduleEvent done = to_proto(Event(Finished{true, 2, 3, 0.5, 0.25}));
  expect_every_field_set(done.done(), "done", {});
  EXPECT_EQ(done.done().compiled(), 2u);
  EXPECT_EQ(done.done().failed(), 3u);
  EXPECT_EQ(done.done().seconds(), 0.5);
}

TEST(Diagnostics, ArriveEvenWhenTheyQuoteBrokenText) {
  const std::string broken =
      "\xc3 \xe2\x82 \xed\xa0\x80 \xf5 \xc0\x80 caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80";
  const v1::Diagnostic out = to_proto(support::invalid("x", broken));
  EXPECT_EQ(out.message(), "? ?? ??? ? ?? caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  v1::Diagnostic back;
  EXPECT_TRUE(back.ParseFromString(out.SerializeAsString()));
}

}  // namespace
}  // namespace schaas::server
