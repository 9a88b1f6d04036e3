#include "server/rpc/marshalling.h"

#include <algorithm>
#include <limits>

#include "compiler/concrete_notation/thread_mapping.h"
#include "compiler/support/instruction_set.h"
#include "compiler/support/limits.h"
#include "compiler/support/printable.h"

// Between messages of the wire and values of the domain, field by field; no other file but the services knows
// generated headers. Costs go out as lists of variables with weights, never as texts that a client would have
// to parse. A field that a client left empty has its default here, in one function for each message. Names of
// fields such as `draft` are those of the wire (docs/STYLE.md).
// Numbers from outside are clamped before they are narrowed. Texts in errors may quote any byte that a client
// sent, so they are made valid UTF-8 first.
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

v1::Variable::Kind to_message(cost::Variable::Kind kind) {
  switch (kind) {
    case cost::Variable::Kind::extent:
      return v1::Variable::EXTENT;
    case cost::Variable::Kind::fiber:
      return v1::Variable::FIBER;
    case cost::Variable::Kind::matches:
      return v1::Variable::MATCHES;
    case cost::Variable::Kind::steps:
      return v1::Variable::STEPS;
  }
  return v1::Variable::KIND_UNSPECIFIED;
}

/// Writes a variable of costs; those of a merge contain their lists.
void set_variable(const cost::Variable& v, v1::Variable& out) {
  out.set_kind(to_message(v.kind));
  out.set_index(v.index);
  out.set_tensor(v.tensor);
  out.set_level(v.kind == cost::Variable::Kind::extent ? 0 : static_cast<std::uint32_t>(v.level));
  out.set_copy_of(v.copy_of);
  for (const auto& index : v.outer) out.add_outer(index);
  out.set_outer_dense(v.outer_dense);
  for (const cost::Variable& list : v.lists) set_variable(list, *out.add_lists());
}

/// Adds the variables whose bits are set in a term.
void add_variables(cost::Term term, const cost::Variables& variables, v1::Term& out) {
  for (int bit = 0; bit < cost::access_shift; ++bit) {
    if ((term >> bit & 1) == 0) continue;
    set_variable(variables.at(bit), *out.add_variables());
  }
}

v1::Term::Scope to_message(cost::Scope scope) {
  switch (scope) {
    case cost::Scope::thread:
      return v1::Term::THREAD;
    case cost::Scope::shared:
      return v1::Term::SHARED;
    case cost::Scope::operand:
      return v1::Term::OPERAND;
  }
  return v1::Term::SCOPE_UNSPECIFIED;
}

// Adds the memory of a schedule, in elements.
template <class Message>
void add_memory_terms(const std::vector<cost::MemoryTerm>& terms, const cost::Variables& variables,
                      Message& out) {
  for (const cost::MemoryTerm& term : terms) {
    auto& memory = *out.add_memory_terms();
    memory.set_weight(term.block);
    memory.set_scope(to_message(term.scope));
    add_variables(term.product & cost::variables_mask, variables, memory);
  }
}

// Adds the memory of a cost class, in elements.
template <class Message>
void add_memory_terms(const cost::Cost& cost, const cost::Variables& variables, Message& out) {
  for (const cost::Term term : cost.memory) {
    auto& memory = *out.add_memory_terms();
    memory.set_weight(1);
    add_variables(term & cost::variables_mask, variables, memory);
  }
}

// Adds the time; each term carries the weight of its access class.
template <class Message>
void add_time_terms(const cost::Cost& cost, const cost::Variables& variables, Message& out) {
  for (const cost::Term term : cost.time) {
    auto& time = *out.add_time_terms();
    time.set_weight(cost::weight(cost::access_of(term)));
    time.set_serial(cost::is_serial(term));
    add_variables(term & cost::variables_mask, variables, time);
  }
}

