#include "client/cpp/remote/marshalling.h"

#include <algorithm>

#include "client/cpp/remote/answer_json.h"
#include "compiler/support/printable.h"
#include "schaas/host.h"
#include "schaas/rates.h"

// Messages to values and back. Texts of diagnostics may go to a terminal, so they are made printable. Kinds
// that this client does not know are refused, not guessed: a cost that is misread would choose wrongly. New
// fields of a newer server are ignored, as Protocol Buffers do.
namespace schaas::client {
namespace {

template <class Repeated>
std::vector<std::string> strings(const Repeated& repeated) {
  return {repeated.begin(), repeated.end()};
}

Variable::Kind variable_kind_of(v1::Variable::Kind kind) {
  switch (kind) {
    case v1::Variable::FIBER:
      return Variable::Kind::fiber;
    case v1::Variable::MATCHES:
      return Variable::Kind::matches;
    case v1::Variable::STEPS:
      return Variable::Kind::steps;
    default:
      return Variable::Kind::extent;
  }
}

// An unknown verdict decides nothing.
Verdict verdict_of(const std::string& text) {
  for (const Verdict verdict : {Verdict::survivor, Verdict::removed, Verdict::left_out})
    if (text == name(verdict)) return verdict;
  return Verdict::open;
}

Scope scope_of(v1::Term::Scope scope) {
  switch (scope) {
    case v1::Term::THREAD:
      return Scope::thread;
    case v1::Term::SHARED:
      return Scope::shared;
    case v1::Term::OPERAND:
      return Scope::operand;
    default:
      return Scope::unknown;
  }
}

Variable from_message(const v1::Variable& v) {
  Variable variable{
      variable_kind_of(v.kind()), v.index(),      v.tensor(), static_cast<int>(v.level()), v.copy_of(),
      strings(v.outer()),         v.outer_dense()};
  for (const v1::Variable& list : v.lists()) variable.lists.push_back(from_message(list));
  return variable;
}

std::vector<Term> terms(const google::protobuf::RepeatedPtrField<v1::Term>& wire) {
  std::vector<Term> result;
  for (const v1::Term& from : wire) {
    Term term;
    term.weight = from.weight();
    for (const v1::Variable& v : from.variables()) term.variables.push_back(from_message(v));
    term.serial = from.serial();
    term.scope = scope_of(from.scope());
    result.push_back(std::move(term));
  }
  return result;
}

// Every variable has a kind that this client can evaluate.
bool known(const v1::Variable& v) {
  return v.kind() != v1::Variable::KIND_UNSPECIFIED && v1::Variable::Kind_IsValid(v.kind()) &&
         std::all_of(v.lists().begin(), v.lists().end(),
                     [](const v1::Variable& list) { return known(list); });
}

bool known(const google::protobuf::RepeatedPtrField<v1::Term>& wire) {
  return std::all_of(wire.begin(), wire.end(), [](const v1::Term& term) {
    return std::all_of(term.variables().begin(), term.variables().end(),
                       [](const v1::Variable& v) { return known(v); });
  });
}

std::vector<Constraint::Monomial> sum(
    const google::protobuf::RepeatedPtrField<v1::Constraint::Monomial>& wire) {
  using Factor = Constraint::Factor;
  std::vector<Constraint::Monomial> result;
  for (const v1::Constraint::Monomial& from : wire) {
    Constraint::Monomial& monomial = result.emplace_back();
    monomial.coefficient = from.coefficient();
    for (const v1::Constraint::Factor& factor : from.factors()) {
      const bool counts = factor.kind() == v1::Constraint::Factor::NONZEROS;
      monomial.factors.push_back({counts ? Factor::Kind::nonzeros : Factor::Kind::extent, factor.name(),
                                  static_cast<int>(factor.levels()), factor.exponent()});
    }
  }
  return result;
}

support::Diagnostic unknown_wire(const std::string& what) {
  return support::internal("server-internal",
                           "the server sent " + what + " that this client does not know; is it newer?");
}

Nest from_message(const v1::Nest& from) {
  Nest nest;
  for (const v1::Nest::Loop& loop : from.loops())
    nest.loops.push_back({from_message(loop.trips()), loop.index(), static_cast<int>(loop.block()),
                          loop.inside(), loop.under()});
  for (const v1::Nest::Access& access : from.accesses())
    nest.accesses.push_back({access.tensor(), access.sparse(), access.loops(), access.unit()});
  nest.shared = static_cast<int>(from.shared());
  nest.serial = from.serial();
  nest.weight = from.weight();
  return nest;
}

// Trips of loops are extents or fibers; lists and copies occur in cost terms alone.
bool known(const v1::Nest& nest) {
  return std::all_of(nest.loops().begin(), nest.loops().end(), [](const v1::Nest::Loop& loop) {
    return loop.trips().kind() == v1::Variable::EXTENT || loop.trips().kind() == v1::Variable::FIBER;
  });
}

FrontierEntry from_message(const v1::FrontierEntry& from) {
  FrontierEntry entry;
  entry.id = from.id();
  entry.trace = from.trace();
  entry.tree = from.tree();
  entry.time = from.time();
  entry.memory = from.memory();
  entry.time_terms = terms(from.time_terms());
  entry.memory_terms = terms(from.memory_terms());
  entry.members = from.members();
  entry.loop_trees = from.loop_trees();
  entry.other_traces = strings(from.other_traces());
  entry.code = from.code();
  entry.wins = from.wins();
  for (const v1::Variant& variant : from.variants()) {
    Variant to{variant.trace(), variant.tree(), {}, {}};
    for (const v1::Nest& nest : variant.nests()) to.nests.push_back(from_message(nest));
    to.memory_terms = terms(variant.memory_terms());
    entry.variants.push_back(std::move(to));
  }
  return entry;
}

GpuSchedule from_message(const v1::GpuSchedule& from) {
  GpuSchedule schedule;
  schedule.id = from.id();
  schedule.entry = from.entry();
  schedule.trace = from.trace();
  schedule.tree = from.tree();
  schedule.point = from.point();
  schedule.nondeterministic = from.order_is_chance();
  for (const v1::GpuSchedule::Phase& phase : from.phases()) {
    GpuPhase& to = schedule.phases.emplace_back();
    to.columns = phase.columns();
    to.columns_take = static_cast<int>(phase.columns_take());
    to.rows = static_cast<int>(phase.rows());
    to.take = static_cast<int>(phase.take());
    to.share = static_cast<int>(phase.share());
    to.width = static_cast<int>(phase.width());
    to.segments = phase.segments();
    to.side_by_side = static_cast<int>(phase.side_by_side());
    to.block = static_cast<int>(phase.block());
    to.exclusive_writes = phase.one_writer();
  }
  for (const v1::Nest& nest : from.nests()) schedule.nests.push_back(from_message(nest));
  schedule.memory_terms = terms(from.memory_terms());
  return schedule;
}

Counts from_message(const v1::Counts& from) {
  Counts counts;
  for (const auto& space : from.spaces()) counts.spaces.emplace_back(space.name(), space.members());
  counts.space = from.space();
  counts.stage1 = from.stage1();
  counts.stage2 = from.stage2();
  counts.stage3 = from.stage3();
  counts.states = from.states();
  counts.classes_stage1 = from.classes_stage1();
  counts.classes_stage2 = from.classes_stage2();
  counts.classes_stage3 = from.classes_stage3();
  counts.solver_queries = from.solver_queries();
  counts.solver_unknown = from.solver_unknown();
  counts.log_proofs = from.log_proofs();
  counts.witnesses = from.witnesses();
  counts.solver_pairs = from.solver_pairs();
  counts.solver_milliseconds = from.solver_milliseconds();
  counts.solver_worst_milliseconds = from.solver_worst_milliseconds();
  return counts;
}

StageSeconds from_message(const v1::Seconds& from) {
  return {from.space(), from.stage1(), from.stage2(), from.stage3(), from.total()};
}

bool known(const v1::Frontier& frontier) {
  for (const v1::FrontierEntry& entry : frontier.entries()) {
    if (!known(entry.time_terms()) || !known(entry.memory_terms())) return false;
    for (const v1::Variant& variant : entry.variants()) {
      if (!known(variant.memory_terms())) return false;
      for (const v1::Nest& nest : variant.nests())
        if (!known(nest)) return false;
    }
  }
  for (const v1::GpuSchedule& schedule : frontier.gpu()) {
    if (!known(schedule.memory_terms())) return false;
    for (const v1::Nest& nest : schedule.nests())
      if (!known(nest)) return false;
  }
  for (const v1::Removal& removal : frontier.removals()) {
    if (!known(removal.time_terms()) || !known(removal.memory_terms())) return false;
  }
  return true;
}

// An unknown family is a fault of the other side.
support::Family family_of(const std::string& text) {
  using support::Family;
  for (const Family family : {Family::invalid, Family::unsupported, Family::exhausted, Family::unreachable}) {
    if (text == support::name(family)) return family;
  }
  return Family::internal;
}

}  // namespace

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::survivor:
      return "survivor";
    case Verdict::removed:
      return "removed";
    case Verdict::left_out:
      return "left-out";
    case Verdict::open:
      break;
  }
  return "open";
}

