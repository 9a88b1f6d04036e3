// Results that are made in one pass (proto/kernel_abi.h, "may be appended") are to the last byte what
// counting and filling makes them; and lists of any length and spread come sorted.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "schaas/kernel.h"
#include "tests/support/compiled_kernel.h"

namespace schaas {
namespace {

using client::CooTensor;
using client::Execution;
using client::ExecutionOptions;
using client::PackedTensor;
using client::ValueType;

struct Case {
  const char* name;
  const char* expression;
  std::map<std::string, std::string> formats;  ///< the result Z, then as many operands as the statement has
  std::map<std::string, std::vector<std::int64_t>> extents;
  std::string trace = "linear";
  int appends = SCHAAS_APPENDS_ALWAYS;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"product",
       "Z(i,k) = A(i,j) * B(j,k)",
       {{"Z", "csr"}, {"A", "csr"}, {"B", "csr"}},
       {{"Z", {300, 50}}, {"A", {300, 40}}, {"B", {40, 50}}}},
      {"unordered",
       "Z(i,k) = A(i,j) * B(j,k)",
       {{"Z", "dense,compressed(unordered)"}, {"A", "csr"}, {"B", "csr"}},
       {{"Z", {300, 50}}, {"A", {300, 40}}, {"B", {40, 50}}}},
      {"sum",
       "Z(i,j) = A(i,j) + B(i,j)",
       {{"Z", "csr"}, {"A", "csr"}, {"B", "csr"}},
       {{"Z", {300, 40}}, {"A", {300, 40}}, {"B", {300, 40}}}},
      {"difference_of_products",
       "Z(i,j) = A(i,j) * C(i,j) - 2 * B(i,j) + A(i,j)",
       {{"Z", "csr"}, {"A", "csr"}, {"B", "csr"}},
       {{"Z", {300, 40}}, {"A", {300, 40}}, {"B", {300, 40}}, {"C", {300, 40}}}},
      {"intersection",
       "Z(i,j) = A(i,j) * B(i,j)",
       {{"Z", "csr"}, {"A", "csr"}, {"B", "csr"}},
       {{"Z", {300, 40}}, {"A", {300, 40}}, {"B", {300, 40}}}},
      {"columns",
       "Z(i,k) = A(i,j) * B(j,k)",
       {{"Z", "csc"}, {"A", "csc"}, {"B", "csc"}},
       {{"Z", {50, 300}}, {"A", {50, 40}}, {"B", {40, 300}}}},
      {"through_a_temporary",
       "t(j) = B(j,k); Z(i,k) = A(i,j) * C(j,k) * t(j)",
       {{"Z", "csr"}, {"A", "csr"}, {"B", "csr"}, {"C", "csr"}},
       {{"Z", {300, 50}}, {"A", {300, 40}}, {"B", {40, 50}}, {"C", {40, 50}}}},
      {"fibers",
       "Z(i,k,l) = A(i,j) * B(j,k) * C(k,l)",
       {{"Z", "dense,compressed,dense"}, {"A", "csr"}, {"B", "csr"}},
       {{"Z", {300, 50, 5}}, {"A", {300, 40}}, {"B", {40, 50}}, {"C", {50, 5}}}},
      {"product_at_entries",
       "Z(i,k) = C(i,k) * A(i,j) * B(j,k)",
       {{"Z", "csr"}, {"A", "csr"}, {"B", "csr"}, {"C", "csr"}},
       {{"Z", {300, 50}}, {"A", {300, 40}}, {"B", {40, 50}}, {"C", {300, 50}}}},
      // Little to spare: the pattern is an operand's, counting it takes no time. Rows are not units. Tables.
      {"sampled",
       "Z(i,j) = A(i,j) * C(i,j)",
       {{"Z", "csr"}, {"A", "csr"}},
       {{"Z", {300, 40}}, {"A", {300, 40}}, {"C", {300, 40}}},
       "linear",
       SCHAAS_APPENDS_ALONE},
      {"magnitudes",
       "Z(i,j) = abs(A(i,j)) - 3 * A(i,j)",
       {{"Z", "csr"}, {"A", "csr"}},
       {{"Z", {300, 40}}, {"A", {300, 40}}},
       "linear",
       SCHAAS_APPENDS_ALONE},
      {"no_rows",
       "Z(i,k) = A(i,j) * B(j,k)",
       {{"Z", "dcsr"}, {"A", "dcsr"}, {"B", "csr"}},
       {{"Z", {300, 50}}, {"A", {300, 40}}, {"B", {40, 50}}},
       "linear",
       SCHAAS_APPENDS_NEVER},
  };
  return all;
}