/// Writes the loops and accesses of one assignment, from which clients predict time.
v1::Nest to_message(const cost::LeafNest& nest, const cost::Variables& variables) {
  v1::Nest out;
  for (const cost::NestLoop& loop : nest.loops) {
    auto& to = *out.add_loops();
    v1::Term trips;
    add_variables(loop.trips, variables, trips);
    // The trips of one loop are a single variable.
    *to.mutable_trips() = trips.variables(0);
    to.set_block(static_cast<std::uint32_t>(loop.block));
    to.set_inside(loop.inside);
    to.set_under(loop.under);
    to.set_index(loop.index);
  }
  for (const cost::NestAccess& access : nest.accesses) {
    auto& to = *out.add_accesses();
    to.set_tensor(access.tensor);
    to.set_sparse(access.sparse);
    to.set_loops(access.loops);
    to.set_unit(access.unit);
  }
  out.set_shared(static_cast<std::uint32_t>(nest.shared));
  out.set_serial(nest.serial);
  out.set_weight(cost::weight(nest.access));
  return out;
}

/// Writes an entry of the frontier with its variants.
v1::FrontierEntry to_message(const NamedEntry& entry, const cost::Variables& variables) {
  v1::FrontierEntry out;
  out.set_id(entry.id);
  out.set_trace(entry.trace);
  out.set_tree(entry.tree);
  out.set_time(entry.time);
  out.set_memory(entry.memory);
  add_time_terms(entry.cost, variables, out);
  add_memory_terms(entry.memory_terms, variables, out);
  out.set_code(entry.code);
  out.set_wins(entry.wins);
  out.set_members(entry.members);
  out.set_loop_trees(entry.loop_trees);
  for (const auto& trace : entry.other_traces) out.add_other_traces(trace);
  for (const NamedVariant& variant : entry.variants) {
    auto& to = *out.add_variants();
    to.set_trace(variant.trace);
    to.set_tree(variant.tree);
    for (const cost::LeafNest& nest : variant.nests) *to.add_nests() = to_message(nest, variables);
    add_memory_terms(variant.memory_terms, variables, to);
  }
  return out;
}

/// Words of the wire are older than those of the domain: take is the grain, share the threads per item, width
/// the group size.
v1::GpuSchedule to_message(const NamedGpuSchedule& schedule, const cost::Variables& variables) {
  v1::GpuSchedule out;
  out.set_id(schedule.id);
  out.set_entry(schedule.entry);
  out.set_trace(schedule.trace);
  out.set_tree(schedule.tree);
  out.set_point(schedule.point);
  out.set_order_is_chance(schedule.nondeterministic);
  for (const NamedGpuPhase& phase : schedule.phases) {
    v1::GpuSchedule::Phase& to = *out.add_phases();
    to.set_columns(phase.columns);
    to.set_columns_take(static_cast<std::uint32_t>(phase.columns_per_thread));
    to.set_rows(static_cast<std::uint32_t>(phase.rows));
    to.set_take(static_cast<std::uint32_t>(phase.units.grain));
    to.set_share(static_cast<std::uint32_t>(phase.units.threads_per_item));
    to.set_width(static_cast<std::uint32_t>(phase.units.group_size));
    to.set_segments(phase.units.group_size > 1 &&
                    phase.units.reduce == concrete_notation::GroupReduction::segment);
    to.set_side_by_side(static_cast<std::uint32_t>(concrete_notation::adjacent_iterations(phase.units)));
    to.set_block(static_cast<std::uint32_t>(phase.units.block));
    to.set_one_writer(phase.exclusive);
  }
  for (const cost::LeafNest& nest : schedule.nests) *out.add_nests() = to_message(nest, variables);
  add_memory_terms(schedule.memory_terms, variables, out);
  return out;
}

/// Writes a removed class, whose memory is told without scopes.
v1::Removal to_message(const NamedRemoval& removal, const cost::Variables& variables) {
  v1::Removal out;
  out.set_id(removal.id);
  out.set_time(removal.time);
  out.set_memory(removal.memory);
  out.set_by(removal.by);
  out.set_winner(removal.winner);
  out.set_kind(removal.kind);
  out.set_argument(removal.argument);
  add_time_terms(removal.cost, variables, out);
  add_memory_terms(removal.cost, variables, out);
  return out;
}

