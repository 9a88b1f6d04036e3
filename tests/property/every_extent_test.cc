// Vector loops whose extents are no multiple of a register compute what the oracle says, at every extent: the
// last register overlaps the one before it, that of a sum is loaded in part, and gathered sums mask what they
// read beyond the end of a row (compiler/codegen/c_vector_loops.cc, c_gathered_sums.cc).
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "schaas/kernel.h"
#include "schaas/oracle.h"
#include "tests/support/compiled_kernel.h"

namespace schaas {
namespace {

using client::CooTensor;
using client::PackedTensor;
using client::ValueType;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Case {
  const char* statement;
  std::map<std::string, std::string> formats;
  const char* schedule = "linear";
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"A(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}}},
      {"A(i,j) = B(i,j) * C(i,k) * D(j,k)", {{"A", "csr"}, {"B", "csr"}}},
      {"A(i,j) = B(i,j) * (C(i,k) + 1) * D(j,k)", {{"A", "csr"}, {"B", "csr"}}},
      {"A(i,j) = B(i,j) * sum(k)(C(i,k) <= D(j,k))", {{"A", "csr"}, {"B", "csr"}}},
      {"A(i,k) = B(i,j) * C(i,k) * D(j,k)", {{"B", "csr"}}},
      {"A(i,k) = B(i,j) * C(j,l) * D(l,k)", {{"B", "csr"}}, "reorder(path={}, order={i,j,k,l})"},
      {"A(i,k) = B(i,j) * C(i,l) * D(j,l) * E(j,k)",
       {{"B", "csr"}},
       "reorder(path={}, order={i,j,l,k}); loopfuse(path={}, loc=3, pol=left)"},
      {"A(i) = B(i,j) * C(j)", {{"B", "csr"}}},
      {"A(i) = B(i,j) * C(j)", {{"B", "coo"}}},
      {"A(i) = B(i,j) * C(j) + B(j,i) * C(j)", {{"B", "csr"}}},
      {"A(i) = B(i,k) * B(i,k)", {}},
      {"A(i,k) = 2 * B(i,k) + C(i,k)", {}},
      {"A(i,k) = max(j)(B(i,j) * C(j,k))", {{"B", "csr"}}},
  };
  return all;
}

std::vector<std::int64_t> extents() {
  std::vector<std::int64_t> all;
  for (std::int64_t extent = 1; extent <= 35; ++extent) all.push_back(extent);
  for (const std::int64_t extent : {47, 48, 63, 65, 100, 127, 129, 150}) all.push_back(extent);
  return all;
}

/// Multiples of 1/4, so that sums are exact in any order; rows of 0 to 16 entries, or full ones. In half of
/// the sparse tensors eight rows in turn have as many, as code for rows like those before them needs. Some
/// value is infinite: a register that counts it twice, or multiplies it by a zero mask, gives another result.
CooTensor some_tensor(const std::vector<std::int64_t>& shape, bool sparse, bool infinite,
                      std::mt19937_64& random) {
  CooTensor out;
  out.extents = shape;
  out.coordinates.resize(shape.size());
  const std::int64_t rows = shape.size() == 2 ? shape[0] : 1, columns = shape.back();
  const std::int64_t rows_in_turn = sparse && random() % 2 == 0 ? 8 : 1;
  std::int64_t most = columns;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (sparse && i % rows_in_turn == 0) most = static_cast<std::int64_t>(random() % 17);
    std::int64_t left = std::min(most, columns);
    for (std::int64_t j = 0; j < columns && left > 0; ++j) {
      if (static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns - j)) >= left) continue;
      --left;
      if (shape.size() == 2) out.coordinates[0].push_back(i);
      out.coordinates.back().push_back(j);
      out.values.push_back(0.25 * static_cast<double>(1 + random() % 8));
    }
  }
  if (infinite && !out.values.empty() && random() % 3 == 0)
    out.values[random() % out.values.size()] = infinity;
  return out;
}

