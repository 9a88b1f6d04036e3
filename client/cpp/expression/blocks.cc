#include "schaas/blocks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "client/cpp/tensor/result_storage.h"
#include "compiler/support/contains.h"

namespace schaas::client {
namespace {

using support::Result;

std::int64_t blocks_of(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }

/// Decides if results of a program may depend on elements beyond the extent of an index.
class Beyond {
 public:
  Beyond(const Program& program, const std::string& index) : program_(program), index_(index) {}

  bool is_seen() const {
    return std::any_of(program_.statements.begin(), program_.statements.end(), [&](const Statement& s) {
      return reduces(s.value) ||
             (!support::contains(s.result.indices, index_) && !vanishes_in_terms(s.value));
    });
  }

 private:
  bool is_argument(const std::string& tensor) const {
    return std::none_of(program_.statements.begin(), program_.statements.end(),
                        [&](const Statement& s) { return s.result.tensor == tensor; });
  }

  bool mentions(const Expression& value) const {
    const auto all = index_notation::operands(value);
    return std::any_of(all.begin(), all.end(),
                       [&](const Access& access) { return support::contains(access.indices, index_); });
  }

  /// Each term of the sum `value` that has the index, which is summed over it, is the semiring's zero there.
  bool vanishes_in_terms(const Expression& value) const {
    if (!mentions(value)) return true;
    if (const auto* call = std::get_if<Call>(&value.node)) {
      const auto function = call->function;
      if (function == Function::add || function == Function::subtract || function == Function::negate)
        return std::all_of(call->arguments.begin(), call->arguments.end(),
                           [&](const Expression& term) { return vanishes_in_terms(term); });
    }
    if (const auto* reduction = std::get_if<Reduction>(&value.node);
        reduction != nullptr && support::contains(reduction->indices, index_))
      return true;  // its own: `reduces` looks at it
    return vanishes(value);
  }

  /// The semiring's zero wherever the index is beyond its extent.
  bool vanishes(const Expression& value) const {
    if (const auto* access = std::get_if<Access>(&value.node))
      return support::contains(access->indices, index_) && is_argument(access->tensor);
    if (const auto* reduction = std::get_if<Reduction>(&value.node))
      return reduction->monoid == program_.semiring->sum && !support::contains(reduction->indices, index_) &&
             vanishes(reduction->body.front());
    const auto each = [&](const Expression& part) { return vanishes(part); };
    const auto& arguments = parts(value);
    if (std::holds_alternative<Product>(value.node))
      return std::any_of(arguments.begin(), arguments.end(), each);
    const auto* call = std::get_if<Call>(&value.node);
    if (call == nullptr) return false;
    switch (call->function) {
      case Function::add:
      case Function::subtract:
      case Function::negate:
        return std::all_of(arguments.begin(), arguments.end(), each);
      default:
        return false;
    }
  }

  /// Somewhere inside the index is reduced, explicitly, over what does not vanish.
  bool reduces(const Expression& value) const {
    if (const auto* reduction = std::get_if<Reduction>(&value.node)) {
      const Expression& body = reduction->body.front();
      const bool here = support::contains(reduction->indices, index_);
      return (here && (reduction->monoid != program_.semiring->sum || !vanishes_in_terms(body))) ||
             reduces(body);
    }
    return std::any_of(parts(value).begin(), parts(value).end(),
                       [&](const Expression& part) { return reduces(part); });
  }

