#include "client/cpp/oracle/oracle_product.h"

#include <algorithm>
#include <list>

#include "client/cpp/oracle/oracle_program.h"
#include "client/cpp/oracle/oracle_run.h"
#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/tensor_checks.h"

// Evaluates a product of tensors by walking the stored entries of the driver in order of its coordinates. The
// driver is the sparse factor with the most entries; other factors are looked up. Each is multiplied at the
// depth of the driver where it costs least (oracle_program.h), so that sums leave inner loops.
//
// Invariants: the evaluation shares no code with the search and the lowering that it verifies. Magnitudes are
// computed by the same walk over absolute values.
namespace schaas::client {
namespace {

using ExtentOf = std::map<std::string, std::int64_t>;

const std::vector<std::int64_t>& extents_of_operand(const OracleOperand& operand) {
  return std::visit([](const auto* tensor) -> const std::vector<std::int64_t>& { return tensor->extents; },
                    operand);
}

// Removes what a repeated index rules out: B(i,i) keeps the diagonal as one mode.
CooTensor distinct_modes(const CooTensor& tensor, const std::vector<std::string>& indices,
                         const std::vector<std::string>& wanted) {
  CooTensor result;
  result.coordinates.resize(wanted.size());
  std::vector<int> target;
  for (const auto& index : indices) {
    target.push_back(static_cast<int>(std::find(wanted.begin(), wanted.end(), index) - wanted.begin()));
  }
  for (const auto& index : wanted) {
    result.extents.push_back(
        tensor.extents[std::find(indices.begin(), indices.end(), index) - indices.begin()]);
  }
  std::vector<std::int64_t> at(wanted.size());
  for (std::size_t e = 0; e < tensor.entries(); ++e) {
    std::fill(at.begin(), at.end(), -1);
    bool agrees = true;
    for (std::size_t m = 0; m < indices.size(); ++m) {
      const std::int64_t c = tensor.coordinates[m][e];
      agrees = agrees && (at[target[m]] < 0 || at[target[m]] == c);
      at[target[m]] = c;
    }
    if (!agrees) continue;
    for (std::size_t w = 0; w < wanted.size(); ++w) result.coordinates[w].push_back(at[w]);
    result.values.push_back(tensor.values[e]);
  }
  return result;
}

class ProductEvaluation {
 public:
  ProductEvaluation(const OracleProduct& product, const std::map<std::string, OracleOperand>& operands,
                    std::int64_t memory_limit)
      : product_(product), operands_(operands), memory_limit_(memory_limit) {}

  support::Result<Expected> run() {
    SCHAAS_RETURN_IF_ERROR(bind_extents());
    choose_driver();
    SCHAAS_RETURN_IF_ERROR(bind_factors());
    const OracleProgram program = compose();
    std::vector<std::int64_t> extents;
    for (const auto& index : product_.result.indices) extents.push_back(shape_.extents.at(index));
    const auto size = checked_product(extents);
    const double needed =
        (size ? static_cast<double>(*size) : 1e19) * 16 + static_cast<double>(program.largest) * 8;
    if (needed > static_cast<double>(memory_limit_)) {
      return support::unsupported("oracle-size", "verifying needs " + bytes_text(needed) + "; at most " +
                                                     bytes_text(static_cast<double>(memory_limit_)) +
                                                     " are used");
    }
    SCHAAS_ASSIGN_OR_RETURN(DenseTensor values, zeros(extents, ValueType::f64));
    SCHAAS_ASSIGN_OR_RETURN(DenseTensor magnitudes, zeros(extents, ValueType::f64));
    input_.program = &program;
    input_.semiring = product_.semiring;
    if (size && *size > 0) {
      std::fill_n(values.values.as<double>(), *size, product_.semiring->zero);
      run_oracle(input_, values.values.as<double>());
      input_.magnitudes = true;
      run_oracle(input_, magnitudes.values.as<double>());
    }
    return Expected{std::move(values), std::move(magnitudes), std::nullopt};
  }

 private:
  support::Result<void> bind_extents() {
    for (const auto& access : product_.operands) {
      const auto it = operands_.find(access.tensor);
      if (it == operands_.end()) return bad_operand("there is no tensor for `" + access.tensor + "`");
      const auto& extents = extents_of_operand(it->second);
      if (extents.size() != access.indices.size()) {
        return bad_operand("`" + access.tensor + "` has " + std::to_string(extents.size()) + " modes but " +
                           std::to_string(access.indices.size()) + " indices");
      }
      for (std::size_t m = 0; m < extents.size(); ++m) {
        const auto [known, is_new] = shape_.extents.emplace(access.indices[m], extents[m]);
        if (!is_new && known->second != extents[m]) {
          return bad_operand("index `" + access.indices[m] + "` has extent " + std::to_string(extents[m]) +
                             " in `" + access.tensor + "` but " + std::to_string(known->second) +
                             " elsewhere");
        }
      }
    }
    for (const auto& index : product_.result.indices) {
      if (shape_.extents.count(index) == 0)
        return bad_operand("result index `" + index + "` occurs in no operand");
      if (std::find(shape_.result_indices.begin(), shape_.result_indices.end(), index) ==
          shape_.result_indices.end()) {
        shape_.result_indices.push_back(index);
      }
    }
    return {};
  }

  const CooTensor* sparse(std::size_t operand) const {
    const auto& held = operands_.at(product_.operands[operand].tensor);
    const auto* const* tensor = std::get_if<const CooTensor*>(&held);
    return tensor == nullptr ? nullptr : *tensor;
  }