CooTensor random_entries(std::mt19937_64& random, const std::vector<std::int64_t>& extents, double density) {
  CooTensor out;
  out.extents = extents;
  out.coordinates.resize(extents.size());
  const std::int64_t size = *client::checked_product(extents);
  const std::int64_t row = size / std::max<std::int64_t>(extents.front(), 1);
  for (std::int64_t e = 0; e < size; ++e) {
    const bool full = e / row == extents.front() / 2, empty = e / row % 5 == 0;
    if (!full && (empty || static_cast<double>(random() % 1000) >= 1000 * density)) continue;
    std::int64_t rest = e;
    for (std::size_t m = extents.size(); m-- > 0; rest /= extents[m])
      out.coordinates[m].push_back(rest % extents[m]);
    out.values.push_back(0.5 + static_cast<double>(random() % 8));
  }
  return out;
}

format::TensorFormat format_of(const Case& each, const std::string& tensor) {
  const int order = static_cast<int>(each.extents.at(tensor).size());
  const auto named = each.formats.find(tensor);
  return named == each.formats.end() ? format::dense(order)
                                     : format::parse(named->second, order, tensor).value();
}

bool same(const client::Buffer& a, const client::Buffer& b) {
  return a.bytes() == b.bytes() && (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

void expect_same(const PackedTensor& a, const PackedTensor& b) {
  ASSERT_EQ(a.stored(), b.stored());
  for (std::size_t l = 0; l < a.levels().size(); ++l) {
    EXPECT_EQ(a.levels()[l].entries, b.levels()[l].entries) << l;
    EXPECT_TRUE(same(a.levels()[l].pos, b.levels()[l].pos)) << l;
    EXPECT_TRUE(same(a.levels()[l].crd, b.levels()[l].crd)) << l;
  }
  EXPECT_TRUE(same(a.values(), b.values()));
}

using Rows = std::vector<std::map<std::int64_t, double>>;  ///< values of each row, by column

/// The entries of a matrix, row after row, columns ascending.
void expect_rows(const CooTensor& found, const Rows& expected) {
  std::size_t e = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (const auto& [k, value] : expected[i]) {
      ASSERT_LT(e, found.entries());
      ASSERT_EQ(found.coordinates[0][e], static_cast<std::int64_t>(i));
      ASSERT_EQ(found.coordinates[1][e], k) << "row " << i;
      ASSERT_EQ(found.values[e++], value) << "row " << i;
    }
  }
  EXPECT_EQ(e, found.entries());
}

/// Z = A * B, all csr.
CooTensor product(const client::Kernel& kernel, const CooTensor& a, const CooTensor& b, ValueType type,
                  int bits, int threads = 1) {
  const auto csr = format::parse("csr", 2, "A").value();
  PackedTensor left = client::pack(a, csr, {"A", type, bits}).value();
  PackedTensor right = client::pack(b, csr, {"B", type, bits}).value();
  PackedTensor result = client::zeros({a.extents[0], b.extents[1]}, csr, {"Z", type, bits}).value();
  ExecutionOptions options;
  options.threads = threads;
  EXPECT_TRUE(Execution::prepare(kernel, {&result, &left, &right}, options).value().run().ok());
  return client::unpack(result);
}

class AppendedResults : public testing::TestWithParam<Case> {};

TEST_P(AppendedResults, are_what_counting_makes_them) {
  const Case& each = GetParam();
  for (const int bits : {32, 64}) {
    problem::ProblemText text;
    text.expression = each.expression;
    text.formats = each.formats;
    text.position_bits = std::to_string(bits);
    const client::Kernel kernel = test_support::compiled_kernel(text, each.trace);
    ASSERT_EQ(kernel.descriptor().appends, each.appends);
    for (const double density : {0.0, 0.02, 0.4}) {
      std::mt19937_64 random(17);
      std::map<std::string, PackedTensor> operands;
      for (const auto& [name, extents] : each.extents) {
        if (name == "Z") continue;
        const client::PackOptions options{name, ValueType::f64, bits};
        operands.emplace(
            name,
            client::pack(random_entries(random, extents, density), format_of(each, name), options).value());
      }
      const auto result = [&] {
        return client::zeros(each.extents.at("Z"), format_of(each, "Z"), {"Z", ValueType::f64, bits}).value();
      };
      PackedTensor counted = result();
      // The kernel's arguments come in the order of its problem text: as they first occur.
      const auto arguments = [&](PackedTensor& first) {
        std::vector<PackedTensor*> all{&first};
        std::map<std::size_t, PackedTensor*> by_place;
        const std::string body = text.expression.substr(text.expression.rfind("Z(") + 1);
        for (auto& [name, tensor] : operands) by_place[text.expression.find(name + "(")] = &tensor;
        for (auto& [place, tensor] : by_place) all.push_back(tensor);
        return all;
      };
      ExecutionOptions counting;
      counting.threads = 2;
      counting.may_append = false;
      ASSERT_TRUE(Execution::prepare(kernel, arguments(counted), counting).value().run().ok());
      for (const int threads : {1, 2, 5}) {
        PackedTensor appended = result();
        ExecutionOptions options;
        options.threads = threads;
        auto execution = Execution::prepare(kernel, arguments(appended), options);
        ASSERT_TRUE(execution.ok()) << support::render(execution.error());
        for (int run = 0; run < 3; ++run) {
          const auto done = run < 2 ? execution->run() : execution->rerun_values();
          ASSERT_TRUE(done.ok()) << support::render(done.error());
          SCOPED_TRACE(std::to_string(bits) + " bits, density " + std::to_string(density) + ", " +
                       std::to_string(threads) + " threads, run " + std::to_string(run));
          expect_same(appended, counted);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, AppendedResults, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.name); });

// Rows of the longest extent that positions of 32 bits can name: the second might not fit any more, so all is
// counted after all; what an earlier phase has formed by then is formed again.
TEST(AppendedResults, rows_that_might_be_too_long_are_counted_behind_earlier_phases) {
  constexpr std::int64_t rows = 300, columns = std::numeric_limits<std::int32_t>::max();
  problem::ProblemText text;
  text.expression = "t(i) = C(i,k); Z(i,j) = A(i,j) * t(i) + B(i,j)";
  text.formats = {{"Z", "csr"}, {"A", "csr"}, {"B", "csr"}, {"C", "csr"}};
  text.position_bits = "32";
  const client::Kernel kernel = test_support::compiled_kernel(text, "linear");
  ASSERT_EQ(kernel.descriptor().appends, 1);
  ASSERT_GT(kernel.descriptor().phase_count, 2);
  const CooTensor a{{rows, columns}, {{0, 7, 299}, {5, columns - 1, 0}}, {2, 3, 4}};
  const CooTensor b{{rows, columns}, {{0, 7, 8}, {6, columns - 1, 1}}, {10, 20, 30}};
  const CooTensor c{{rows, 4}, {{0, 7, 7, 299}, {1, 0, 3, 2}}, {1, 2, 3, 4}};
  const CooTensor z{{rows, columns}, {{0, 0, 7, 8, 299}, {5, 6, columns - 1, 1, 0}}, {2, 10, 35, 30, 16}};
  const auto csr = format::parse("csr", 2, "Z").value();
  const auto packed = [&](const CooTensor& entries, const char* name) {
    return client::pack(entries, csr, {name, ValueType::f64, 32}).value();
  };
  PackedTensor first = packed(a, "A"), second = packed(b, "B"), third = packed(c, "C");
  const PackedTensor expected = packed(z, "Z");
  for (const int threads : {1, 2}) {
    PackedTensor result = client::zeros({rows, columns}, csr, {"Z", ValueType::f64, 32}).value();
    ExecutionOptions options;
    options.threads = threads;
    auto execution = Execution::prepare(kernel, {&result, &third, &first, &second}, options);
    ASSERT_TRUE(execution.ok()) << support::render(execution.error());
    for (int run = 0; run < 2; ++run) {
      const auto done = execution->run();
      ASSERT_TRUE(done.ok()) << support::render(done.error());
      expect_same(result, expected);
    }
  }
}

// Row n of A has n entries, each picks one column of B: the row's list in the order of A's columns.
TEST(AppendedResults, lists_of_any_length_and_spread_are_sorted) {
  problem::ProblemText text;
  text.expression = "Z(i,k) = A(i,j) * B(j,k)";
  text.formats = {{"Z", "csr"}, {"A", "csr"}, {"B", "csr"}};
  for (const int bits : {32, 64}) {
    text.position_bits = std::to_string(bits);
    const client::Kernel kernel = test_support::compiled_kernel(text, "linear");
    for (const std::int64_t spread : {1, 3, 40, 200, 3000}) {
      constexpr std::int64_t longest = 300;
      const std::int64_t columns = longest * spread;
      std::mt19937_64 random(static_cast<std::uint64_t>(spread));
      std::vector<std::int64_t> picked(longest);
      for (std::int64_t j = 0; j < longest; ++j)
        picked[j] = spread * j + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread));
      std::shuffle(picked.begin(), picked.end(), random);
      CooTensor a{{longest + 1, longest}, {{}, {}}, {}}, b{{longest, columns}, {{}, {}}, {}};
      for (std::int64_t j = 0; j < longest; ++j) {
        b.coordinates[0].push_back(j);
        b.coordinates[1].push_back(picked[j]);
        b.values.push_back(static_cast<double>(j + 1));
      }
      for (std::int64_t i = 0; i <= longest; ++i) {
        // From the front, so that short rows spread as widely as long ones.
        for (std::int64_t j = 0; j < i; ++j) {
          a.coordinates[0].push_back(i);
          a.coordinates[1].push_back(j);
          a.values.push_back(1);
        }
      }
      Rows expected(longest + 1);
      for (std::int64_t i = 0; i <= longest; ++i) {
        for (std::int64_t j = 0; j < i; ++j) expected[i][picked[j]] = static_cast<double>(j + 1);
      }
      SCOPED_TRACE("spread " + std::to_string(spread));
      expect_rows(product(kernel, a, b, ValueType::f64, bits), expected);
    }
  }
}

// Rows of B that are stretches of neighbours, of some, of single entries far from each other, or empty, in
// turn: places of one group are marked together or one by one.
TEST(AppendedResults, neighbours_are_marked_as_single_places_are) {
  problem::ProblemText text;
  text.expression = "Z(i,k) = A(i,j) * B(j,k)";
  text.formats = {{"Z", "csr"}, {"A", "csr"}, {"B", "csr"}};
  constexpr std::int64_t rows = 60, inner = 90;
  for (const int bits : {32, 64}) {
    text.position_bits = std::to_string(bits);
    const client::Kernel kernel = test_support::compiled_kernel(text, "linear");
    for (const std::int64_t columns : {64, 65, 700, 5000, 200'000}) {
      std::mt19937_64 random(static_cast<std::uint64_t>(columns));
      const auto below = [&](std::int64_t n) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
      };
      Rows lists(inner);
      CooTensor a{{rows, inner}, {{}, {}}, {}}, b{{inner, columns}, {{}, {}}, {}};
      for (std::int64_t j = 0; j < inner; ++j) {
        const std::int64_t first = below(columns);
        const std::int64_t every = std::array<std::int64_t, 4>{1, 2, 9, columns / 5}[j % 4];
        for (std::int64_t n = 0, most = j % 7 == 0 ? 0 : below(130); n < most; ++n)
          if (first + n * every < columns) lists[j][first + n * every] = static_cast<double>(j + n);
        for (const auto& [k, value] : lists[j]) {
          b.coordinates[0].push_back(j), b.coordinates[1].push_back(k);
          b.values.push_back(value);
        }
      }
      Rows expected(rows);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < inner; ++j) {
          if (below(rows) > i) continue;  // from one entry a row to all
          a.coordinates[0].push_back(i), a.coordinates[1].push_back(j);
          a.values.push_back(1);
          for (const auto& [k, value] : lists[j]) expected[i][k] += value;
        }
      }
      SCOPED_TRACE(std::to_string(columns) + " columns");
      expect_rows(product(kernel, a, b, ValueType::f64, bits), expected);
    }
  }
}