/// Writes a side of a constraint, a sum of monomials.
void add_sum(const std::vector<problem::Monomial>& sum,
             google::protobuf::RepeatedPtrField<v1::Constraint::Monomial>& out) {
  for (const auto& [coefficient, powers] : sum) {
    v1::Constraint::Monomial& monomial = *out.Add();
    monomial.set_coefficient(static_cast<std::uint64_t>(coefficient));
    for (const auto& [symbol, exponent] : powers) {
      v1::Constraint::Factor& factor = *monomial.add_factors();
      factor.set_kind(symbol.kind == problem::Symbol::Kind::extent ? v1::Constraint::Factor::EXTENT
                                                                   : v1::Constraint::Factor::NONZEROS);
      factor.set_name(symbol.name);
      factor.set_levels(static_cast<std::uint32_t>(symbol.levels));
      factor.set_exponent(static_cast<std::uint32_t>(exponent));
    }
  }
}

v1::Counts to_message(const frontier::Counts& counts) {
  v1::Counts out;
  for (const auto& [name, members] : counts.spaces) {
    auto& space = *out.add_spaces();
    space.set_name(name);
    space.set_members(members);
  }
  out.set_space(counts.space);
  out.set_stage1(counts.stage1);
  out.set_stage2(counts.stage2);
  out.set_stage3(counts.stage3);
  out.set_states(counts.states);
  out.set_classes_stage1(counts.classes_stage1);
  out.set_classes_stage2(counts.classes_stage2);
  out.set_classes_stage3(counts.classes_stage3);
  out.set_solver_queries(counts.solver_queries);
  out.set_solver_unknown(counts.solver_unknown);
  out.set_log_proofs(counts.log_proofs);
  out.set_witnesses(counts.witnesses);
  out.set_solver_pairs(counts.solver_pairs);
  out.set_solver_milliseconds(counts.solver_milliseconds);
  out.set_solver_worst_milliseconds(counts.solver_worst_milliseconds);
  return out;
}

v1::Seconds to_message(const frontier::Seconds& seconds) {
  v1::Seconds out;
  out.set_space(seconds.space);
  out.set_stage1(seconds.stage1);
  out.set_stage2(seconds.stage2);
  out.set_stage3(seconds.stage3);
  out.set_total(seconds.total);
  return out;
}

const char* name(frontier::Explanation::Verdict verdict) {
  switch (verdict) {
    case frontier::Explanation::Verdict::survivor:
      return "survivor";
    case frontier::Explanation::Verdict::removed:
      return "removed";
    case frontier::Explanation::Verdict::left_out:
      return "left-out";
    case frontier::Explanation::Verdict::open:
      break;
  }
  return "open";
}

void set_digest(const support::Digest& digest, v1::Digest& out) {
  out.set_sha256(digest.sha256);
  out.set_bytes(digest.bytes);
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
  void operator()(const NamedFrontier& frontier) const { *out.mutable_frontier() = to_proto(frontier); }
  void operator()(const NamedKernel& kernel) const { *out.mutable_kernel() = to_proto(kernel); }
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
  return query;
}

ExplainQuery from_proto(const v1::ExplainRequest& request) {
  return {from_proto(request.problem()), from_proto(request.search()), request.schedule(),
          request.no_stage2()};
}

ReportQuery from_proto(const v1::ReportRequest& request) {
  ReportQuery query{from_proto(request.problem()), request.host(), {}};
  for (const v1::Measurement& one : request.measurements()) {
    // Thread counts beyond int are out of range as well.
    const auto threads =
        static_cast<int>(std::min<std::uint32_t>(one.threads(), std::numeric_limits<int>::max()));
    query.measurements.push_back({one.trace(), one.sizes(), one.isa(), threads, one.seconds()});
  }
  return query;
}

