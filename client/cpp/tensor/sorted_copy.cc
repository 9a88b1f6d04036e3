#include "client/cpp/tensor/sorted_copy.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/packed_tensor_builder.h"
#include "client/cpp/tensor/typed.h"

// Entries are brought to their rows, where they do not lie there already, by counting (coo); then each row is
// sorted. In a short row the position of each entry is counted, since branches on coordinates are
// mispredicted; long rows are sorted by comparing. Rejected: sorting twice by counting, as a transposition
// and back. It reads and writes every entry at random twice, and takes longer from some ten thousand columns
// on.
namespace schaas::client {
namespace {

using support::Result;

constexpr std::size_t short_row = 24;

bool is_coo(const schaas_tensor& view) {
  return view.order == 2 && view.levels[0].format == SCHAAS_LEVEL_COMPRESSED_NONUNIQUE &&
         view.levels[1].format == SCHAAS_LEVEL_SINGLETON;
}

template <class Position, class Word>
class Sorting {
 public:
  Sorting(const PackedTensor& from, const std::string& name)
      : from_(from), what_("a sorted copy of `" + name + "`") {}

  Result<PackedTensor> run(bool is_coo) {
    const std::int64_t entries = from_.stored();
    is_coo_ = is_coo;
    // Repeated entries are added up last, so the arrays are made for all entries.
    SCHAAS_ASSIGN_OR_RETURN(crd_, array<Position>(entries));
    SCHAAS_ASSIGN_OR_RETURN(values_, array<Word>(entries));
    if (is_coo) {
      SCHAAS_RETURN_IF_ERROR(gather_rows());
    } else {
      rows_ = from_.order() == 1 ? 1 : from_.levels()[static_cast<std::size_t>(from_.order()) - 2].entries;
      SCHAAS_ASSIGN_OR_RETURN(pos_, array<Position>(rows_ + 1));
      copy(pos_, from_.levels().back().pos);
      copy(crd_, from_.levels().back().crd);
      copy(values_, from_.values());
    }
    sort_rows();
    return finish();
  }

 private:
  template <class T>
  Result<Buffer> array(std::int64_t count) const {
    return allocate(count, sizeof(T), what_, Buffer::Contents::any);
  }
  static void copy(Buffer& to, const Buffer& from) {
    std::copy_n(from.as<char>(), to.bytes(), to.as<char>());
  }

  // Counts the entries of each row and moves them to their row; entries of a row keep their order.
  Result<void> gather_rows() {
    rows_ = from_.extents()[static_cast<std::size_t>(from_.format().mode_order[0])];
    SCHAAS_ASSIGN_OR_RETURN(pos_, allocate(rows_ + 1, sizeof(Position), what_));
    const auto entries = static_cast<std::size_t>(from_.stored());
    const auto *row = from_.levels()[0].crd.template as<Position>(),
               *column = from_.levels()[1].crd.template as<Position>();
    const auto* const value = from_.values().template as<Word>();
    auto *const pos = pos_.template as<Position>(), *const crd = crd_.template as<Position>();
    auto* const values = values_.template as<Word>();
    for (std::size_t q = 0; q < entries; ++q) ++pos[row[q] + 1];
    std::partial_sum(pos, pos + rows_ + 1, pos);
    for (std::size_t q = 0; q < entries; ++q) {  // pos[r] becomes the end of row r
      const Position at = pos[row[q]]++;
      crd[at] = column[q];
      values[at] = value[q];
    }
    std::copy_backward(pos, pos + rows_, pos + rows_ + 1);
    pos[0] = 0;
    return {};
  }

  void sort_rows() {
    auto *const pos = pos_.template as<Position>(), *const crd = crd_.template as<Position>();
    auto* const values = values_.template as<Word>();
    bool repeats = false;
    for (std::int64_t r = 0; r < rows_; ++r) {
      Position *const begin = crd + pos[r], *const end = crd + pos[r + 1];
      sort_row(begin, values + pos[r], static_cast<std::size_t>(end - begin));
      repeats = repeats || std::adjacent_find(begin, end) != end;
    }
    entries_ = pos[rows_];
    if (repeats) for_type(from_.value_type(), [&](auto zero) { add_repeated<decltype(zero)>(); });
  }

  // Adds up repeated entries of sorted rows. Rows are compacted in the same pass: `kept` never passes `q`, so
  // nothing is overwritten before it is read.
  template <class Value>
  void add_repeated() {
    auto *const pos = pos_.template as<Position>(), *const crd = crd_.template as<Position>();
    auto* const values = values_.template as<Value>();
    Position kept = 0, end = 0;
    for (std::int64_t r = 0; r < rows_; ++r) {
      const Position begin = std::exchange(end, pos[r + 1]);
      const Position first = kept;
      for (Position q = begin; q < end; ++q) {
        if (kept > first && crd[kept - 1] == crd[q]) {
          values[kept - 1] += values[q];
          continue;
        }
        crd[kept] = crd[q];
        values[kept++] = values[q];
      }
      pos[r + 1] = kept;
    }
    entries_ = kept;
  }

