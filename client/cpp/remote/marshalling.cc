#include "client/cpp/remote/marshalling.h"

#include "client/cpp/remote/answer_json.h"
#include "compiler/support/printable.h"
#include "proto/answer_fields.h"
#include "proto/message_fields.h"
#include "schaas/host.h"
#include "schaas/rates.h"

// Messages to values and back: answers by their lists of fields (proto/answer_fields.h). Texts of diagnostics
// may go to a terminal, so they are made printable. Kinds that this client does not know are refused, not
// guessed: a cost that is misread would choose wrongly. New fields of a newer server are ignored, as Protocol
// Buffers do.
namespace schaas::client {
namespace {

template <class Repeated>
std::vector<std::string> strings(const Repeated& repeated) {
  return {repeated.begin(), repeated.end()};
}

support::Diagnostic unknown_wire(const std::string& what) {
  return support::internal("server-internal",
                           "the server sent " + what + " that this client does not know; is it newer?");
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
  return answers::WireNames<Verdict>::names[static_cast<std::size_t>(verdict)];
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
  wire.set_first_kernel_only(request.first_kernel_only);
  wire.set_host(host_text());
  *wire.mutable_search() = to_proto(request.search);
  return wire;
}

v1::ReportRequest to_proto(const ProblemText& problem, const std::vector<Measurement>& measurements) {
  v1::ReportRequest wire;
  *wire.mutable_problem() = to_proto(problem);
  wire.set_host(host_text());
  for (const Measurement& from : measurements) answers::write_message(from, *wire.add_measurements());
  return wire;
}

support::Result<Frontier> from_proto(const v1::Frontier& from) {
  Frontier frontier;
  if (!answers::read_message(from, frontier)) return unknown_wire("a cost variable");
  if (!is_sound(frontier)) return unknown_wire("loops");
  return frontier;
}

support::Result<KernelInfo> from_proto(const v1::Kernel& from) {
  KernelInfo kernel;
  if (!answers::read_message(from, kernel)) return unknown_wire("a cost variable");
  return kernel;
}

Explanation from_proto(const v1::Explanation& from) {
  Explanation out;
  // An unknown verdict decides nothing.
  static_cast<void>(answers::read_message(from, out));
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
  info.compiler_error = from.compiler_error();
  info.expression_bytes = from.expression_bytes();
  info.factors = from.factors();
  info.indices = from.indices();
  info.constraints = from.constraints();
  return info;
}

support::Result<CacheEntry> from_proto(const v1::CacheEntry& from) {
  CacheEntry entry;
  entry.key = from.key();
  entry.canonical = from.canonical();
  entry.frontier = from.frontier();
  entry.kernels = from.kernels();
  entry.created = from.created();
  entry.pinned = from.pinned() ? Pinned::yes : Pinned::no;
  entry.number = from.number();
  for (const auto& wire : from.kernel()) {
    SCHAAS_ASSIGN_OR_RETURN(KernelInfo kernel, from_proto(wire));
    entry.kernel.push_back(std::move(kernel));
  }
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

support::Result<ScheduleEvent> from_proto(const v1::ScheduleEvent& event) {
  switch (event.event_case()) {
    case v1::ScheduleEvent::kProgress: {
      const auto& p = event.progress();
      return ScheduleEvent(Progress{p.stage(), p.done(), p.of(), p.states(), p.classes(), p.members()});
    }
    case v1::ScheduleEvent::kFrontier: {
      SCHAAS_ASSIGN_OR_RETURN(Frontier frontier, from_proto(event.frontier()));
      return ScheduleEvent(std::move(frontier));
    }
    case v1::ScheduleEvent::kKernel: {
      SCHAAS_ASSIGN_OR_RETURN(KernelInfo kernel, from_proto(event.kernel()));
      return ScheduleEvent(std::move(kernel));
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
