#include <limits>

#include "allocate.h"
#include "result_storage.h"
#include "schaas/tensor.h"
#include "tensor_checks.h"

namespace schaas::client {
namespace {

// Depth-first over the levels, calling `visit` with the coordinates by mode and the position of each stored
// value.
template <class Visit>
class Walk {
 public:
  Walk(const PackedTensor& tensor, Visit visit)
      : tensor_(tensor), visit_(std::move(visit)), coordinates_(tensor.order(), 0) {}

  void run() { level(0, 0); }

 private:
  std::int64_t read(const Buffer& buffer, std::int64_t at) const {
    return tensor_.position_bits() == 32 ? buffer.as<std::int32_t>()[at] : buffer.as<std::int64_t>()[at];
  }

  void level(int l, std::int64_t parent) {
    if (l == tensor_.order()) {
      visit_(coordinates_, parent);
      return;
    }
    const int mode = tensor_.format().mode_order[l];
    const PackedTensor::Level& here = tensor_.levels()[l];
    if (tensor_.format().levels[l] == format::LevelFormat::dense) {
      const std::int64_t extent = tensor_.extents()[mode];
      for (std::int64_t c = 0; c < extent; ++c) {
        coordinates_[mode] = c;
        level(l + 1, parent * extent + c);
      }
      return;
    }
    if (format::is_singleton(tensor_.format().levels[l])) {
      coordinates_[mode] = read(here.crd, parent);
      level(l + 1, parent);
      return;
    }
    const std::int64_t end = read(here.pos, parent + 1);
    for (std::int64_t p = read(here.pos, parent); p < end; ++p) {
      coordinates_[mode] = read(here.crd, p);
      level(l + 1, p);
    }
  }

  const PackedTensor& tensor_;
  Visit visit_;
  std::vector<std::int64_t> coordinates_;
};

template <class Visit>
void walk(const PackedTensor& tensor, Visit visit) {
  if (tensor.stored() > 0) Walk<Visit>(tensor, std::move(visit)).run();
}

std::int64_t row_major(const std::vector<std::int64_t>& coordinates,
                       const std::vector<std::int64_t>& extents) {
  std::int64_t linear = 0;
  for (std::size_t m = 0; m < extents.size(); ++m) linear = linear * extents[m] + coordinates[m];
  return linear;
}

}  // namespace

CooTensor unpack(const PackedTensor& tensor) {
  CooTensor result;
  result.extents = tensor.extents();
  result.coordinates.resize(tensor.order());
  const bool keep_fill = tensor.order() == 0 || format::is_sparse(tensor.format().levels.back());
  walk(tensor, [&](const std::vector<std::int64_t>& coordinates, std::int64_t position) {
    const double value = tensor.value(position);
    if (value == tensor.fill_value() && !keep_fill) return;
    for (std::size_t m = 0; m < coordinates.size(); ++m) result.coordinates[m].push_back(coordinates[m]);
    result.values.push_back(value);
  });
  return result;
}

support::Result<DenseTensor> to_dense(const PackedTensor& tensor) {
  SCHAAS_ASSIGN_OR_RETURN(DenseTensor result, zeros(tensor.extents(), tensor.value_type()));
  if (tensor.fill_value() != 0)
    fill_values(result.values.data(), result.value_type, 0, result.size(), tensor.fill_value());
  walk(tensor, [&](const std::vector<std::int64_t>& coordinates, std::int64_t position) {
    result.set(row_major(coordinates, result.extents), tensor.value(position));
  });
  return result;
}

support::Result<DenseTensor> to_dense(const CooTensor& tensor, const std::string& tensor_name) {
  SCHAAS_RETURN_IF_ERROR(check_entries(tensor, tensor_name));
  SCHAAS_ASSIGN_OR_RETURN(DenseTensor result, zeros(tensor.extents, ValueType::f64));
  std::vector<std::int64_t> coordinates(tensor.order());
  for (std::size_t e = 0; e < tensor.entries(); ++e) {
    for (int m = 0; m < tensor.order(); ++m) coordinates[m] = tensor.coordinates[m][e];
    result.values.as<double>()[row_major(coordinates, tensor.extents)] += tensor.values[e];
  }
  return result;
}

CooTensor to_coo(const DenseTensor& tensor, double fill_value) {
  CooTensor result;
  result.extents = tensor.extents;
  result.coordinates.resize(tensor.order());
  const std::int64_t size = tensor.size();
  std::vector<std::int64_t> counter(tensor.order(), 0);
  for (std::int64_t linear = 0; linear < size; ++linear) {
    if (const double value = tensor.at(linear); value != fill_value || tensor.order() == 0) {
      for (int m = 0; m < tensor.order(); ++m) result.coordinates[m].push_back(counter[m]);
      result.values.push_back(value);
    }
    for (int m = tensor.order() - 1; m >= 0 && ++counter[m] == tensor.extents[m]; --m) counter[m] = 0;
  }
  return result;
}

int position_bits_for(const CooTensor& tensor, const format::TensorFormat& format) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  std::int64_t positions = 1;  // an upper bound on the positions of each level
  const auto entries = static_cast<std::int64_t>(tensor.entries());
  for (int l = 0; l < format.order(); ++l) {
    const std::int64_t extent = tensor.extents[format.mode_order[l]];
    if (extent > largest) return 64;
    if (format::is_sparse(format.levels[l])) {
      positions = entries;
    } else if (__builtin_mul_overflow(positions, extent, &positions)) {
      return 64;
    }
    if (positions > largest) return 64;
  }
  return 32;
}

}  // namespace schaas::client