/// Writes an explanation; `rivals` are its competitors.
v1::Explanation to_proto(const NamedExplanation& explanation) {
  v1::Explanation out;
  out.set_verdict(name(explanation.verdict));
  out.set_id(explanation.id);
  out.set_trace(explanation.trace);
  out.set_tree(explanation.tree);
  out.set_code(explanation.code);
  out.set_time(explanation.time);
  out.set_memory(explanation.memory);
  out.set_by(explanation.by);
  out.set_kind(explanation.kind);
  out.set_argument(explanation.argument);
  for (const NamedCompetitor& competitor : explanation.competitors) {
    v1::Rival& one = *out.add_rivals();
    one.set_id(competitor.id);
    one.set_sizes(competitor.sizes);
    one.set_time(competitor.time);
    one.set_memory(competitor.memory);
    one.set_other_time(competitor.other_time);
    one.set_other_memory(competitor.other_memory);
  }
  return out;
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

/// Writes a frontier with all that a client needs to choose: entries, variables, constraints, timings.
v1::Frontier to_proto(const NamedFrontier& frontier) {
  v1::Frontier out;
  out.set_key(frontier.key);
  out.set_canonical(frontier.canonical);
  for (const problem::Constraint& constraint : frontier.constraints) {
    v1::Constraint& to = *out.add_constraints();
    add_sum(constraint.lhs, *to.mutable_left());
    add_sum(constraint.rhs, *to.mutable_right());
  }
  out.set_statement(frontier.statement);
  for (const auto& argument : frontier.arguments) out.add_arguments(argument);
  out.mutable_user_tensors()->insert(frontier.user_tensors.begin(), frontier.user_tensors.end());
  out.mutable_user_indices()->insert(frontier.user_indices.begin(), frontier.user_indices.end());
  for (const auto& entry : frontier.entries) *out.add_entries() = to_message(entry, frontier.variables);
  for (const auto& schedule : frontier.gpu) *out.add_gpu() = to_message(schedule, frontier.variables);
  for (const auto& removal : frontier.removals) *out.add_removals() = to_message(removal, frontier.variables);
  out.set_removed(frontier.removed);
  *out.mutable_counts() = to_message(frontier.counts);
  *out.mutable_seconds() = to_message(frontier.seconds);
  out.set_complete(frontier.complete);
  out.set_limited(frontier.limited);
  out.set_looser(frontier.relaxed_from);
  out.set_hit(frontier.hit);
  out.set_partial(frontier.partial);
  for (const NamedMeasurement& from : frontier.measurements) {
    v1::Measurement& one = *out.add_measurements();
    one.set_trace(from.trace);
    one.set_sizes(from.sizes);
    one.set_isa(from.isa);
    one.set_threads(static_cast<std::uint32_t>(from.threads));
    one.set_seconds(from.seconds);
  }
  return out;
}

/// Writes a kernel; its costs are those of its own trace, with the copies that it reads.
v1::Kernel to_proto(const NamedKernel& kernel) {
  v1::Kernel out;
  out.set_id(kernel.id);
  out.set_kernel_key(kernel.kernel_key);
  out.set_trace(kernel.trace);
  out.set_isa(kernel.isa);
  set_digest(kernel.digest, *out.mutable_digest());
  out.set_compile_seconds(kernel.compile_seconds);
  out.set_hit(kernel.hit);
  out.set_draft(kernel.baseline);
  out.set_nondeterministic(kernel.nondeterministic);
  out.set_signature(kernel.signature);
  out.set_tree(kernel.tree);
  out.set_time(kernel.time);
  out.set_memory(kernel.memory);
  add_time_terms(kernel.cost, kernel.variables, out);
  add_memory_terms(kernel.memory_terms, kernel.variables, out);
  return out;
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
  return out;
}

v1::Kernel to_proto(const kernels_cache::KernelRow& row) {
  v1::Kernel out;
  out.set_kernel_key(row.kernel_key);
  out.set_trace(row.trace);
  out.set_isa(row.isa);
  set_digest(row.digest, *out.mutable_digest());
  out.set_compile_seconds(row.seconds);
  out.set_hit(true);
  out.set_signature(row.signature);
  return out;
}

}  // namespace schaas::server
