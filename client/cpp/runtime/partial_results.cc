#include "client/cpp/runtime/partial_results.h"

#include "client/cpp/platform/allocate.h"
#include "client/cpp/runtime/monoids.h"
#include "client/cpp/tensor/result_storage.h"

// Carry-out fix-up of split rows, as in merge-based SpMV (Merrill, Garland 2016). A row with a large share of
// the entries is split into parts, so that several threads share it. Each part sums into a partial result;
// when all are done, the partial results of a row are folded in their order and combined with the row.
//
// Invariants: partial results begin on cache lines of their own, so that threads do not share lines. The
// order of the fold is that of the parts and does not depend on the threads.
namespace schaas::client {

support::Result<PartialResults> PartialResults::make(const schaas_phase& phase, ValueType type,
                                                     std::int64_t elements, std::vector<Task>& tasks) {
  PartialResults out;
  out.type_ = type;
  out.monoid_ = phase.part_fold;
  out.elements_ = elements;
  // A multiple of the cache line's 64 bytes.
  out.stride_ = (elements * static_cast<std::int64_t>(bytes_of(type)) + 63) / 64 * 64;
  int carries = 0;
  // Parts of one iteration follow each other in the list of tasks.
  for (Task& task : tasks) {
    if (!task.is_part()) continue;
    task.carry = carries++;
    if (!out.iterations_.empty() && out.iterations_.back().at == task.begin) {
      ++out.iterations_.back().parts;
    } else {
      out.iterations_.push_back({task.begin, task.carry, 1});
    }
  }
  SCHAAS_ASSIGN_OR_RETURN(out.values_,
                          allocate(carries, out.stride_, "what parts of long rows give before it is added"));
  return out;
}

void* PartialResults::start(int carry) {
  fill_values(data(carry), type_, 0, elements_, identity_of(monoid_));
  return data(carry);
}

// Deals the iterations to threads in turn. One thread combines all parts of an iteration, in their order.
std::int32_t PartialResults::combine(const schaas_phase& phase, const schaas_tensor* const* arguments,
                                     void* const* shared, int thread, int team) {
  std::int32_t code = SCHAAS_OK;
  for (std::size_t n = static_cast<std::size_t>(thread); n < iterations_.size() && code == SCHAAS_OK;
       n += static_cast<std::size_t>(team)) {
    const Iteration& iteration = iterations_[n];
    for (int part = 1; part < iteration.parts; ++part) {
      fold_values(monoid_, type_, data(iteration.first_carry), data(iteration.first_carry + part), 0,
                  elements_);
    }
    code = phase.combine(arguments, shared, iteration.at, data(iteration.first_carry));
  }
  return code;
}

}  // namespace schaas::client
