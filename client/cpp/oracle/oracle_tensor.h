#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/oracle/oracle_arithmetic.h"
#include "schaas/tensor.h"

namespace schaas::client {

/// Row-major number of an element; extents of sparse tensors multiply beyond 64 bits.
__extension__ using Wide = unsigned __int128;

/// Types in which the values of an operand are stored, and computed with.
struct OracleTypes {
  ValueType stored = ValueType::f64, computed = ValueType::f64;
};

/// A tensor as the oracle reads it: an operand, or what it computed. Dense, or entries with a value for all
/// that is not among them. Immutable when built; any number of threads may read.
class OracleTensor {
 public:
  /// Reads the tensor where it stands; it must outlive this. Values are rounded to the type they are stored
  /// in.
  static std::shared_ptr<const OracleTensor> dense(const DenseTensor& tensor, OracleTypes types);
  /// Duplicates are added up, integers with wrap-around. `zero` is what is not stored.
  static std::shared_ptr<const OracleTensor> entries(const CooTensor& tensor, double zero, OracleTypes types);
  static std::shared_ptr<const OracleTensor> computed_dense(std::vector<std::int64_t> extents,
                                                            std::vector<Judged> values);
  /// Keys ascending.
  static std::shared_ptr<const OracleTensor> computed_entries(std::vector<std::int64_t> extents,
                                                              std::vector<Wide> keys,
                                                              std::vector<Judged> values, Judged background);

  const std::vector<std::int64_t>& extents() const { return extents_; }
  bool sparse() const { return sparse_; }
  const Judged& background() const { return background_; }
  /// A product or quotient is 0 where a factor or the dividend is not stored, whatever the rest is. Computed
  /// tensors are dense to some kernels, which find 0 / 0 and 0 * inf there. They are not where few of many
  /// elements are entries.
  bool annihilates() const { return annihilates_; }
  const std::vector<Wide>& keys() const { return keys_; }  ///< entries of a sparse tensor, ascending
  std::size_t size() const { return sparse_ ? keys_.size() : static_cast<std::size_t>(elements_); }

  /// Returns the position of the element with this key, or -1 when it is not stored.
  std::int64_t find(Wide key) const;
  /// Position of the last key, or of its insertion, among the entries. Walks mostly continue from there.
  struct Near {
    std::size_t position = 0;
    int jumps = 0;  ///< weighs steps back against steps ahead; with too many nothing is near
  };
  /// The same, looking ahead from `near`, which it moves.
  std::int64_t find(Wide key, Near& near) const;
  /// The value at a position: an entry's number, or of dense tensors the key itself.
  Judged at(std::int64_t position) const;

 private:
  Judged integer(std::int64_t value) const;
  void index_keys();
  bool has_few_entries() const;
  void add_entry(const CooTensor& tensor, std::size_t entry, bool again);

  std::vector<std::int64_t> extents_;
  std::int64_t elements_ = 0;
  bool sparse_ = false;
  bool annihilates_ = true;
  OracleTypes types_;
  const DenseTensor* read_ = nullptr;
  std::vector<Judged> values_;
  std::vector<double> given_;                 ///< values of entries read, instead of values_
  std::vector<std::int64_t> given_integers_;  ///< the same of an integer type
  std::vector<double> given_imaginary_;       ///< imaginary parts of `given_`, of a complex type
  Judged background_;
  std::vector<Wide> keys_;
  std::vector<std::int64_t> slots_;  ///< open addressing: position + 1; 0 is free
};

std::uint64_t hash_of(Wide key);
/// Step in the key for one more in each mode.
std::vector<Wide> row_major_strides(const std::vector<std::int64_t>& extents);

}  // namespace schaas::client