  void sort_row(Position* crd, Word* values, std::size_t count) {
    if (std::is_sorted(crd, crd + count)) return;
    if (count > short_row) return sort_long_row(crd, values, count);
    Position unsorted[short_row];
    Word their[short_row];
    std::copy_n(crd, count, unsorted);
    std::copy_n(values, count, their);
    for (std::size_t n = 0; n < count; ++n) {
      std::size_t position = 0;
      for (std::size_t m = 0; m < n; ++m) position += static_cast<std::size_t>(unsorted[m] <= unsorted[n]);
      for (std::size_t m = n + 1; m < count; ++m)
        position += static_cast<std::size_t>(unsorted[m] < unsorted[n]);
      crd[position] = unsorted[n];
      values[position] = their[n];
    }
  }

  void sort_long_row(Position* crd, Word* values, std::size_t count) {
    row_.clear();
    for (std::size_t n = 0; n < count; ++n) row_.push_back({crd[n], values[n]});
    std::stable_sort(row_.begin(), row_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t n = 0; n < count; ++n) std::tie(crd[n], values[n]) = row_[n];
  }

  Result<PackedTensor> finish() {
    PackedTensorBuilder builder;
    builder.format = from_.format();
    builder.extents = from_.extents();
    builder.value_type = from_.value_type();
    builder.position_bits = from_.position_bits();
    builder.fill_value = from_.fill_value();
    // Entries that were added up leave room at the end of both arrays.
    crd_.resize(static_cast<std::size_t>(entries_) * sizeof(Position));
    values_.resize(static_cast<std::size_t>(entries_) * sizeof(Word));
    if (is_coo_) {
      SCHAAS_RETURN_IF_ERROR(add_coordinates(builder));
    } else {
      for (std::size_t l = 0; l + 1 < from_.levels().size(); ++l)
        builder.levels.push_back({{}, {}, from_.levels()[l].entries});
      builder.levels.push_back({std::move(pos_), std::move(crd_), entries_});
    }
    builder.values = std::move(values_);
    return std::move(builder).finish();
  }

  Result<void> add_coordinates(PackedTensorBuilder& builder) {
    SCHAAS_ASSIGN_OR_RETURN(Buffer ends, array<Position>(2));
    SCHAAS_ASSIGN_OR_RETURN(Buffer outer, array<Position>(entries_));
    ends.template as<Position>()[0] = 0;
    ends.template as<Position>()[1] = static_cast<Position>(entries_);
    const auto* const pos = std::as_const(pos_).template as<Position>();
    auto* const row = outer.template as<Position>();
    for (std::int64_t r = 0; r < rows_; ++r)
      std::fill(row + pos[r], row + pos[r + 1], static_cast<Position>(r));
    builder.levels.push_back({std::move(ends), std::move(outer), entries_});
    builder.levels.push_back({{}, std::move(crd_), entries_});
    return {};
  }

  const PackedTensor& from_;
  const std::string what_;
  bool is_coo_ = false;
  std::int64_t rows_ = 0, entries_ = 0;
  Buffer pos_, crd_, values_;
  std::vector<std::pair<Position, Word>> row_;
};

template <class Position>
Result<PackedTensor> sorted(const PackedTensor& tensor, const std::string& name, bool is_coo) {
  return for_width(tensor.value_type(),
                   [&](auto word) { return Sorting<Position, decltype(word)>(tensor, name).run(is_coo); });
}

}  // namespace

bool can_be_sorted(const schaas_tensor& view) {
  constexpr std::int64_t counted_extent = 16;  // times the entries; rows are counted
  // Counting the rows of a coo matrix costs its extent.
  constexpr std::int64_t few = std::int64_t{1} << 16;
  if (view.order == 0) return false;
  if (is_coo(view)) return view.extents[view.mode_order[0]] / counted_extent <= view.levels[1].entries + few;
  const schaas_level* const last = view.levels + view.order - 1;
  return last->format == SCHAAS_LEVEL_COMPRESSED &&
         std::all_of(view.levels, last,
                     [](const schaas_level& level) { return level.format == SCHAAS_LEVEL_DENSE; });
}

Result<PackedTensor> sorted_copy(const PackedTensor& tensor, const std::string& name) {
  const bool coo = is_coo(tensor.view());
  return tensor.position_bits() == 32 ? sorted<std::int32_t>(tensor, name, coo)
                                      : sorted<std::int64_t>(tensor, name, coo);
}

}  // namespace schaas::client
