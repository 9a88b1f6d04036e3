#include "compiler/format/blocks.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "compiler/support/limits.h"

// Rewrites indices of blocked matrices as pairs, block and offset inside. Sizes start at the indices of
// `bcsr` accesses and spread to every index that stands at the same mode of some tensor, until nothing
// changes. This least fixed point is reached after at most one round for each index. Two sizes for one index
// are an error. Sparse tensors without blocks cannot have a split index: none of their levels holds blocks.
// Compiler and client both compute this and must agree on the names. Indices are therefore split in the order
// of their names, and fresh names depend on the program alone.
namespace schaas::format {
namespace {

using support::Diagnostic;
using support::Result;

constexpr int largest_block = 256;
constexpr std::string_view name = "bcsr(";

Diagnostic whole(Diagnostic d, const std::string& tensor, const std::string& text) {
  return support::at(std::move(d), "format of " + tensor, text, {0, static_cast<std::uint32_t>(text.size())});
}

/// Small letters, no blanks.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isspace(letter) == 0) out += static_cast<char>(std::tolower(letter));
  }
  return out;
}

bool is_blocked(const std::string& text) { return plain(text).rfind(name, 0) == 0; }

/// "4,2)" as two numbers.
std::optional<std::pair<int, int>> two_numbers(std::string_view text) {
  std::pair<int, int> out;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, out.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, out.second);
  if (second.ec != std::errc() || second.ptr + 1 != end || *second.ptr != ')') return std::nullopt;
  return out;
}

/// Reads `bcsr(rows,columns)` of one access: sizes from 1 to 256, of a matrix.
Result<BlockSizes> sizes_of(const Reading& reading, const std::string& text) {
  const std::string letters = plain(text);
  const auto numbers = two_numbers(std::string_view(letters).substr(name.size()));
  if (!numbers) {
    return whole(support::invalid("format-syntax", "the format of `" + reading.tensor +
                                                       "` should read `bcsr(rows,columns)`, as in "
                                                       "`bcsr(4,4)`"),
                 reading.tensor, text);
  }
  for (const int size : {numbers->first, numbers->second}) {
    if (size >= 1 && size <= largest_block) continue;
    return whole(support::invalid("block-size", "a block of `" + reading.tensor + "` has 1 to " +
                                                    std::to_string(largest_block) +
                                                    " rows and columns; found " + std::to_string(size)),
                 reading.tensor, text);
  }
  if (reading.indices.size() != 2) {
    return whole(
        support::invalid("format-rank", "`bcsr(rows,columns)` is for matrices, but `" + reading.tensor +
                                            "` has " + std::to_string(reading.indices.size()) +
                                            (reading.indices.size() == 1 ? " index" : " indices")),
        reading.tensor, text);
  }
  return BlockSizes{numbers->first, numbers->second};
}

class Splitting {
 public:
  Splitting(const std::vector<Reading>& readings, const std::map<std::string, std::string>& formats)
      : readings_(readings), formats_(formats) {}

  Result<Blocking> run() {
    SCHAAS_RETURN_IF_ERROR(read_sizes());
    if (out_.empty()) return out_;
    bool more = true;
    while (more) {
      more = false;
      SCHAAS_RETURN_IF_ERROR(spread(more));
    }
    SCHAAS_RETURN_IF_ERROR(check_sparse());
    return named();
  }

 private:
  struct Found {
    int size = 1;
    std::string because;  ///< the tensor
  };

  /// Takes the sizes from the formats of blocked matrices, for each of their accesses.
  Result<void> read_sizes() {
    for (const Reading& reading : readings_) {
      const auto format = formats_.find(reading.tensor);
      if (format == formats_.end() || !is_blocked(format->second)) continue;
      SCHAAS_ASSIGN_OR_RETURN(const BlockSizes sizes, sizes_of(reading, format->second));
      out_.matrices[reading.tensor] = sizes;
      bool changed = false;
      SCHAAS_RETURN_IF_ERROR(split(reading.indices[0], {sizes.rows, reading.tensor}, changed));
      SCHAAS_RETURN_IF_ERROR(split(reading.indices[1], {sizes.columns, reading.tensor}, changed));
    }
    return {};
  }

  /// Notes the size of an index; `changed` when it had none.
  Result<void> split(const std::string& index, const Found& found, bool& changed) {
    const auto [known, first] = sizes_.emplace(index, found);
    changed = changed || first;
    if (known->second.size == found.size) return {};
    return support::noting(
        support::invalid("block-conflict",
                         "index `" + index + "` runs in blocks of " + std::to_string(known->second.size) +
                             " by the format of `" + known->second.because + "` and of " +
                             std::to_string(found.size) + " by that of `" + found.because + "`"),
        "formats of matrices that share an index give it blocks of one size");
  }

  /// Indices at the same mode of one tensor are split alike: the tensor has one shape.
  Result<void> spread(bool& changed) {
    for (const Reading& one : readings_) {
      for (const Reading& other : readings_) {
        if (one.tensor != other.tensor) continue;
        const std::size_t modes = std::min(one.indices.size(), other.indices.size());
        for (std::size_t mode = 0; mode < modes; ++mode) {
          const auto known = sizes_.find(one.indices[mode]);
          if (known == sizes_.end()) continue;
          const Found found = known->second;
          SCHAAS_RETURN_IF_ERROR(split(other.indices[mode], found, changed));
        }
      }
    }
    return {};
  }