  // The sparse operand with most entries. Its result indices come first: partial results can be summed below
  // them.
  void choose_driver() {
    for (std::size_t o = 0; o < product_.operands.size(); ++o) {
      const CooTensor* tensor = sparse(o);
      if (tensor == nullptr) continue;
      if (driver_ < 0 || tensor->entries() > sparse(driver_)->entries()) driver_ = static_cast<int>(o);
    }
    if (driver_ < 0) {
      shape_.visits = {1};
      return;
    }
    const auto& indices = product_.operands[driver_].indices;
    for (const bool of_result : {true, false}) {
      for (const auto& index : indices) {
        const bool in_result =
            std::count(shape_.result_indices.begin(), shape_.result_indices.end(), index) > 0;
        const bool seen = std::count(shape_.driver.begin(), shape_.driver.end(), index) > 0;
        if (in_result == of_result && !seen) shape_.driver.push_back(index);
      }
    }
    driver_tensor_ = distinct_modes(*sparse(driver_), indices, shape_.driver);
    std::vector<int> order;
    for (std::size_t d = 0; d < shape_.driver.size(); ++d) order.push_back(static_cast<int>(d));
    sorted_.emplace(driver_tensor_, order);
    input_.driver = &*sorted_;
    count_visits();
  }

  void count_visits() {
    const int depths = static_cast<int>(shape_.driver.size());
    std::vector<std::int64_t> prefixes(depths + 1, 0);
    prefixes[0] = 1;
    for (std::size_t e = 0; e < sorted_->size(); ++e) {
      int differs = 0;  // the first level at which entry e differs from its predecessor
      while (e > 0 && differs < depths &&
             sorted_->coordinate(differs, e) == sorted_->coordinate(differs, e - 1))
        ++differs;
      for (int d = differs; d < depths; ++d) ++prefixes[d + 1];
    }
    shape_.visits.assign(prefixes.begin(), prefixes.end());
  }

  StridedAccess strided(const std::vector<std::string>& indices) const {
    StridedAccess access;
    std::int64_t stride = 1;
    for (auto it = indices.rbegin(); it != indices.rend(); ++it) {
      access.strides[*it] += stride;
      if (__builtin_mul_overflow(stride, shape_.extents.at(*it), &stride))
        stride = 0;  // refused by size later
    }
    for (std::size_t d = 0; d < shape_.driver.size(); ++d) {
      const auto it = access.strides.find(shape_.driver[d]);
      access.driver_strides.push_back(it == access.strides.end() ? 0 : it->second);
      if (it != access.strides.end()) access.bound_at = static_cast<int>(d) + 1;
    }
    return access;
  }

  // Sparse operands beside the driver are looked up when the driver binds all their indices, else made dense.
  support::Result<void> bind_factors() {
    for (std::size_t o = 0; o < product_.operands.size(); ++o) {
      if (static_cast<int>(o) == driver_) continue;
      const auto& access = product_.operands[o];
      const CooTensor* tensor = sparse(o);
      if (tensor != nullptr && bind_lookup(*tensor, access.indices)) continue;
      const DenseTensor* factor = nullptr;
      if (tensor == nullptr) {
        factor = std::get<const DenseTensor*>(operands_.at(access.tensor));
      } else {
        SCHAAS_ASSIGN_OR_RETURN(factor, densify(*tensor, access.tensor));
      }
      input_.factors.push_back(factor);
      input_.accesses.push_back(strided(access.indices));
    }
    input_.result = strided(product_.result.indices);
    shape_.factors = input_.accesses;
    return {};
  }

  bool bind_lookup(const CooTensor& tensor, const std::vector<std::string>& indices) {
    OracleInput::Lookup lookup{};
    for (const auto& index : indices) {
      const auto it = std::find(shape_.driver.begin(), shape_.driver.end(), index);
      if (it == shape_.driver.end()) return false;
      lookup.depth_of_mode.push_back(static_cast<int>(it - shape_.driver.begin()));
    }
    tables_.emplace_back(tensor);
    lookup.table = &tables_.back();
    input_.lookups.push_back(std::move(lookup));
    return true;
  }

  support::Result<const DenseTensor*> densify(const CooTensor& tensor, const std::string& tensor_name) {
    const auto size = checked_product(tensor.extents);
    if (!size || *size > memory_limit_ / 8) {
      return support::unsupported("oracle-size", "verifying would make the sparse tensor `" + tensor_name +
                                                     "` dense, more than " +
                                                     bytes_text(static_cast<double>(memory_limit_)));
    }
    SCHAAS_ASSIGN_OR_RETURN(DenseTensor dense, to_dense(tensor, tensor_name, product_.semiring->zero));
    densified_.push_back(std::move(dense));
    return &densified_.back();
  }

  OracleProgram compose() const { return oracle_program(shape_); }

  const OracleProduct& product_;
  const std::map<std::string, OracleOperand>& operands_;
  std::int64_t memory_limit_;
  int driver_ = -1;
  CooTensor driver_tensor_;
  std::optional<SortedEntries> sorted_;
  std::list<SparseLookup> tables_;
  std::list<DenseTensor> densified_;
  OracleShape shape_;
  OracleInput input_;
};

}  // namespace

support::Result<Expected> evaluate_product(const OracleProduct& product,
                                           const std::map<std::string, OracleOperand>& operands,
                                           std::int64_t memory_limit) {
  return ProductEvaluation(product, operands, memory_limit).run();
}

}  // namespace schaas::client