class EveryExtent : public ::testing::TestWithParam<std::size_t> {
 protected:
  void compute(const client::Kernel& kernel, const problem::ProblemText& text, std::int64_t extent,
               ValueType type, std::mt19937_64& random) {
    const auto program = client::parse_program(text.expression).value();
    std::map<std::string, std::int64_t> sizes{{"i", 1 + static_cast<std::int64_t>(random() % 20)},
                                              {"j", 1 + static_cast<std::int64_t>(random() % 40)},
                                              {"k", extent},
                                              {"l", 1 + static_cast<std::int64_t>(random() % 9)}};
    if (random() % 2 == 0) sizes["l"] = extent;  // versions are for extents that fill as many registers
    if (text.expression.find("B(j,i)") != std::string::npos) sizes["i"] = sizes["j"] = extent;
    std::map<std::string, CooTensor> given;
    std::vector<PackedTensor> packed;
    const auto shape_at = [&](std::size_t access) {
      std::vector<std::int64_t> shape;
      for (auto c = access + 2; text.expression[c] != ')'; ++c)
        if (text.expression[c] != ',') shape.push_back(sizes.at(std::string(1, text.expression[c])));
      return shape;
    };
    for (const std::string name : {"B", "C", "D", "E"}) {
      const auto at = text.expression.find(name + "(", text.expression.find('='));
      if (at != std::string::npos)
        given[name] = some_tensor(shape_at(at), text.formats.count(name) > 0, name == "B", random);
    }
    const auto format_of = [&](const std::string& name, std::size_t order) {
      const auto found = text.formats.find(name);
      return format::parse(found == text.formats.end() ? "dense" : found->second, static_cast<int>(order),
                           name)
          .value();
    };
    std::map<std::string, client::OracleOperand> operands;
    for (const auto& [name, tensor] : given) operands[name] = &tensor;
    const auto shape = shape_at(0);
    const auto expected = client::evaluate(program, operands);
    ASSERT_TRUE(expected.ok()) << support::render(expected.error());
    packed.push_back(client::zeros(shape, format_of("A", shape.size()), {"A", type, 64}).value());
    for (const auto& [name, tensor] : given)
      packed.push_back(
          client::pack(tensor, format_of(name, tensor.extents.size()), {name, type, 64}).value());
    std::vector<PackedTensor*> arguments;
    for (auto& tensor : packed) arguments.push_back(&tensor);
    auto execution = client::Execution::prepare(kernel, arguments, {});
    ASSERT_TRUE(execution.ok()) << support::render(execution.error());
    // Twice: the second time by numeric bodies, where the kernel has them.
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(execution->rerun_values().ok());
      const auto compared = client::compare(packed.front(), *expected);
      ASSERT_TRUE(compared.ok()) << support::render(compared.error());
      ASSERT_EQ(compared->max_relative_error, 0) << "run " << run << " at " << compared->worst;
    }
  }
};

TEST_P(EveryExtent, ComputesWhatTheOracleSays) {
  const Case& one = cases()[GetParam()];
  for (const auto& isa : test_support::instruction_sets()) {
    for (const auto type : {ValueType::f64, ValueType::f32}) {
      for (const bool baseline : {false, true}) {
        if (baseline && isa != client::host_isa()) continue;  // one instruction set stands for all
        problem::ProblemText text;
        text.expression = one.statement;
        text.formats = one.formats;
        text.value_type = type == ValueType::f64 ? "f64" : "f32";
        const toolchain::Target target{isa, baseline};
        const client::Kernel kernel = test_support::compiled_kernel(text, one.schedule, target);
        std::mt19937_64 random(20261126);
        for (const std::int64_t extent : extents()) {
          SCOPED_TRACE(std::string(one.statement) + ", " + toolchain::print(target) + ", " + text.value_type +
                       ", extent " + std::to_string(extent));
          for (int draw = 0; draw < 3; ++draw) {
            compute(kernel, text, extent, type, random);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Statements, EveryExtent, ::testing::Range<std::size_t>(0, cases().size()));

}  // namespace
}  // namespace schaas