v1::Problem to_proto(const ProblemText& problem) {
  v1::Problem wire;
  // A stray byte is no word of the language: the server refuses what stands for it.
  using support::valid_utf8;
  wire.set_expression(valid_utf8(problem.expression));
  for (const auto& [tensor, format] : problem.formats)
    (*wire.mutable_formats())[valid_utf8(tensor)] = valid_utf8(format);
  for (const auto& constraint : problem.constraints) wire.add_constraints(valid_utf8(constraint));
  wire.set_value_type(name(problem.value_type));
  wire.set_position_bits(problem.position_bits);
  wire.set_profile(problem.profile);
  wire.set_space(problem.space);
  return wire;
}

v1::SearchOptions to_proto(const SearchOptions& options) {
  v1::SearchOptions wire;
  wire.set_memory_depth(static_cast<std::uint32_t>(options.memory_depth));
  wire.set_max_temporary_bytes(options.max_temporary_bytes);
  wire.set_seconds(options.seconds);
  return wire;
}

v1::ScheduleRequest to_proto(const ScheduleRequest& request) {
  v1::ScheduleRequest wire;
  *wire.mutable_problem() = to_proto(request.problem);
  wire.set_isa(isa_for(request.isa));
  wire.set_kernels(request.kernels);
  for (const auto& trace : request.traces) wire.add_traces(trace);
  wire.set_search_only(request.search_only);
  wire.set_no_cache(request.no_cache);
  wire.set_no_stage2(request.no_stage2);
  wire.set_traces_only(request.traces_only);
  wire.set_keep_working(request.keep_working);
  wire.set_wins(request.wins);
  wire.set_gpu(request.gpu);
  wire.set_deterministic(request.deterministic);
  wire.set_host(host_text());
  *wire.mutable_search() = to_proto(request.search);
  return wire;
}

