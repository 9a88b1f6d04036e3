#include "client/cpp/selection/list_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client/cpp/selection/merge_steps.h"

// Costs multiply mean lengths of lists. Where rows differ in length, that is far from the trips of nests that
// walk several lists. `A(i,k) = B(i,j) * B(j,k)` reaches row j once for each entry of column j. In a graph
// these are long rows more often than short ones. Two lists of one row are long together. And neighbours have
// more neighbours in common than chance gives them.
//
// So lists are looked at where loops reach them. An entry of a list that leads to others fixes two indices:
// its row's and its own. Entries are drawn by multiples of the golden ratio. Work is bounded, and each
// beginning of these is spread over all entries. Averages of pairs are exact up to the draw for two lists,
// and approximate for more.
namespace schaas::client {
namespace {

constexpr std::int64_t drawn_lengths = 4096, drawn_merges = 512;
/// Steps after which no more merges are drawn.
constexpr double max_steps = 1 << 16;

/// A list of an access.
struct List {
  WalkedLevel level;
  std::string row;       ///< index of its row; empty: the first level
  bool is_deep = false;  ///< below other compressed levels: it leads to rows and is no row
  const PackedTensor* tensor = nullptr;
};

/// Returns number `n` of `count` drawn things.
std::int64_t drawn(std::int64_t n, std::int64_t count) {
  constexpr double golden = 0.6180339887498949;
  const double at = (static_cast<double>(n) + 0.5) * golden;
  return std::min(static_cast<std::int64_t>((at - std::floor(at)) * static_cast<double>(count)), count - 1);
}

template <class Position>
struct ListArrays {
  explicit ListArrays(const List& list) {
    const auto& levels = list.tensor->levels();
    const PackedTensor::Level& level = levels[static_cast<std::size_t>(list.level.level)];
    pos = level.pos.as<Position>();
    crd = level.crd.as<Position>();
    entries = level.entries;
    rows = list.level.level == 0 ? 1 : levels[static_cast<std::size_t>(list.level.level) - 1].entries;
  }
  std::span<const Position> row(std::int64_t at) const {
    if (at < 0 || at >= rows) return {};
    return {crd + pos[at], crd + pos[at + 1]};
  }
  std::int64_t row_of(std::int64_t entry) const {
    return std::upper_bound(pos, pos + rows + 1, static_cast<Position>(entry)) - pos - 1;
  }

  const Position* pos = nullptr;
  const Position* crd = nullptr;
  std::int64_t entries = 0, rows = 0;
};

/// Finds the rows of lists at entries of a leading one, or, without one, at rows drawn evenly.
template <class Position>
class Draw {
 public:
  Draw(const List& first, const List* leading) : rows_(ListArrays<Position>(first).rows) {
    if (leading == nullptr) return;
    leading_ = leading;
    arrays_.emplace(*leading);
  }
  /// Rows of these lists follow from an entry.
  bool reaches(const List& list) const {
    return list.level.level == 0 ||
           (leading_ != nullptr && (list.row == leading_->row || list.row == leading_->level.index));
  }
  std::int64_t count() const { return arrays_ ? arrays_->entries : rows_; }
  std::int64_t row_of(const List& list, std::int64_t at) const {
    if (list.level.level == 0) return 0;
    if (!arrays_) return at;
    return list.row == leading_->level.index ? static_cast<std::int64_t>(arrays_->crd[at])
                                             : arrays_->row_of(at);
  }