  /// Refuses sparse tensors with a split index that are not blocked themselves.
  Result<void> check_sparse() const {
    for (const Reading& reading : readings_) {
      const auto text = formats_.find(reading.tensor);
      if (text == formats_.end() || out_.matrices.count(reading.tensor) > 0) continue;
      SCHAAS_ASSIGN_OR_RETURN(const TensorFormat format,
                              parse(text->second, static_cast<int>(reading.indices.size()), reading.tensor));
      if (format.all_dense()) continue;
      for (const std::string& index : reading.indices) {
        const auto found = sizes_.find(index);
        if (found == sizes_.end()) continue;
        const std::string way =
            reading.indices.size() == 2 ? "`bcsr` with blocks of the same size, or dense" : "dense";
        return whole(
            support::noting(
                support::unsupported("block-format", "`" + reading.tensor + "` is sparse and has index `" +
                                                         index + "`, which runs in blocks of " +
                                                         std::to_string(found->second.size) +
                                                         " by the format of `" + found->second.because + "`"),
                "declare `" + reading.tensor + "` " + way + ", or `" + found->second.because + "` csr"),
            reading.tensor, text->second);
      }
    }
    return {};
  }

  /// Names the parts of split indices, without names that the program has.
  Result<Blocking> named() {
    std::set<std::string> names, indices;
    for (const Reading& reading : readings_) {
      names.insert(reading.tensor);
      indices.insert(reading.indices.begin(), reading.indices.end());
    }
    names.insert(indices.begin(), indices.end());
    // Half of the longest name leaves room for endings; underscores make the name new.
    const auto fresh = [&](const std::string& index, const char* ending) {
      std::string text = index.substr(0, support::Limits::name_bytes / 2) + ending;
      while (!names.insert(text).second) text += '_';
      return text;
    };
    for (const auto& [index, found] : sizes_) {
      SplitIndex split{found.size, fresh(index, "_block"), fresh(index, "_in")};
      out_.indices.emplace(index, std::move(split));
    }
    return check_limits(indices.size() + sizes_.size());
  }

  /// Checks the limits of later stages again: splitting adds indices and modes.
  Result<Blocking> check_limits(std::size_t indices) const {
    using support::Limits;
    const auto too_many = [](const std::string& what, std::size_t limit) {
      return support::unsupported("too-many-indices",
                                  "with one index for blocks and one inside them for each that runs in "
                                  "blocks " +
                                      what + "; at most " + std::to_string(limit) +
                                      " are supported: declare the matrices csr");
    };
    if (indices > Limits::indices)
      return too_many("the program has " + std::to_string(indices) + " index variables", Limits::indices);
    for (const Reading& reading : readings_) {
      const std::size_t modes = out_.of(reading).indices.size();
      if (modes > Limits::order)
        return too_many("`" + reading.tensor + "` has " + std::to_string(modes) + " modes", Limits::order);
    }
    return out_;
  }

  const std::vector<Reading>& readings_;
  const std::map<std::string, std::string>& formats_;
  std::map<std::string, Found> sizes_;  ///< by index
  Blocking out_;
};

}  // namespace

std::vector<std::string> Blocking::of(const std::vector<std::string>& given) const {
  std::vector<std::string> out;
  for (const std::string& index : given) {
    const auto split = indices.find(index);
    if (split == indices.end()) {
      out.push_back(index);
    } else {
      out.insert(out.end(), {split->second.block, split->second.inside});
    }
  }
  return out;
}

Reading Blocking::of(const Reading& reading) const {
  std::vector<std::string> split = of(reading.indices);
  // Both block indices stand before both inner ones, in the order of the levels.
  if (matrices.count(reading.tensor) > 0) std::swap(split[1], split[2]);
  return {reading.tensor, std::move(split)};
}

TensorFormat Blocking::of(const Reading& reading, const TensorFormat& given) const {
  using enum LevelFormat;
  if (matrices.count(reading.tensor) > 0) return {{dense, compressed, dense, dense}, {0, 1, 2, 3}};
  std::vector<int> first;  // first of the modes that each mode becomes
  // Both parts of a split mode are neighbouring levels, so a dense tensor lies in memory as before.
  int modes = 0;
  for (const std::string& index : reading.indices) {
    first.push_back(modes);
    modes += indices.count(index) > 0 ? 2 : 1;
  }
  TensorFormat out;
  out.values = given.values;
  for (std::size_t level = 0; level < given.levels.size(); ++level) {
    const auto mode = static_cast<std::size_t>(given.mode_order[level]);
    const bool split = indices.count(reading.indices[mode]) > 0;
    for (int part = 0; part < (split ? 2 : 1); ++part) {
      out.levels.push_back(given.levels[level]);
      out.mode_order.push_back(first[mode] + part);
    }
  }
  return out;
}

std::string without_blocks(const std::string& format) { return is_blocked(format) ? "csr" : format; }

Result<Blocking> blocking(const std::vector<Reading>& readings,
                          const std::map<std::string, std::string>& formats) {
  return Splitting(readings, formats).run();
}

}  // namespace schaas::format