v1::ReportRequest to_proto(const ProblemText& problem, const std::vector<Measurement>& measurements) {
  v1::ReportRequest wire;
  *wire.mutable_problem() = to_proto(problem);
  wire.set_host(host_text());
  for (const Measurement& from : measurements) {
    v1::Measurement& one = *wire.add_measurements();
    one.set_trace(from.trace);
    one.set_sizes(from.sizes);
    one.set_isa(from.isa);
    one.set_threads(static_cast<std::uint32_t>(from.threads));
    one.set_seconds(from.seconds);
  }
  return wire;
}

// Converts a frontier whose kinds known() has accepted.
Frontier from_proto(const v1::Frontier& from) {
  Frontier frontier;
  frontier.key = from.key();
  frontier.canonical = from.canonical();
  for (const auto& constraint : from.constraints())
    frontier.constraints.push_back({sum(constraint.left()), sum(constraint.right())});
  for (const auto& entry : from.entries()) frontier.entries.push_back(from_message(entry));
  frontier.counts = from_message(from.counts());
  frontier.seconds = from_message(from.seconds());
  frontier.complete = from.complete();
  frontier.arguments = strings(from.arguments());
  frontier.signature = from.signature();
  frontier.user_tensors = {from.user_tensors().begin(), from.user_tensors().end()};
  frontier.user_indices = {from.user_indices().begin(), from.user_indices().end()};
  for (const auto& r : from.removals()) {
    frontier.removals.push_back({r.id(), r.time(), r.memory(), r.by(), r.kind(), r.argument(),
                                 terms(r.time_terms()), terms(r.memory_terms()), r.winner()});
  }
  for (const auto& schedule : from.gpu()) frontier.gpu.push_back(from_message(schedule));
  frontier.statement = from.statement();
  frontier.removed = from.removed();
  frontier.limited = from.limited();
  frontier.relaxed_from = from.looser();
  frontier.hit = from.hit();
  frontier.partial = from.partial();
  for (const auto& one : from.measurements()) {
    frontier.measurements.push_back(
        {one.trace(), one.sizes(), one.isa(), static_cast<int>(one.threads()), one.seconds()});
  }
  return frontier;
}