// Rows of B of the same coordinates, one to seven after the other, some in stretches of neighbours; and rows
// that differ from the one before in one coordinate, the first, the last or one between, or in their length.
TEST(AppendedResults, rows_of_the_same_coordinates_are_summed_as_others_are) {
  problem::ProblemText text;
  text.expression = "Z(i,k) = A(i,j) * B(j,k)";
  text.formats = {{"Z", "csr"}, {"A", "csr"}, {"B", "csr"}};
  constexpr std::int64_t rows = 50, inner = 160;
  for (const auto& [bits, type] : {std::pair{32, "f64"}, {64, "f64"}, {32, "f32"}, {64, "f32"}}) {
    text.position_bits = std::to_string(bits);
    text.value_type = type;
    const auto values = text.value_type == "f64" ? ValueType::f64 : ValueType::f32;
    const client::Kernel kernel = test_support::compiled_kernel(text, "linear");
    for (const std::int64_t columns : {128, 5000, 40'000}) {
      std::mt19937_64 random(static_cast<std::uint64_t>(columns));
      const auto below = [&](std::int64_t n) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
      };
      CooTensor a{{rows, inner}, {{}, {}}, {}}, b{{inner, columns}, {{}, {}}, {}};
      Rows lists(inner);
      std::set<std::int64_t> places;
      for (std::int64_t j = 0, left = 0; j < inner; ++j, --left) {
        if (left == 0) {
          left = 1 + below(7);
          const std::int64_t change = below(5);
          if (change > 0 && places.size() > 3) {  // but for one coordinate as before
            const auto at = change == 1   ? places.begin()
                            : change == 2 ? std::prev(places.end())
                                          : std::next(places.begin(), below(3));
            places.erase(at);
            if (change < 4) places.insert(below(columns));
          } else {
            places.clear();
            for (std::int64_t first = below(columns - 90), n = 5 + below(50), k = first; n > 0; --n) {
              places.insert(k);
              k += below(4) == 0 ? 2 : 1;
            }
          }
        }
        for (const std::int64_t k : places) lists[j][k] = static_cast<double>(1 + below(8));
        for (const auto& [k, value] : lists[j]) {
          b.coordinates[0].push_back(j), b.coordinates[1].push_back(k);
          b.values.push_back(value);
        }
      }
      Rows expected(rows);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < inner; ++j) {
          if (below(rows) > i) continue;
          a.coordinates[0].push_back(i), a.coordinates[1].push_back(j);
          a.values.push_back(static_cast<double>(1 + j % 3));
          for (const auto& [k, value] : lists[j]) expected[i][k] += static_cast<double>(1 + j % 3) * value;
        }
      }
      SCOPED_TRACE(std::to_string(columns) + " columns, " + text.value_type);
      for (const int threads : {1, 3}) expect_rows(product(kernel, a, b, values, bits, threads), expected);
    }
  }
}