  const Program& program_;
  const std::string& index_;
};

/// Copies the elements that two dense arrays have in common, row by row.
void copy_common(const DenseTensor& from, DenseTensor& to) {
  const auto order = from.extents.size();
  if (order == 0 || from.size() == 0 || to.size() == 0) {
    if (order == 0) std::memcpy(to.values.data(), from.values.data(), bytes_of(from.value_type));
    return;
  }
  const auto element = static_cast<std::int64_t>(bytes_of(from.value_type));
  const std::int64_t row = std::min(from.extents.back(), to.extents.back());
  std::vector<std::int64_t> at(order, 0);
  while (true) {
    std::int64_t source = 0, target = 0;
    for (std::size_t m = 0; m < order; ++m) {
      source = source * from.extents[m] + at[m];
      target = target * to.extents[m] + at[m];
    }
    std::memcpy(to.values.as<char>() + target * element,
                static_cast<const char*>(from.values.data()) + source * element,
                static_cast<std::size_t>(row * element));
    std::size_t m = order - 1;
    while (m > 0 && ++at[m - 1] == std::min(from.extents[m - 1], to.extents[m - 1])) at[--m] = 0;
    if (m == 0) return;
  }
}

}  // namespace

Result<Blocks> Blocks::of(const Program& program, const std::map<std::string, std::string>& formats) {
  Blocks blocks;
  std::vector<format::Reading> readings;
  for (const Statement& statement : program.statements) {
    readings.push_back({statement.result.tensor, statement.result.indices});
    for (const Access& access : index_notation::operands(statement.value))
      readings.push_back({access.tensor, access.indices});
  }
  SCHAAS_ASSIGN_OR_RETURN(blocks.blocking_, format::blocking(readings, formats));
  blocks.program_ = program;
  for (const auto& reading : readings) blocks.readings_.emplace(reading.tensor, reading);
  return blocks;
}

Result<void> Blocks::check_beyond(const std::string& index, std::int64_t extent) const {
  const int size = blocking_.indices.at(index).size;
  if (extent % size == 0 || !Beyond(program_, index).is_seen()) return {};
  return support::noting(
      support::invalid("block-extent", "index `" + index + "` has extent " + std::to_string(extent) +
                                           ", which is no multiple of its blocks of " + std::to_string(size) +
                                           ", and the statement would see the rest of the last block"),
      "only sums of products are blind to it: choose blocks that divide the extent, or csr");
}

Result<std::map<std::string, std::int64_t>> Blocks::extents(
    const std::map<std::string, std::int64_t>& given) const {
  auto out = given;
  for (const auto& [index, split] : blocking_.indices) {
    const auto known = given.find(index);
    if (known == given.end()) continue;
    SCHAAS_RETURN_IF_ERROR(check_beyond(index, known->second));
    out[split.block] = blocks_of(known->second, split.size);
    out[split.inside] = split.size;
  }
  return out;
}

format::TensorFormat Blocks::format(const std::string& tensor, const format::TensorFormat& given) const {
  const auto reading = readings_.find(tensor);
  return reading == readings_.end() ? given : blocking_.of(reading->second, given);
}

std::vector<std::int64_t> Blocks::extents(const std::string& tensor, std::vector<std::int64_t> given) const {
  const auto reading = readings_.find(tensor);
  if (reading == readings_.end()) return given;
  std::vector<std::int64_t> out;
  for (std::size_t mode = 0; mode < given.size(); ++mode) {
    const auto split = blocking_.indices.find(reading->second.indices[mode]);
    if (split == blocking_.indices.end()) {
      out.push_back(given[mode]);
    } else {
      out.insert(out.end(), {blocks_of(given[mode], split->second.size), split->second.size});
    }
  }
  if (blocking_.matrices.count(tensor) > 0) std::swap(out[1], out[2]);
  return out;
}

CooTensor Blocks::split(const std::string& tensor, const CooTensor& data) const {
  const auto reading = readings_.find(tensor);
  if (reading == readings_.end()) return data;
  CooTensor out;
  out.extents = extents(tensor, data.extents);
  out.values = data.values;
  out.integers = data.integers;
  out.imaginary = data.imaginary;
  out.value_type = data.value_type;
  for (std::size_t mode = 0; mode < data.coordinates.size(); ++mode) {
    const auto split = blocking_.indices.find(reading->second.indices[mode]);
    if (split == blocking_.indices.end()) {
      out.coordinates.push_back(data.coordinates[mode]);
      continue;
    }
    std::vector<std::int64_t> block, inside;
    for (const std::int64_t coordinate : data.coordinates[mode]) {
      block.push_back(coordinate / split->second.size);
      inside.push_back(coordinate % split->second.size);
    }
    out.coordinates.push_back(std::move(block));
    out.coordinates.push_back(std::move(inside));
  }
  if (blocking_.matrices.count(tensor) > 0) std::swap(out.coordinates[1], out.coordinates[2]);
  return out;
}

Result<DenseTensor> Blocks::split(const std::string& tensor, const DenseTensor& data) const {
  const auto reading = readings_.find(tensor);
  if (reading == readings_.end()) return copy(data);
  std::vector<std::int64_t> whole = data.extents;  // in the same modes, of whole blocks
  for (std::size_t mode = 0; mode < whole.size(); ++mode) {
    const auto split = blocking_.indices.find(reading->second.indices[mode]);
    if (split != blocking_.indices.end())
      whole[mode] = blocks_of(whole[mode], split->second.size) * split->second.size;
  }
  DenseTensor out;
  if (whole == data.extents) {
    out = copy(data);
  } else {
    SCHAAS_ASSIGN_OR_RETURN(out, zeros(whole, data.value_type));
    if (program_.semiring->zero != 0)
      fill_values(out.values.data(), out.value_type, 0, out.size(), program_.semiring->zero);
    copy_common(data, out);
  }
  out.extents = extents(tensor, data.extents);
  return out;
}

Result<PackedTensor> Blocks::joined(const std::string& tensor, const PackedTensor& result,
                                    const std::vector<std::int64_t>& extents,
                                    const format::TensorFormat& format) const {
  const PackOptions options{tensor, result.value_type(), result.position_bits(), result.fill_value()};
  const auto& indices = readings_.at(tensor).indices;
  if (const auto matrix = blocking_.matrices.find(tensor); matrix != blocking_.matrices.end()) {
    const CooTensor blocked = unpack(result);
    CooTensor entries;
    entries.extents = extents;
    entries.value_type = blocked.value_type;
    entries.coordinates.resize(2);
    for (std::size_t e = 0; e < blocked.entries(); ++e) {
      const std::int64_t row = blocked.coordinates[0][e] * matrix->second.rows + blocked.coordinates[2][e];
      const std::int64_t column =
          blocked.coordinates[1][e] * matrix->second.columns + blocked.coordinates[3][e];
      if (row >= extents[0] || column >= extents[1]) continue;
      entries.coordinates[0].push_back(row);
      entries.coordinates[1].push_back(column);
      if (is_integer(blocked.value_type)) {
        entries.integers.push_back(blocked.integers[e]);
      } else {
        entries.add_value(blocked.complex_at(e));
      }
    }
    return pack(entries, format, options);
  }
  SCHAAS_ASSIGN_OR_RETURN(DenseTensor whole, to_dense(result));
  std::vector<std::int64_t> modes;
  std::size_t mode = 0;
  for (const std::string& index : indices) {
    modes.push_back(whole.extents[mode++]);
    if (blocking_.indices.count(index) > 0) modes.back() *= whole.extents[mode++];
  }
  whole.extents = modes;
  if (modes == extents) return pack(whole, format, options);
  SCHAAS_ASSIGN_OR_RETURN(DenseTensor cut, zeros(extents, whole.value_type));
  copy_common(whole, cut);
  return pack(cut, format, options);
}

support::Result<void> check_without_blocks(const std::string& tensor, const std::string& format) {
  if (format::without_blocks(format) == format) return {};
  return support::unsupported("blocks", "`" + tensor + "` in `" + format +
                                            "`: tensors in memory cannot be bound in blocks; csr works");
}

}  // namespace schaas::client