KernelInfo from_proto(const v1::Kernel& from) {
  KernelInfo kernel;
  kernel.id = from.id();
  kernel.kernel_key = from.kernel_key();
  kernel.trace = from.trace();
  kernel.tree = from.tree();
  kernel.time = from.time();
  kernel.memory = from.memory();
  kernel.isa = from.isa();
  kernel.digest = {from.digest().sha256(), from.digest().bytes()};
  kernel.compile_seconds = from.compile_seconds();
  kernel.hit = from.hit();
  kernel.baseline = from.draft();
  kernel.signature = from.signature();
  kernel.nondeterministic = from.nondeterministic();
  kernel.time_terms = terms(from.time_terms());
  kernel.memory_terms = terms(from.memory_terms());
  return kernel;
}

Explanation from_proto(const v1::Explanation& from) {
  Explanation out;
  out.verdict = verdict_of(from.verdict());
  out.id = from.id();
  out.trace = from.trace();
  out.tree = from.tree();
  out.code = from.code();
  out.time = from.time();
  out.memory = from.memory();
  out.by = from.by();
  out.kind = from.kind();
  out.argument = from.argument();
  for (const auto& competitor : from.rivals()) {
    out.competitors.push_back({competitor.id(), competitor.sizes(), competitor.time(), competitor.memory(),
                               competitor.other_time(), competitor.other_memory()});
  }
  return out;
}

ServerInfo from_proto(const v1::ServerInfo& from) {
  ServerInfo info;
  info.version = from.version();
  info.abi_version = from.abi_version();
  info.toolchain = from.toolchain();
  info.isas = strings(from.isas());
  info.frontiers = from.frontiers();
  info.kernels = from.kernels();
  info.binary_bytes = from.binary_bytes();
  info.uptime_seconds = from.uptime_seconds();
  info.data_directory = from.data_directory();
  info.public_key = from.public_key();
  info.isolation = from.isolation();
  info.gpu_toolchain = from.gpu_toolchain();
  info.expression_bytes = from.expression_bytes();
  info.factors = from.factors();
  info.indices = from.indices();
  info.constraints = from.constraints();
  return info;
}

CacheEntry from_proto(const v1::CacheEntry& from) {
  CacheEntry entry;
  entry.key = from.key();
  entry.canonical = from.canonical();
  entry.frontier = from.frontier();
  entry.kernels = from.kernels();
  entry.created = from.created();
  entry.pinned = from.pinned() ? Pinned::yes : Pinned::no;
  for (const auto& kernel : from.kernel()) entry.kernel.push_back(from_proto(kernel));
  return entry;
}

support::Diagnostic from_proto(const v1::Diagnostic& from) {
  support::Diagnostic d;
  d.family = family_of(from.family());
  d.code = support::printable(from.code());
  d.message = support::printable(from.message());
  d.source_name = support::printable(from.source_name());
  d.source = support::printable(from.source());
  d.first_line = from.first_line();
  if (from.has_range()) d.range = support::SourceRange{from.begin(), from.end()};
  for (const auto& note : from.notes()) d.notes.push_back(support::printable(note));
  return d;
}

CacheVerification from_proto(const v1::VerifyCacheReply& from) {
  return {from.checked(), strings(from.damaged()), from.missing()};
}

// A frontier is checked before it is converted, and its numbers after that.
support::Result<ScheduleEvent> from_proto(const v1::ScheduleEvent& event) {
  switch (event.event_case()) {
    case v1::ScheduleEvent::kProgress: {
      const auto& p = event.progress();
      return ScheduleEvent(Progress{p.stage(), p.done(), p.of(), p.states(), p.classes(), p.members()});
    }
    case v1::ScheduleEvent::kFrontier: {
      if (!known(event.frontier())) return unknown_wire("a cost variable");
      Frontier frontier = from_proto(event.frontier());
      if (!is_sound(frontier)) return unknown_wire("loops");
      return ScheduleEvent(std::move(frontier));
    }
    case v1::ScheduleEvent::kKernel: {
      const auto& k = event.kernel();
      if (!known(k.time_terms()) || !known(k.memory_terms())) return unknown_wire("a cost variable");
      return ScheduleEvent(from_proto(k));
    }
    case v1::ScheduleEvent::kDone: {
      const auto& d = event.done();
      return ScheduleEvent(Done{d.hit(), d.compiled(), d.seconds(), d.compile_seconds(), d.failed()});
    }
    case v1::ScheduleEvent::kFailure: {
      const auto& f = event.failure();
      return ScheduleEvent(KernelFailure{f.id(), f.trace(), from_proto(f.diagnostic()), f.isa()});
    }
    case v1::ScheduleEvent::EVENT_NOT_SET:
      break;
  }
  return unknown_wire("an event");
}

}  // namespace schaas::client
