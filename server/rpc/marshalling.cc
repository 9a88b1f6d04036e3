#include "server/rpc/marshalling.h"

#include <algorithm>

#include "compiler/support/instruction_set.h"
#include "compiler/support/limits.h"
#include "compiler/support/printable.h"
#include "proto/answer_fields.h"
#include "proto/message_fields.h"

// Between messages of the wire and values of the domain; no other file but the services knows generated
// headers. Answers go out by their lists of fields (proto/answer_fields.h). Requests come in field by field;
// a field that a client left empty has its default here, in one function for each message. Numbers from
// outside are clamped before they are narrowed. Texts in errors may quote any byte that a client sent, so
// they are made valid UTF-8 first.
namespace schaas::server {
namespace {

constexpr std::size_t default_kernels = 6;
/// No temporary can have more indices.
constexpr std::uint32_t max_indices = support::Limits::indices;

std::string or_default(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : text;
}

template <class Repeated>
std::vector<std::string> strings(const Repeated& repeated) {
  return {repeated.begin(), repeated.end()};
}

// Converts events; a new event type fails to compile here.
struct EventWriter {
  v1::ScheduleEvent& out;
  void operator()(const StageProgress& progress) const {
    out.mutable_progress()->set_stage(progress.stage);
    out.mutable_progress()->set_done(progress.done);
    out.mutable_progress()->set_of(progress.of);
    out.mutable_progress()->set_states(progress.states);
    out.mutable_progress()->set_classes(progress.classes);
    out.mutable_progress()->set_members(progress.members);
  }
  void operator()(const answers::Frontier& frontier) const { *out.mutable_frontier() = to_proto(frontier); }
  void operator()(const answers::Kernel& kernel) const { *out.mutable_kernel() = to_proto(kernel); }
  void operator()(const KernelFailure& failure) const {
    out.mutable_failure()->set_id(failure.id);
    out.mutable_failure()->set_trace(failure.trace);
    out.mutable_failure()->set_isa(failure.isa);
    *out.mutable_failure()->mutable_diagnostic() = to_proto(failure.diagnostic);
  }
  void operator()(const Finished& finished) const {
    auto& done = *out.mutable_done();
    done.set_hit(finished.hit);
    done.set_compiled(finished.compiled);
    done.set_failed(finished.failed);
    done.set_seconds(finished.seconds);
    done.set_compile_seconds(finished.compile_seconds);
  }
};

}  // namespace

problem::ProblemText from_proto(const v1::Problem& problem) {
  problem::ProblemText text;
  text.expression = problem.expression();
  text.formats = {problem.formats().begin(), problem.formats().end()};
  text.constraints = strings(problem.constraints());
  text.value_type = or_default(problem.value_type(), "f64");
  text.position_bits = or_default(problem.position_bits(), "auto");
  text.profile = or_default(problem.profile(), "default");
  text.space = or_default(problem.space(), "none");
  return text;
}

/// A larger bound on indices than there can be is no bound, so it is clamped before it is narrowed.
SearchBounds from_proto(const v1::SearchOptions& options) {
  SearchBounds bounds;
  bounds.memory_depth = static_cast<int>(std::min<std::uint32_t>(options.memory_depth(), max_indices));
  bounds.max_temporary_bytes = options.max_temporary_bytes();
  bounds.seconds = options.seconds();
  return bounds;
}

/// Reads a request; empty fields mean defaults.
ScheduleQuery from_proto(const v1::ScheduleRequest& request) {
  ScheduleQuery query;
  query.problem = from_proto(request.problem());
  query.bounds = from_proto(request.search());
  query.isa = support::exact_isa(or_default(request.isa(), support::default_isa.c_str()));
  query.kernels = request.kernels() == 0 ? default_kernels : request.kernels();
  query.traces = strings(request.traces());
  query.search_only = request.search_only();
  query.no_cache = request.no_cache();
  query.no_stage2 = request.no_stage2();
  query.traces_only = request.traces_only();
  query.wins = request.wins();
  query.host = request.host();
  query.gpu = request.gpu() || support::is_for_gpu(query.isa);
  query.deterministic = request.deterministic();
  query.first_kernel_only = request.first_kernel_only();
  return query;
}

ExplainQuery from_proto(const v1::ExplainRequest& request) {
  return {from_proto(request.problem()), from_proto(request.search()), request.schedule(),
          request.no_stage2()};
}

ReportQuery from_proto(const v1::ReportRequest& request) {
  ReportQuery query{from_proto(request.problem()), request.host(), {}};
  // Measurements have no enumerations, so each is known.
  for (const v1::Measurement& one : request.measurements())
    static_cast<void>(answers::read_message(one, query.measurements.emplace_back()));
  return query;
}

EmitQuery from_proto(const v1::EmitRequest& request) {
  return {from_proto(request.problem()),
          from_proto(request.search()),
          or_default(request.schedule(), "auto"),
          or_default(request.language(), "c"),
          support::exact_isa(or_default(request.isa(), support::default_isa.c_str())),
          request.passes(),
          request.last_pass()};
}

v1::EmitReply to_proto(const EmitAnswer& answer) {
  v1::EmitReply out;
  out.set_text(answer.text);
  for (const auto& remark : answer.remarks) {
    auto& one = *out.add_remarks();
    one.set_pass(remark.pass);
    one.set_applied(remark.applied);
    one.set_reason(remark.reason);
    one.set_nanoseconds(static_cast<std::uint64_t>(remark.time.count()));
  }
  return out;
}

v1::ScheduleEvent to_proto(const Event& event) {
  v1::ScheduleEvent out;
  std::visit(EventWriter{out}, event);
  return out;
}

v1::Frontier to_proto(const answers::Frontier& frontier) {
  return answers::to_message<v1::Frontier>(frontier);
}
v1::Kernel to_proto(const answers::Kernel& kernel) { return answers::to_message<v1::Kernel>(kernel); }
v1::Explanation to_proto(const answers::Explanation& explanation) {
  return answers::to_message<v1::Explanation>(explanation);
}

/// Writes a diagnostic; 0 for begin and end means nothing without `has_range`.
v1::Diagnostic to_proto(const support::Diagnostic& diagnostic) {
  v1::Diagnostic out;
  out.set_family(support::name(diagnostic.family));
  out.set_code(diagnostic.code);
  out.set_message(support::valid_utf8(diagnostic.message));
  out.set_source_name(support::valid_utf8(diagnostic.source_name));
  out.set_source(support::valid_utf8(diagnostic.source));
  out.set_first_line(diagnostic.first_line);
  out.set_has_range(diagnostic.range.has_value());
  out.set_begin(diagnostic.range ? diagnostic.range->begin : 0);
  out.set_end(diagnostic.range ? diagnostic.range->end : 0);
  for (const auto& note : diagnostic.notes) out.add_notes(support::valid_utf8(note));
  return out;
}

/// Writes facts of the server; its limits are at most those of the language.
v1::ServerInfo to_proto(const ServerFacts& facts) {
  using support::Limits;
  v1::ServerInfo out;
  out.set_version(facts.version);
  out.set_abi_version(facts.abi_version);
  out.set_toolchain(facts.toolchain);
  for (const auto& isa : facts.isas) out.add_isas(isa);
  out.set_frontiers(facts.frontiers);
  out.set_kernels(facts.kernels);
  out.set_binary_bytes(facts.binary_bytes);
  out.set_uptime_seconds(facts.uptime_seconds);
  out.set_data_directory(support::valid_utf8(facts.data_directory));
  out.set_public_key(facts.public_key);
  out.set_isolation(facts.isolation);
  out.set_gpu_toolchain(facts.gpu_toolchain);
  out.set_compiler_error(facts.compiler_error);
  out.set_expression_bytes(static_cast<std::uint32_t>(facts.limits.expression_bytes));
  out.set_factors(static_cast<std::uint32_t>(std::min(Limits::factors, facts.limits.operands)));
  out.set_indices(static_cast<std::uint32_t>(facts.limits.indices));
  out.set_constraints(static_cast<std::uint32_t>(facts.limits.constraints));
  return out;
}

v1::CacheEntry to_proto(const kernels_cache::ProblemSummary& summary) {
  v1::CacheEntry out;
  out.set_key(summary.problem_key);
  out.set_canonical(summary.canonical);
  out.set_frontier(summary.schedules);
  out.set_kernels(summary.kernels);
  out.set_created(summary.created);
  out.set_pinned(summary.pinned == kernels_cache::Pinned::yes);
  out.set_number(summary.number);
  return out;
}

v1::Kernel to_proto(const kernels_cache::KernelRow& row) {
  answers::Kernel kernel;
  kernel.kernel_key = row.kernel_key;
  kernel.trace = row.trace;
  kernel.isa = row.isa;
  kernel.digest = row.digest;
  kernel.compile_seconds = row.seconds;
  kernel.hit = true;
  kernel.signature = row.signature;
  return to_proto(kernel);
}

}  // namespace schaas::server
