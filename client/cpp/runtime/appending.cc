#include "client/cpp/runtime/appending.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "client/cpp/tensor/result_storage.h"

// One-pass assembly. Kernels with sparse results have a symbolic phase, which counts entries by row, and a
// numeric one, which fills them (Kjolstad et al. 2017, "Taco"). A kernel that may append needs no counts, so
// the symbolic phase is skipped.
//
// Each thread appends the rows of its tasks to arrays of its own. Positions are written to the shared array
// as if the thread's arrays were the result's. At the end tasks are copied to their offsets, in order of
// rows, and their positions are shifted. With one thread nothing is copied.
//
// Invariants: the kernel sees capacity for a whole row before each call, since a row cannot tell its length
// in advance. When arrays cannot grow, or positions of 32 bits overflow, the run is discarded and made again
// with counts. The result does not depend on the number of threads.
namespace schaas::client {

using support::Result;

namespace {

/// Slots behind the last entry that a kernel may store to before it knows whether it keeps the entry.
constexpr std::int64_t written_ahead = 64;

/// Rows that have room at first, however long, so that few calls make one row alone. Pages that no entry
/// reaches are never touched.
constexpr std::int64_t first_rows = 16, first_rows_bytes = std::int64_t{32} << 20;

// Entries of a tensor whose last level is sparse, 0 of others.
std::int64_t sparse_entries(const schaas_tensor& tensor) {
  const schaas_level* const last = tensor.order == 0 ? nullptr : &tensor.levels[tensor.order - 1];
  return last == nullptr || last->format == SCHAAS_LEVEL_DENSE ? 0 : last->entries;
}

}  // namespace

// The last phase may run without counts: one counted level, all rows written, no hash tables, no reduction,
// and no parts of rows.
bool Appending::suits(const schaas_kernel_descriptor& kernel, std::int32_t counted_phases,
                      const PackedTensor& result, const std::vector<Task>& tasks) {
  if (kernel.appends == 0 || kernel.counter_count != 1 || kernel.writes_all == 0) return false;
  if (kernel.table_bytes != nullptr || kernel.phase_count != counted_phases + 1 || result.order() < 2)
    return false;
  return kernel.phases[counted_phases].fold == SCHAAS_FOLD_NONE &&
         std::none_of(tasks.begin(), tasks.end(), [](const Task& task) { return task.is_part(); });
}

Appending::Appending(const schaas_phase& phase, PackedTensor& result,
                     const std::vector<const schaas_tensor*>& arguments, std::int64_t* counter,
                     const std::vector<Task>& tasks, int threads, std::optional<std::int64_t> bound,
                     std::string result_name)
    : phase_(&phase),
      result_(&result),
      arguments_(&arguments),
      counter_(counter),
      tasks_(&tasks),
      name_(std::move(result_name)) {
  const auto& modes = result.format().mode_order;
  row_ = result.extents()[static_cast<std::size_t>(modes[1])];
  value_bytes_ = static_cast<std::int64_t>(bytes_of(result.value_type()));
  for (std::size_t l = 2; l < modes.size(); ++l)
    value_bytes_ *= result.extents()[static_cast<std::size_t>(modes[l])];
  for (int t = 0; t < threads; ++t) rows_.push_back(std::make_unique<Rows>());
  std::int64_t read = 0;
  for (std::size_t n = 1; n < arguments.size(); ++n) read += sparse_entries(*arguments[n]);
  // Several threads would each need room for all.
  if (threads == 1 && bound && *bound <= max_entries() - written_ahead) bound_ = *bound + written_ahead;
  // Most results have no more entries than their operands together; products may, and grow (make_room).
  const std::int64_t entry_bytes = value_bytes_ + result.position_bits() / 8;
  const std::int64_t fit = first_rows_bytes / entry_bytes / std::max<std::int64_t>(row_, 1);
  first_ = read / threads + 1024 + std::min(first_rows - 1, fit) * row_;
  segments_.resize(tasks.size());
}

Result<void> Appending::start() {
  overflow_ = false;
  SCHAAS_RETURN_IF_ERROR(ResultStorage::take_rows(*result_, coordinates_, values_, name_));
  // One thread appends to the result's own arrays.
  if (rows_.size() == 1) {
    rows_.front()->coordinates = std::move(coordinates_);
    rows_.front()->values = std::move(values_);
  }
  for (auto& rows : rows_) {
    const std::int64_t width = result_->position_bits() / 8;
    const auto held = [](const Buffer& buffer, std::int64_t bytes) {
      return bytes == 0 ? std::numeric_limits<std::int64_t>::max()
                        : static_cast<std::int64_t>(buffer.capacity()) / bytes;
    };
    // Arrays of an earlier run keep their capacity.
    rows->entries = 0;
    rows->capacity = std::min(held(rows->coordinates, width), held(rows->values, value_bytes_));
    SCHAAS_RETURN_IF_ERROR(resize(rows->coordinates, rows->capacity, width, name_));
    if (value_bytes_ > 0) SCHAAS_RETURN_IF_ERROR(resize(rows->values, rows->capacity, value_bytes_, name_));
    note_arrays(*rows);
    // Without room for all entries rows are made as they fit.
    if (bound_ && !holds_all(*rows)) (void)reserve(*rows, *bound_);
  }
  return {};
}

// The kernel's arguments: the result's arrays are the thread's own, but for the positions.
void Appending::note_arrays(Rows& rows) const {
  const schaas_tensor& whole = *arguments_->front();
  rows.levels.assign(whole.levels, whole.levels + whole.order);
  rows.levels[1].pos = result_->levels()[1].pos.data();
  rows.levels[1].crd = rows.coordinates.data();
  rows.view = whole;
  rows.view.levels = rows.levels.data();
  rows.view.values = rows.values.data();
  rows.arguments = *arguments_;
  rows.arguments.front() = &rows.view;
}

// A result that has room for all its entries is made by one call for each task.
bool Appending::holds_all(const Rows& rows) const { return bound_ && rows.capacity >= *bound_; }

// Positions of 32 bits, and sizes in bytes that must not overflow.
std::int64_t Appending::max_entries() const {
  return result_->position_bits() == 32 ? std::numeric_limits<std::int32_t>::max()
                                        : std::numeric_limits<std::int64_t>::max() / 32;
}

// Grows the arrays for one more row at least. Their first capacity is that of the operands' entries, which a
// sum does not exceed, and one row more. That row must fit until the end. Later the capacity doubles, so that
// all growth together takes no more than the final entries, however long a row becomes.
bool Appending::make_room(Rows& rows) const {
  const std::int64_t most = max_entries();
  if (row_ > most - rows.entries) return false;
  const std::int64_t grown = rows.capacity > most / 2 ? most : std::max(2 * rows.capacity, first_ + row_);
  return reserve(rows, std::min(most, std::max(rows.entries + row_, grown)));
}

bool Appending::reserve(Rows& rows, std::int64_t wanted) const {
  const std::int64_t width = result_->position_bits() / 8;
  if (!resize(rows.coordinates, wanted, width, name_).ok()) return false;
  if (!resize(rows.values, wanted, value_bytes_, name_).ok()) return false;
  rows.capacity = wanted;
  note_arrays(rows);
  return true;
}

// After an overflow the remaining tasks have nothing to do; the run is made again.
std::int32_t Appending::run(std::size_t number, int thread, void* const* shared, void* workspace) {
  if (overflow_.load(std::memory_order_relaxed)) return SCHAAS_OK;
  Rows& rows = *rows_[static_cast<std::size_t>(thread)];
  Segment& segment = segments_[number];
  segment = {thread, rows.entries, rows.entries};
  const std::int32_t code = result_->position_bits() == 32
                                ? run_units<std::int32_t>((*tasks_)[number], rows, shared, workspace)
                                : run_units<std::int64_t>((*tasks_)[number], rows, shared, workspace);
  segment.end = rows.entries;
  return code;
}

template <class Position>
std::int32_t Appending::run_units(const Task& task, Rows& rows, void* const* shared, void* workspace) {
  // The kernel sets pos[u + 1] of each unit, from which the number of entries is read.
  const auto* pos = static_cast<const Position*>(result_->levels()[1].pos.data());
  for (std::int64_t unit = task.begin; unit < task.end;) {
    if (!holds_all(rows) && rows.capacity - rows.entries < row_ && !make_room(rows)) {
      overflow_.store(true, std::memory_order_relaxed);
      return SCHAAS_OK;
    }
    // Units whose longest possible rows have room together are one call.
    const bool all = holds_all(rows) || row_ == 0;
    const std::int64_t fit = all ? task.end : (rows.capacity - rows.entries) / row_;
    const std::int64_t end = std::min(task.end - unit, fit) + unit;
    counter_[unit] = rows.entries;
    const std::int32_t code = phase_->run(rows.arguments.data(), shared, workspace, unit, end);
    if (code != SCHAAS_OK) return code;
    rows.entries = pos[end];
    SCHAAS_CHECK(rows.entries <= rows.capacity, "a kernel appended more entries than had room");
    unit = end;
  }
  return SCHAAS_OK;
}

Result<bool> Appending::finish(Team& team) {
  std::vector<std::int64_t> offsets{0};  // beginning of the entries of each task
  for (const Segment& segment : segments_) offsets.push_back(offsets.back() + segment.end - segment.begin);
  const std::int64_t entries = offsets.back();
  const std::int64_t width = result_->position_bits() / 8;
  if (overflow_ || (width == 4 && entries > std::numeric_limits<std::int32_t>::max())) {
    for (auto& rows : rows_) *rows = Rows();
    return false;
  }
  if (rows_.size() == 1) {
    coordinates_ = std::move(rows_.front()->coordinates);
    values_ = std::move(rows_.front()->values);
  }
  SCHAAS_RETURN_IF_ERROR(resize(coordinates_, entries, width, name_));
  SCHAAS_RETURN_IF_ERROR(resize(values_, entries, value_bytes_, name_));
  if (width == 4) {
    concatenate<std::int32_t>(offsets, team);
  } else {
    concatenate<std::int64_t>(offsets, team);
  }
  ResultStorage::give_rows(*result_, std::move(coordinates_), std::move(values_), entries);
  return true;
}

// Copies the entries of tasks to their offsets, and moves the positions of their rows. Nothing moves in the
// arrays of one thread.
template <class Position>
void Appending::concatenate(const std::vector<std::int64_t>& offsets, Team& team) {
  auto* pos = const_cast<Position*>(static_cast<const Position*>(result_->levels()[1].pos.data()));
  const auto count = static_cast<std::int64_t>(tasks_->size());
  // A kernel reads the counter of the first unit of a call alone: a task's, where it runs again with the
  // structure at hand.
  const auto bytes = static_cast<std::size_t>(value_bytes_);
  counter_[count == 0 ? 0 : tasks_->back().end] = offsets.back();
  team.run(count, [&](std::int64_t n, int) {
    const Segment& from = segments_[static_cast<std::size_t>(n)];
    const Task& task = (*tasks_)[static_cast<std::size_t>(n)];
    const std::int64_t offset = offsets[static_cast<std::size_t>(n)], moved = offset - from.begin;
    counter_[task.begin] = offset;
    for (std::int64_t unit = task.begin; moved != 0 && unit < task.end; ++unit)
      pos[unit + 1] = static_cast<Position>(pos[unit + 1] + moved);
    const auto size = static_cast<std::size_t>(from.end - from.begin);
    if (size == 0 || rows_.size() == 1) return;
    const Rows& rows = *rows_[static_cast<std::size_t>(from.thread)];
    std::memcpy(coordinates_.as<Position>() + offset, rows.coordinates.as<Position>() + from.begin,
                size * sizeof(Position));
    if (bytes > 0)
      std::memcpy(values_.as<char>() + static_cast<std::size_t>(offset) * bytes,
                  rows.values.as<char>() + static_cast<std::size_t>(from.begin) * bytes, size * bytes);
  });
}

std::int64_t Appending::bytes() const {
  std::size_t bytes = 0;
  for (const auto& rows : rows_) bytes += rows->coordinates.bytes() + rows->values.bytes();
  return static_cast<std::int64_t>(bytes);
}

}  // namespace schaas::client