 private:
  std::int64_t rows_ = 0;
  const List* leading_ = nullptr;
  std::optional<ListArrays<Position>> arrays_;
};

template <class Position>
double mean_length(const List& list, const List& leading) {
  const ListArrays<Position> rows(list);
  const Draw<Position> draw(list, &leading);
  const std::int64_t count = std::min(draw.count(), drawn_lengths);
  double sum = 0;
  for (std::int64_t n = 0; n < count; ++n)
    sum += static_cast<double>(rows.row(draw.row_of(list, drawn(n, draw.count()))).size());
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

/// Merges two rows as kernels do.
template <class Position>
MergedLists::Mean merged(std::span<const Position> a, std::span<const Position> b) {
  if (a.size() > b.size()) std::swap(a, b);
  MergedLists::Mean merge;
  const auto shorter = static_cast<double>(a.size()), longer = static_cast<double>(b.size());
  if (skips(shorter, longer)) {
    for (const Position coordinate : a) merge.matches += std::binary_search(b.begin(), b.end(), coordinate);
    merge.steps = skipping_steps(shorter, longer);
    return merge;
  }
  for (std::size_t m = 0, n = 0; m < a.size() && n < b.size(); ++merge.steps) {
    const bool is_first = a[m] <= b[n], is_second = b[n] <= a[m];
    merge.matches += is_first && is_second;
    m += is_first;
    n += is_second;
  }
  return merge;
}

template <class Position>
MergedLists::Mean mean_merge(const List& a, const List& b, const Draw<Position>& draw) {
  const ListArrays<Position> first(a), second(b);
  MergedLists::Mean sum;
  std::int64_t count = 0;
  for (; count < std::min(draw.count(), drawn_merges) && sum.steps < max_steps; ++count) {
    const std::int64_t at = drawn(count, draw.count());
    const auto one = merged(first.row(draw.row_of(a, at)), second.row(draw.row_of(b, at)));
    sum.matches += one.matches;
    sum.steps += one.steps;
  }
  if (count == 0) return {};
  return {sum.matches / static_cast<double>(count), sum.steps / static_cast<double>(count)};
}

/// Adds the compressed levels of an access.
void add_lists(const Access& access, const PackedTensor& tensor, std::vector<List>& lists) {
  const format::TensorFormat& format = tensor.format();
  if (tensor.on_device() || tensor.order() != static_cast<int>(access.indices.size())) return;
  const auto index = [&](int level) {
    return access.indices[static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(level)])];
  };
  for (int level = 0; level < tensor.order(); ++level) {
    if (format.levels[static_cast<std::size_t>(level)] != format::LevelFormat::compressed) continue;
    const bool is_row = level == 1 && format.levels[0] == format::LevelFormat::dense;
    lists.push_back(
        {{access.tensor, level, index(level)}, is_row ? index(0) : "", level > 0 && !is_row, &tensor});
  }
}

template <class Position>
void add_lengths(const List& list, const std::vector<List>& lists, ListStatistics& statistics) {
  if (list.row.empty()) return;
  for (const List& leading : lists) {
    if (leading.level == list.level) continue;
    const bool beside = leading.row == list.row;
    if (!beside && leading.level.index != list.row) continue;
    // Accesses that differ in their rows alone are one list in costs: rows that coordinates reach go first.
    auto& length =
        statistics.lengths.try_emplace({list.level, leading.level}, ListStatistics::Length{0, true})
            .first->second;
    if (length.beside) length = {mean_length<Position>(list, leading), beside};
  }
}

template <class Position>
double entries_of_all(const List& a, const List& b) {
  return static_cast<double>(ListArrays<Position>(a).entries + ListArrays<Position>(b).entries);
}

template <class Position>
void add_merges(const List& a, const List& b, const std::vector<List>& lists, ListStatistics& statistics) {
  if (a.is_deep || b.is_deep || a.level.index != b.level.index) return;
  // Without a leading list both rows are one, or one list is no row. To merge two whole tensors may take
  // long.
  const bool is_short = !a.row.empty() || !b.row.empty() || entries_of_all<Position>(a, b) <= max_steps;
  if (is_short && (a.row == b.row || a.row.empty() || b.row.empty())) {
    const Draw<Position> draw(a.row.empty() ? b : a, nullptr);
    statistics.merges[MergedLists::of(a.level, b.level)] = mean_merge(a, b, draw);
  }
  for (const List& leading : lists) {
    const Draw<Position> draw(a, &leading);
    if (leading.level == a.level || leading.level == b.level || leading.level.index == a.level.index)
      continue;
    if (draw.reaches(a) && draw.reaches(b) && (!a.row.empty() || !b.row.empty()))
      statistics.merges[MergedLists::of(a.level, b.level, leading.level)] = mean_merge(a, b, draw);
  }
}

template <class Position>
ListStatistics statistics_of(const std::vector<List>& lists) {
  ListStatistics statistics;
  for (std::size_t n = 0; n < lists.size(); ++n) {
    add_lengths<Position>(lists[n], lists, statistics);
    for (std::size_t m = 0; m < n; ++m) add_merges<Position>(lists[m], lists[n], lists, statistics);
  }
  return statistics;
}

}  // namespace

ListStatistics list_statistics(const Program& program,
                               const std::function<const PackedTensor*(const std::string&)>& tensor_named) {
  std::vector<List> lists;
  int bits = 0;
  for (const Access& access : operands(program)) {
    const PackedTensor* tensor = tensor_named(access.tensor);
    if (tensor == nullptr || (bits != 0 && tensor->position_bits() != bits)) continue;
    add_lists(access, *tensor, lists);
    if (!lists.empty()) bits = tensor->position_bits();
  }
  return bits == 32 ? statistics_of<std::int32_t>(lists) : statistics_of<std::int64_t>(lists);
}

void add_statistics(const Program& program, const std::map<std::string, PackedTensor*>& operands,
                    Sizes& sizes) {
  // A product with one other operand forms nothing before its entries are walked.
  const bool counted = operands.size() > 2;
  for (const auto& [name, tensor] : operands) sizes.occupied[name] = occupied_coordinates(*tensor, counted);
  sizes.lists = list_statistics(program, [&](const std::string& name) {
    const auto found = operands.find(name);
    return found == operands.end() ? nullptr : found->second;
  });
}

}  // namespace schaas::client
