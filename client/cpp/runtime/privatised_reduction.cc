#include "client/cpp/runtime/privatised_reduction.h"

#include <algorithm>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/platform/share.h"
#include "client/cpp/runtime/monoids.h"
#include "client/cpp/tensor/result_storage.h"

// Privatised reduction: ranges of a loop that update the same elements write arrays of their own, which are
// folded into the target afterwards.
//
// The number of ranges balances two costs. Each range beyond the first sets and folds `elements` values; the
// phase itself does `work` operations. More threads pay when the former is less than the work that they take
// from one thread. Ranges finer than the threads balance the load; they are made while setting and folding
// stay below a sixteenth of the work.
//
// Invariants: arrays are folded in the order of ranges, and the ranges of a deterministic run do not depend
// on threads. It therefore rounds the same way each time, which atomic updates of a common array would not.
namespace schaas::client {
namespace {

/// Pieces of a phase whose result must not depend on the threads.
constexpr double deterministic_pieces = 64;
/// Starting and folding the arrays may take this part of what the phase itself does, before it is cut finer
/// than the threads need.
constexpr double overhead = 1.0 / 16;

}  // namespace

// Returns the number of pieces; 1 says that the phase runs as a whole, in its target.
std::int64_t PrivatisedReduction::pieces(const schaas_phase& phase, const schaas_tensor* const* arguments,
                                         std::int64_t elements, std::int64_t element_bytes, int threads,
                                         const ExecutionOptions& options) {
  if (options.folding == ExecutionOptions::Folding::never) return 1;
  const double each = static_cast<double>(std::max<std::int64_t>(elements, 1));
  // Pieces beyond the first have arrays, so memory for n arrays allows n + 1 pieces.
  const double room =
      static_cast<double>(options.folding_bytes) / (each * static_cast<double>(element_bytes));
  const double most = std::max(1.0, room + 1);
  if (options.folding == ExecutionOptions::Folding::always)
    return static_cast<std::int64_t>(std::min(most, 2.0 * threads));
  const double work = phase.work == nullptr ? 0 : phase.work(arguments);
  // Pieces at which setting and folding take the accepted part of the work.
  const double cheap = work * overhead / each;
  if (options.deterministic)
    return static_cast<std::int64_t>(std::min(most, std::clamp(cheap, 1.0, deterministic_pieces)));
  const double team = threads;
  // The gain of a team is what it takes from one thread; without it, or without memory for all, one piece
  // runs.
  if (threads == 1 || each > work * (team - 1) / team || most < team) return 1;
  return static_cast<std::int64_t>(
      std::min(most, std::clamp(cheap, team, team * std::max(options.chunks_per_thread, 1))));
}

support::Result<PrivatisedReduction> PrivatisedReduction::make(
    const schaas_phase& phase, ValueType type, std::int64_t elements, std::int64_t pieces,
    const std::vector<const schaas_tensor*>& arguments, const std::vector<void*>& shared) {
  PrivatisedReduction out;
  out.monoid_ = phase.fold;
  out.type_ = type;
  out.elements_ = elements;
  out.arguments_ = arguments.data();
  out.shared_ = shared.data();
  const bool of_result = phase.fold_target < 0;
  const auto slot = static_cast<std::size_t>(phase.fold_target);
  out.target_ = of_result ? arguments.front()->values : shared[slot];
  for (std::int64_t n = 1; n < pieces; ++n) {
    auto piece = std::make_unique<Piece>();
    SCHAAS_ASSIGN_OR_RETURN(piece->values, allocate(elements, static_cast<std::int64_t>(bytes_of(type)),
                                                    "what one thread folds before the others' is added"));
    // Pieces get an argument list, or a list of shared arrays, in which the target alone is replaced.
    if (of_result) {
      piece->target = *arguments.front();
      piece->target.values = piece->values.data();
      piece->arguments = arguments;
      piece->arguments.front() = &piece->target;
    } else {
      piece->shared = shared;
      piece->shared[slot] = piece->values.data();
    }
    out.pieces_.push_back(std::move(piece));
  }
  return out;
}

std::int64_t PrivatisedReduction::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& piece : pieces_) bytes += static_cast<std::int64_t>(piece->values.bytes());
  return bytes;
}

// The first piece writes the target, which begins as the phase expects it.
void PrivatisedReduction::start(std::size_t piece) {
  if (piece == 0) return;
  fill_values(pieces_[piece - 1]->values.data(), type_, 0, elements_, identity_of(monoid_));
}

const schaas_tensor* const* PrivatisedReduction::arguments(std::size_t piece) const {
  return piece == 0 || pieces_[piece - 1]->arguments.empty() ? arguments_
                                                             : pieces_[piece - 1]->arguments.data();
}

void* const* PrivatisedReduction::shared(std::size_t piece) const {
  return piece == 0 || pieces_[piece - 1]->shared.empty() ? shared_ : pieces_[piece - 1]->shared.data();
}

void PrivatisedReduction::fold(int thread, int team) {
  constexpr std::int64_t line = 16;
  const std::int64_t begin = share(elements_, line, thread, team);
  const std::int64_t end = share(elements_, line, thread + 1, team);
  for (auto& piece : pieces_) {
    fold_values(monoid_, type_, target_, piece->values.data(), begin, end);
  }
}

}  // namespace schaas::client
