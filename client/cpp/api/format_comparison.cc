#include "schaas/format_comparison.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "client/cpp/platform/cancelled.h"
#include "client/cpp/platform/seconds_since.h"
#include "schaas/blocks.h"
#include "schaas/convert.h"
#include "schaas/tuning.h"

// Which format an operand should be stored in. The server searches and compiles for each format, as it does
// for every problem; the operand is converted once to each, and the computations are measured in turns on
// these tensors. A format that does not fit is told with its reason, and the others are measured.
namespace schaas::client {
namespace {

// A final kernel takes seconds to compile; in a minute it has come, or the machine has other things to do.
constexpr std::chrono::seconds usual_wait{60};

/// The computation with one of the formats. Its tensors stay where they are.
struct Candidacy {
  FormatFigures figures;
  PackedTensor converted;
  std::optional<Computation> computation{};
};

support::Diagnostic unknown_operand(const std::string& name, const ProblemText& problem) {
  return support::invalid("unknown-tensor",
                          "`" + problem.expression + "` has no operand `" + name + "` that is given");
}

/// Binds the computation with the operand as it is, or as `converted` has it.
support::Result<void> bind_to(const Session& session, const ProblemText& problem,
                              std::map<std::string, PackedTensor*> operands,
                              const FormatComparisonOptions& options, Candidacy& candidacy) {
  BindOptions bind = options.bind;
  bind.result = nullptr;
  if (!bind.wait.limit) bind.wait.limit = usual_wait;
  SCHAAS_ASSIGN_OR_RETURN(const KernelSet kernels, KernelSet::open(session, problem, options.search));
  SCHAAS_ASSIGN_OR_RETURN(candidacy.computation, kernels.bind(operands, bind));
  candidacy.figures.tree = candidacy.computation->kernel().tree;
  return {};
}

support::Result<void> convert_and_bind(const Session& session, ProblemText problem,
                                       const std::string& operand,
                                       std::map<std::string, PackedTensor*> operands,
                                       const FormatComparisonOptions& options, Candidacy& candidacy) {
  const std::string& text = candidacy.figures.format;
  SCHAAS_RETURN_IF_ERROR(check_without_blocks(operand, text));
  const PackedTensor& given = *operands.at(operand);
  SCHAAS_ASSIGN_OR_RETURN(const auto format, format::parse(text, given.order(), operand));
  const auto start = std::chrono::steady_clock::now();
  SCHAAS_ASSIGN_OR_RETURN(candidacy.converted, convert(given, format, {operand, options.bind.threads, 0}));
  candidacy.figures.convert_seconds = seconds_since(start);
  candidacy.figures.bytes = static_cast<std::int64_t>(candidacy.converted.bytes());
  problem.formats[operand] = text;
  operands[operand] = &candidacy.converted;
  return bind_to(session, problem, std::move(operands), options, candidacy);
}

/// The formats to compare with the operand's own, each once.
std::vector<std::string> candidates(const PackedTensor& operand, const std::string& name,
                                    const std::vector<std::string>& asked) {
  std::vector<format::TensorFormat> taken = {operand.format()};
  std::vector<std::string> texts;
  for (const auto& text : asked.empty() ? usual_formats(operand.extents(), operand.stored()) : asked) {
    // A text that is no format stays: its error is told beside it.
    const auto parsed = format::parse(text, operand.order(), name);
    if (parsed.ok()) {
      if (std::find(taken.begin(), taken.end(), *parsed) != taken.end()) continue;
      taken.push_back(*parsed);
    }
    texts.push_back(text);
  }
  return texts;
}

}  // namespace

std::vector<std::string> usual_formats(const std::vector<std::int64_t>& extents, std::int64_t entries) {
  std::vector<std::string> names;
  if (extents.empty()) return {"dense"};
  if (extents.size() == 1) names = {"compressed"};
  if (extents.size() == 2) names = {"csr", "csc", "dcsr", "dcsc", "coo"};
  if (extents.size() > 2) {
    names = {"csf", "coo"};
    for (std::size_t first = 1; first < extents.size(); ++first) {
      std::string modes = std::to_string(first);
      for (std::size_t mode = 0; mode < extents.size(); ++mode)
        if (mode != first) modes += "," + std::to_string(mode);
      names.push_back("csf:" + modes);
    }
  }
  const auto size = checked_product(extents);
  if (size && *size / 100 <= entries) names.emplace_back("dense");
  return names;
}

support::Result<std::vector<FormatFigures>> compare_formats(
    const Session& session, const ProblemText& problem, const std::string& operand,
    const std::map<std::string, PackedTensor*>& operands, const FormatComparisonOptions& options) {
  const auto given = operands.find(operand);
  if (given == operands.end()) return unknown_operand(operand, problem);
  const PackedTensor& own = *given->second;
  if (own.on_device())
    return support::invalid("format-comparison",
                            "`" + operand + "` lies on a device; formats are compared in memory");
  const auto others = candidates(own, operand, options.formats);
  const std::size_t count = others.size() + 1;
  std::vector<std::unique_ptr<Candidacy>> all;
  for (std::size_t n = 0; n < count; ++n) {
    if (options.progress) options.progress(n, count);
    auto& one = *all.emplace_back(std::make_unique<Candidacy>());
    if (n == 0) {
      const auto written = problem.formats.find(operand);
      one.figures.format = written == problem.formats.end() ? format::print(own.format()) : written->second;
      one.figures.bytes = static_cast<std::int64_t>(own.bytes());
      SCHAAS_RETURN_IF_ERROR(bind_to(session, problem, operands, options, one));
      continue;
    }
    one.figures.format = others[n - 1];
    const auto bound = convert_and_bind(session, problem, operand, operands, options, one);
    if (options.bind.wait.stop.stop_requested()) return cancelled();
    if (!bound.ok()) one.figures.error = bound.error();
  }
  if (options.progress) options.progress(count, count);
  std::vector<Candidate> measured;
  for (const auto& one : all) {
    if (one->figures.error) continue;
    measured.push_back({one->figures.format, one->figures.tree,
                        [computation = &*one->computation]() -> support::Result<double> {
                          const auto start = std::chrono::steady_clock::now();
                          SCHAAS_RETURN_IF_ERROR(computation->run());
                          return seconds_since(start);
                        }});
  }
  SCHAAS_ASSIGN_OR_RETURN(const auto times, measure_candidates(measured, options.seconds));
  auto time = times.begin();
  std::vector<FormatFigures> figures;
  for (auto& one : all) {
    if (!one->figures.error) one->figures.run_seconds = (time++)->seconds;
    figures.push_back(std::move(one->figures));
  }
  return figures;
}

std::size_t best_format(const std::vector<FormatFigures>& figures, double uses) {
  const auto seconds = [&](const FormatFigures& one) {
    return one.error ? std::numeric_limits<double>::infinity() : one.seconds(uses);
  };
  const auto least = std::min_element(figures.begin(), figures.end(),
                                      [&](const auto& a, const auto& b) { return seconds(a) < seconds(b); });
  return static_cast<std::size_t>(least - figures.begin());
}

std::optional<double> uses_to_pay(const std::vector<FormatFigures>& figures, std::size_t format) {
  const FormatFigures& one = figures[format];
  const double gained = figures.front().run_seconds - one.run_seconds;
  if (one.error || gained <= 0) return std::nullopt;
  return one.convert_seconds / gained;
}

nlohmann::ordered_json formats_json(const std::vector<FormatFigures>& figures) {
  nlohmann::ordered_json formats = nlohmann::ordered_json::array();
  for (std::size_t n = 0; n < figures.size(); ++n) {
    const FormatFigures& one = figures[n];
    if (one.error) {
      formats.push_back(
          {{"format", one.format}, {"error", {{"code", one.error->code}, {"message", one.error->message}}}});
      continue;
    }
    const auto uses = uses_to_pay(figures, n);
    formats.push_back({{"format", one.format},
                       {"bytes", one.bytes},
                       {"convert_seconds", one.convert_seconds},
                       {"run_seconds", one.run_seconds},
                       {"uses_to_pay", uses ? nlohmann::ordered_json(*uses) : nullptr},
                       {"tree", one.tree}});
  }
  return formats;
}

}  // namespace schaas::client
