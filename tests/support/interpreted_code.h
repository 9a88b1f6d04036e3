#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/loop_ir/kernel.h"
#include "proto/kernel_abi.h"
#include "tests/support/interpreted_value.h"

/// Loop IR as closures over a frame, for interpreted_kernel.h. Follows "Semantics" of
/// compiler/loop_ir/README.md and shares no code with compiler/codegen.
namespace schaas::test_support {

/// A statement that does what the semantics of loop IR rule out, as an access outside an array. what():
/// array, index and count.
struct BrokenCode : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Operations of one or more calls.
struct InterpretedWork {
  double iterations = 0;  ///< of `for` loops and merges
  double leaves = 0;      ///< values folded or stored
  double steps = 0;       ///< comparisons of merges of lists; over a range an iteration has all of them
  double cleared = 0;     ///< elements of fills
  double loads = 0;       ///< values loaded
  double jumps = 0;       ///< loads and stores of values away from where the same statement was last
  double functions = 0;   ///< calls of exp, log and other costly functions
  void add(const InterpretedWork& other);
};

/// An array as a call sees it. `count`: elements that may be accessed.
struct ArrayView {
  void* data = nullptr;
  std::int64_t count = 0;
};

/// State of one call of a phase: a slot for each name, a view for each array, by number.
struct Frame {
  std::vector<std::int64_t> indices;
  std::vector<Value> values;
  std::vector<ArrayView> arrays;
  std::vector<std::int64_t> sites;  ///< index of the last access, by place in the code
  InterpretedWork work;
  bool overflow = false;  ///< a hash table is too full: the phase ends
  int clustered = 0;      ///< OccupyGroups met so far; every other one is told to be clustered
};

using IndexCode = std::function<std::int64_t(Frame&)>;
using ValueCode = std::function<Value(Frame&)>;
using StatementCode = std::function<void(Frame&)>;

/// Numbers of names and arrays, and the code of expressions.
class ExpressionCode {
 public:
  explicit ExpressionCode(const loop_ir::Kernel& kernel);

  struct Symbol {
    loop_ir::Type type = loop_ir::Type::index;
    std::size_t slot = 0;
    operators::Monoid monoid = operators::Monoid::sum;  ///< of an accumulator
  };
  const Symbol& declare(const std::string& name, loop_ir::Type type,
                        operators::Monoid monoid = operators::Monoid::sum);
  const Symbol& at(const std::string& name) const;
  /// Forgets at its end what was declared since its beginning, where `opens`.
  class Scope {
   public:
    Scope(ExpressionCode& names, bool opens) : names_(names) {
      if (opens) before_ = names.symbols_;
    }
    ~Scope() {
      if (before_) names_.symbols_ = std::move(*before_);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ExpressionCode& names_;
    std::optional<std::map<std::string, Symbol>> before_;
  };
  std::size_t array(const std::string& name) const;
  loop_ir::Element element(const std::string& name) const { return kernel_.arrays[array(name)].element; }
  loop_ir::Type type_of(const loop_ir::ExpressionPtr& expression) const;

  IndexCode index(const loop_ir::ExpressionPtr& expression) const;
  ValueCode value(const loop_ir::ExpressionPtr& expression) const;
  /// Element access of arrays of indices and of values, checked against the view's count.
  std::function<std::int64_t(Frame&, std::int64_t)> index_loader(const std::string& array) const;
  std::function<void(Frame&, std::int64_t, std::int64_t)> index_storer(const std::string& array) const;
  std::function<Value(Frame&, std::int64_t)> value_loader(const std::string& array) const;
  std::function<void(Frame&, std::int64_t, const Value&)> value_storer(const std::string& array) const;
  /// `costly`: the call counts among InterpretedWork::functions.
  ValueCode apply(operators::Function function, std::vector<ValueCode> arguments, bool costly) const;
  const ValueArithmetic& arithmetic() const { return arithmetic_; }

  const loop_ir::Kernel& kernel() const { return kernel_; }
  /// A frame with room for all names declared so far.
  Frame frame() const;

 private:
  IndexCode index_apply(const loop_ir::Apply& apply) const;
  IndexCode search(const loop_ir::Search& search) const;
  std::function<std::size_t(const Frame&, std::int64_t)> checked(const std::string& array) const;
  /// As checked(), of values: counts a jump where the access is not beside the last one of this place.
  std::function<std::size_t(Frame&, std::int64_t)> followed(const std::string& array) const;

  const loop_ir::Kernel& kernel_;
  /// Returns the type in which an array of values is stored.
  operators::ValueType stored_type(std::size_t number) const;
  ValueArithmetic arithmetic_;
  std::map<std::string, Symbol> symbols_;
  std::map<std::string, std::size_t> arrays_;
  std::size_t slots_ = 0;
  mutable std::size_t sites_ = 0;  ///< places in the code that access values
};

/// Code of a statement and of all inside; names of a block may be declared again outside of it.
StatementCode statement_code(const loop_ir::StatementPtr& statement, ExpressionCode& names);
/// Code of the statements for rows of sparse results (loop_ir/sparse_rows.h); null for another kind.
StatementCode sparse_row_code(const loop_ir::StatementPtr& statement, ExpressionCode& names);

}  // namespace schaas::test_support