// Sums of rows of up to 70 entries from a few columns or from many: from no term to 140, each coordinate once
// to 140 times, below and above what is expanded.
TEST(AppendedResults, terms_of_one_coordinate_are_summed_however_many) {
  problem::ProblemText text;
  text.expression = "Z(i,k) = A(i,j) * B(j,k)";
  text.formats = {{"Z", "csr"}, {"A", "csr"}, {"B", "csr"}};
  for (const auto& [bits, type] : {std::pair{32, "f64"}, {64, "f64"}, {32, "f32"}, {64, "f32"}}) {
    text.position_bits = std::to_string(bits);
    text.value_type = type;
    const auto values = text.value_type == "f64" ? ValueType::f64 : ValueType::f32;
    const client::Kernel kernel = test_support::compiled_kernel(text, "linear");
    for (const std::int64_t columns : {1, 20, 3000, 20'000}) {
      constexpr std::int64_t most = 140;
      std::mt19937_64 random(static_cast<std::uint64_t>(columns));
      CooTensor a{{most + 1, most}, {{}, {}}, {}}, b{{most, columns}, {{}, {}}, {}};
      std::vector<std::int64_t> column(most);
      for (std::int64_t j = 0; j < most; ++j) {
        column[j] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns));
        b.coordinates[0].push_back(j), b.coordinates[1].push_back(column[j]);
        b.values.push_back(static_cast<double>(j + 1));
      }
      Rows expected(most + 1);
      for (std::int64_t i = 0; i <= most; ++i) {
        for (std::int64_t j = 0; j < i; ++j) {
          a.coordinates[0].push_back(i), a.coordinates[1].push_back(j);
          a.values.push_back(1);
          expected[i][column[j]] += static_cast<double>(j + 1);
        }
      }
      SCOPED_TRACE(std::to_string(columns) + " columns, " + text.value_type);
      expect_rows(product(kernel, a, b, values, bits), expected);
    }
  }
}

TEST(AppendedResults, a_buffer_keeps_its_bytes_when_it_is_resized) {
  std::mt19937_64 random(3);
  client::Buffer buffer;
  std::vector<unsigned char> expected;
  for (int n = 0; n < 60; ++n) {
    const std::size_t size = n % 3 == 0   ? random() % 1000
                             : n % 3 == 1 ? random() % 20'000'000
                                          : random() % 6'000'000;
    buffer.resize(size);
    ASSERT_EQ(buffer.bytes(), size);
    ASSERT_GE(buffer.capacity(), size);
    const std::size_t kept = std::min(expected.size(), size);
    if (kept > 0) {
      ASSERT_EQ(std::memcmp(buffer.data(), expected.data(), kept), 0) << n;
    }
    expected.resize(size);
    for (std::size_t at = kept; at < size; ++at) expected[at] = static_cast<unsigned char>(random());
    if (size > 0) std::memcpy(buffer.data(), expected.data(), size);
  }
}

}  // namespace
}  // namespace schaas
