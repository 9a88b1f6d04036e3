// Stages 4 and 5: exact costs, the cache budget, ties.
#include "schaas/select.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "client/cpp/selection/list_statistics.h"
#include "tests/support/frontier_entries.h"

namespace schaas::client {
namespace {

// B is a CSR matrix of 1000 rows, 500 columns and 3000 entries.
Sizes sizes() { return {{{"i", 1000}, {"j", 500}, {"k", 16}, {"l", 64}}, {{"B", {1000, 3000}}}}; }

TEST(Sizes, fibers_are_mean_entries_under_a_parent) {
  EXPECT_EQ(fiber({1000, 3000}, 1), 3);
  EXPECT_EQ(fiber({1000, 3000}, 0), 1000);
  EXPECT_EQ(fiber({0, 0}, 1), 0);
  const auto packed =
      pack(CooTensor{{4, 9}, {{0, 0, 3}, {1, 2, 2}}, {1, 1, 1}},
           format::TensorFormat{{format::LevelFormat::compressed, format::LevelFormat::compressed}, {0, 1}},
           {"B", ValueType::f64, 64});
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(entries_of(*packed), (std::vector<std::int64_t>{2, 3}));
}

TEST(Evaluate, EstimatesIntersectionsFromMeanFibers) {
  Variable matches{Variable::Kind::matches, "j", "", 0};
  matches.lists = {{Variable::Kind::fiber, "j", "B", 1}, {Variable::Kind::fiber, "j", "x", 0}};
  Sizes sizes;
  sizes.extents = {{"i", 10}, {"j", 100}};
  sizes.entries = {{"B", {10, 90}}, {"x", {20}}};
  EXPECT_DOUBLE_EQ(evaluate(matches, sizes).value(), 9.0 * 20 / 100);
  Variable steps = matches;
  steps.kind = Variable::Kind::steps;
  EXPECT_DOUBLE_EQ(evaluate(steps, sizes).value(), (9.0 + 20) * 9 / 10);
  sizes.entries["x"] = {0};
  EXPECT_EQ(evaluate(steps, sizes).value(), 0);
}

Variable list_of(const std::string& tensor, int level, const std::string& index) {
  return {Variable::Kind::fiber, index, tensor, level};
}

/// The value of a product whose weight is 1.
double product(const std::vector<Variable>& variables, const Sizes& sizes) {
  return evaluate({Term{1, variables}}, sizes).value();
}

class Lists : public testing::Test {
 protected:
  // Row r has as many entries as it has divisors, at their coordinates: rows and columns are uneven.
  void SetUp() override {
    CooTensor coo{{rows, rows}, {{}, {}}, {}};
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column <= row; ++column) {
        if (row > 0 && (column == 0 || row % column != 0)) continue;
        coo.coordinates[0].push_back(row);
        coo.coordinates[1].push_back(column);
        coo.values.push_back(1);
      }
    }
    entries_ = coo.coordinates;
    matrix_ = pack(coo, {{format::LevelFormat::dense, format::LevelFormat::compressed}, {0, 1}},
                   {"B", ValueType::f64, 32})
                  .value();
    for (const char* index : {"i", "j", "k"}) sizes_.extents[index] = rows;
    sizes_.entries["B"] = entries_of(matrix_);
  }

  void look(const std::string& expression) {
    sizes_.lists = list_statistics(parse_program(expression).value(),
                                   [&](const std::string& name) { return name == "B" ? &matrix_ : nullptr; });
  }
  double length(std::int64_t row) const {
    return static_cast<double>(std::count(entries_[0].begin(), entries_[0].end(), row));
  }

  static constexpr std::int64_t rows = 60;
  std::vector<std::vector<std::int64_t>> entries_;
  PackedTensor matrix_;
  Sizes sizes_;
};

TEST_F(Lists, AreAsLongAsWhereEntriesReachThem) {
  double by_coordinate = 0, beside = 0;
  for (std::size_t n = 0; n < entries_[0].size(); ++n) {
    by_coordinate += length(entries_[1][n]);
    beside += length(entries_[0][n]);
  }
  look("A(i,k) = B(i,j) * B(j,k)");
  const Variable i{Variable::Kind::extent, "i", "", 0};
  const std::vector<Variable> chain{i, list_of("B", 1, "j"), list_of("B", 1, "k")};
  EXPECT_NEAR(product(chain, sizes_), by_coordinate, 0.02 * by_coordinate);
  // The order of variables in a term says nothing.
  EXPECT_NEAR(product({chain[2], chain[1], chain[0]}, sizes_), by_coordinate, 0.02 * by_coordinate);
  look("A(i) = B(i,j) * B(i,k)");
  EXPECT_NEAR(product(chain, sizes_), beside, 0.02 * beside);
  sizes_.lists = {};
  const auto mean = fiber(sizes_.entries["B"], 1);
  EXPECT_DOUBLE_EQ(product(chain, sizes_), rows * mean * mean);
}

TEST_F(Lists, MergeWhereEntriesReachBoth) {
  double matches = 0, steps = 0;
  for (std::size_t n = 0; n < entries_[0].size(); ++n) {
    std::vector<std::int64_t> first, second;
    for (std::size_t m = 0; m < entries_[0].size(); ++m) {
      if (entries_[0][m] == entries_[0][n]) first.push_back(entries_[1][m]);
      if (entries_[0][m] == entries_[1][n]) second.push_back(entries_[1][m]);
    }
    std::size_t a = 0, b = 0;
    for (; a < first.size() && b < second.size(); ++steps) {
      const auto least = std::min(first[a], second[b]);
      matches += first[a] == second[b];
      const bool moves = first[a] == least;
      b += second[b] == least;
      a += moves;
    }
  }
  look("t(i) = B(i,j) * B(j,k) * B(i,k)");
  Variable merge{Variable::Kind::matches, "k", "", 0};
  merge.lists = {list_of("B", 1, "k"), list_of("B", 1, "k")};
  merge.lists[0].outer = {"i"};
  merge.lists[1].outer = {"j"};
  std::vector<Variable> term{{Variable::Kind::extent, "i", "", 0}, list_of("B", 1, "j"), merge};
  EXPECT_NEAR(product(term, sizes_), matches, 0.05 * matches);
  term.back().kind = Variable::Kind::steps;
  EXPECT_NEAR(product(term, sizes_), steps, 0.05 * steps);
}

TEST_F(Lists, AreNotLookedAtAlone) {
  look("A(i,k) = B(i,j) * C(j,k)");
  EXPECT_TRUE(sizes_.lists.lengths.empty());
  EXPECT_TRUE(sizes_.lists.merges.empty());
}

TEST(Sizes, rows_with_entries_are_a_share_of_those_asked) {
  using enum format::LevelFormat;
  const auto used = [](const format::TensorFormat& format, int position_bits, std::int64_t rows) {
    CooTensor coo{{rows, 9}, {{}, {}}, {}};
    for (std::int64_t row = 0; row < rows / 4; ++row) {
      coo.coordinates[0].push_back(row);
      coo.coordinates[1].push_back(row % 9);
      coo.values.push_back(1);
    }
    const auto packed = pack(coo, format, {"B", ValueType::f64, position_bits});
    return packed.ok() ? occupied_coordinates(*packed, false).front() : -1;
  };
  for (const int position_bits : {32, 64}) {
    EXPECT_EQ(used({{dense, compressed}, {0, 1}}, position_bits, 1'000), 0.25);
    EXPECT_EQ(used({{dense, compressed}, {0, 1}}, position_bits, 8), 0.25);
    EXPECT_EQ(used({{dense, compressed}, {0, 1}}, position_bits, 0), 1);
    EXPECT_EQ(used({{compressed, compressed}, {0, 1}}, position_bits, 1'000), 1);
    EXPECT_EQ(used({{dense, dense}, {0, 1}}, position_bits, 1'000), 1);
  }
}

TEST(Sizes, occupied_coordinates_are_counted) {
  using enum format::LevelFormat;
  const CooTensor coo{{4, 8, 1000}, {{0, 0, 3, 3}, {1, 2, 2, 5}, {9, 9, 9, 7}}, {1, 1, 1, 1}};
  const auto shares = [&](const format::TensorFormat& format, bool counted, int position_bits = 32) {
    const auto packed = pack(coo, format, {"B", ValueType::f64, position_bits});
    return packed.ok() ? occupied_coordinates(*packed, counted) : std::vector<double>{};
  };
  using Shares = std::vector<double>;
  for (const int position_bits : {32, 64}) {
    EXPECT_EQ((Shares{0.5, 0.375, 0.004}),
              shares({{compressed, compressed, compressed}, {0, 1, 2}}, true, position_bits));
    EXPECT_EQ((Shares{0.5, 0.375, 0.004}),
              shares({{dense, compressed, compressed}, {0, 1, 2}}, true, position_bits));
  }
  EXPECT_EQ((Shares{1, 1, 1}), shares({{compressed, compressed, compressed}, {0, 1, 2}}, false));
  EXPECT_EQ((Shares{0.002, 0.5, 0.375}), shares({{compressed, compressed, compressed}, {2, 0, 1}}, true));
  EXPECT_EQ((Shares{1, 1, 1}), shares({{dense, dense, dense}, {0, 1, 2}}, true));
}

TEST(Sizes, terms_are_weighted_products) {
  const std::vector<Term> time = {
      {1, {extent("i"), fiber_of("B", 1), extent("l")}, false}, {4, {extent("k")}, true}, {2.5, {}, false}};
  EXPECT_EQ(*evaluate(time, sizes()), 1000.0 * 3 * 64 + 4 * 16 + 2.5);
  EXPECT_EQ(*evaluate(time, sizes(), 2), (1000.0 * 3 * 64 + 2.5) / 2 + 4 * 16);
  EXPECT_EQ(*evaluate(std::vector<Term>{}, sizes()), 0);
}

TEST(Sizes, unknown_names_are_told_with_a_suggestion) {
  EXPECT_EQ(support::render(evaluate(extent("q"), {{{"k1", 2}}, {}}).error()),
            "invalid [unknown-size]: no extent is known for index `q`");
  EXPECT_EQ(support::render(evaluate(extent("kk"), {{{"k1", 2}}, {}}).error()),
            "invalid [unknown-size]: no extent is known for index `kk`; did you mean `k1`?");
  EXPECT_EQ(support::render(evaluate(fiber_of("C", 1), sizes()).error()),
            "invalid [unknown-size]: no entry counts are known for `C`");
  EXPECT_EQ(support::render(evaluate(fiber_of("B", 2), sizes()).error()),
            "invalid [unknown-size]: `B` has 2 levels, there is no level 3");
}

const std::vector<FrontierEntry>& frontier() {
  static const std::vector<FrontierEntry> entries = {
      entry("s1", "ijkl", {{1, {extent("i"), fiber_of("B", 1), extent("k"), extent("l")}}}, {}),
      entry("s2", "i<jk,kl>",
            {{1, {extent("i"), fiber_of("B", 1), extent("k")}}, {1, {extent("i"), extent("k"), extent("l")}}},
            {temporary({extent("k")})}),
      entry("s3", "<jkl,ijl>",
            {{1, {extent("j"), extent("k"), extent("l")}}, {1, {extent("i"), fiber_of("B", 1), extent("l")}}},
            {temporary({extent("j"), extent("l")}, Scope::shared)}),
  };
  return entries;
}

TEST(Selecting, takes_the_least_time_within_half_of_the_cache) {
  const auto selection = select(frontier(), sizes(), {4, 1 << 20, ValueType::f64});
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->index, 2U);
  EXPECT_EQ(selection->evaluated[0].time, 3072000 / 4);
  EXPECT_EQ(selection->evaluated[1].time, 1072000 / 4);
  EXPECT_EQ(selection->evaluated[2].time, 704000 / 4);
  EXPECT_EQ(selection->evaluated[1].memory_bytes, 16 * 8 * 4);    // one per thread
  EXPECT_EQ(selection->evaluated[2].memory_bytes, 500 * 64 * 8);  // shared
  EXPECT_EQ(selection->reason,
            "`s3` takes least time, 1.76e+05 weighted trips with 250.0 KiB of temporaries; 3 of 3 schedules "
            "have room for theirs");
}

/// K2's `<jml,i<jk,jl>>` at i = 200, j = 300, k = 8, l = 12, m = 10: 300 * 12 shared elements, 300 private
/// ones.
TEST(Selecting, counts_private_temporaries_once_per_thread_beside_shared_ones) {
  FrontierEntry both =
      entry("s35", "<jml,i<jk,jl>>", {{1, {extent("j")}}},
            {temporary({extent("j")}), temporary({extent("j"), extent("l")}, Scope::shared)});
  const Sizes small{{{"j", 300}, {"l", 12}}, {}};
  const auto bytes = [&](int threads) {
    return select({both}, small, {threads, 1 << 20, ValueType::f64})->evaluated[0].memory_bytes;
  };
  EXPECT_EQ(bytes(1), 31'200);
  EXPECT_EQ(bytes(2), 33'600);
  EXPECT_EQ(memory_elements(both.memory_terms, small, 2).value() * 8, 33'600);
}

TEST(Selecting, leaves_out_what_does_not_fit) {
  const auto selection = select(frontier(), sizes(), {4, 400 << 10, ValueType::f64});
  EXPECT_EQ(selection->index, 1U);
  EXPECT_FALSE(selection->evaluated[2].fits);
  EXPECT_EQ(select(frontier(), sizes(), {4, 400 << 10, ValueType::f32})->index, 2U);  // half the bytes
}

TEST(Selecting, temporaries_have_room_in_memory_where_their_traffic_is_known) {
  std::vector<FrontierEntry> entries(frontier().begin() + 1, frontier().end());
  Machine machine{4, 400 << 10, ValueType::f64};
  EXPECT_FALSE(select(entries, sizes(), machine)->evaluated[1].fits);  // 250 KiB
  entries[1].variants.push_back({entries[1].trace, entries[1].tree, {}});
  EXPECT_TRUE(select(entries, sizes(), machine)->evaluated[1].fits);
  machine.memory_bytes = 8 * (500 * 64 * 8) - 1;
  EXPECT_FALSE(select(entries, sizes(), machine)->evaluated[1].fits);
}

TEST(Selecting, takes_the_least_memory_when_nothing_fits) {
  const std::vector<FrontierEntry> large(frontier().begin() + 1, frontier().end());
  const auto selection = select(large, sizes(), {4, 100, ValueType::f64});
  EXPECT_EQ(selection->index, 0U);
  EXPECT_EQ(selection->reason,
            "no schedule has room for its temporaries; `s2` needs least memory: 512 bytes of temporaries");
}

TEST(Selecting, equal_times_go_to_less_memory_then_to_the_first) {
  const Term time{1, {extent("i")}};
  const std::vector<FrontierEntry> tied = {
      entry("a", "<", {time}, {temporary({extent("l")}, Scope::shared)}),
      entry("b", "<", {time}, {temporary({extent("k")}, Scope::shared)}),
      entry("c", "<", {time}, {temporary({extent("k")}, Scope::shared)})};
  EXPECT_EQ(select(tied, sizes(), {})->index, 1U);
}

TEST(Selecting, weights_price_the_access) {
  const std::vector<FrontierEntry> entries = {
      entry("strided", "i", {{8, {extent("k"), extent("l")}}}, {}),
      entry("contiguous", "i", {{1, {extent("i"), extent("k")}}}, {})};
  EXPECT_EQ(select(entries, {{{"i", 500}, {"k", 16}, {"l", 64}}, {}}, {})->index, 1U);
  EXPECT_EQ(select(entries, {{{"i", 600}, {"k", 16}, {"l", 64}}, {}}, {})->index, 0U);
}

TEST(Selecting, serial_work_is_not_shared_by_the_threads) {
  const std::vector<FrontierEntry> entries = {
      entry("serial", "i", {{1, {extent("i"), extent("k")}, true}}, {}),
      entry("parallel", "k", {{2, {extent("i"), extent("k")}, false}}, {})};
  EXPECT_EQ(select(entries, sizes(), {1, 1 << 20, ValueType::f64})->index, 0U);
  EXPECT_EQ(select(entries, sizes(), {3, 1 << 20, ValueType::f64})->index, 1U);
}

// A(i,l) = B(i,j) * C(j,k) * D(k,l), fused and with temporaries of 48 rows.
FrontierEntry fused_rows() {
  FrontierEntry e =
      entry("s1", "i<jk,kl>",
            {{1, {extent("i"), fiber_of("B", 1), extent("k")}}, {1, {extent("i"), extent("k"), extent("l")}}},
            {{1, {extent("k")}}});
  e.trace = "fused";
  const Nest rows{{loop("i"), entries("j", 1), loop("k")},
                  {{"t", false, 4, 4}, {"B", true, 3, 2}, {"C", false, 6, 4}},
                  0,
                  false,
                  1};
  const Nest result{{loop("i"), loop("k"), loop("l")},
                    {{"A", false, 5, 4}, {"t", false, 2, 2}, {"D", false, 6, 4}},
                    1,
                    false,
                    1};
  const Nest block_rows{{part("i", 48, false), part("i", 48, true), entries("j", 3), loop("k")},
                        {{"t", false, 10, 8}, {"B", true, 7, 4}, {"C", false, 12, 8}},
                        0,
                        false,
                        1};
  const Nest block_result{{part("i", 48, false), part("i", 48, true), loop("k"), loop("l")},
                          {{"A", false, 11, 8}, {"t", false, 6, 4}, {"D", false, 12, 8}},
                          1,
                          false,
                          1};
  e.variants = {{"fused", "i<jk,kl>", {with_kept(rows, 1), with_kept(result, 1)}},
                {"blocked",
                 "i:48<ijk,ikl>",
                 {with_kept(block_rows, 1), with_tile(with_kept(block_result, 1), 1)},
                 {{48, {extent("k")}, false, Scope::thread}}}};
  return e;
}

TEST(Selecting, blocks_of_rows_where_the_rows_of_one_push_the_other_operand_out_of_the_first_cache) {
  // 40 rows of C and all of D, of 64 columns, are 52 KiB.
  Sizes long_rows{{{"i", 10'000}, {"j", 10'000}, {"k", 64}, {"l", 64}}, {{"B", {10'000, 400'000}}}};
  auto selection = select({fused_rows()}, long_rows, small_caches());
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->evaluated[0].variant, 1U);
  EXPECT_EQ(selection->evaluated[0].memory_bytes, 48 * 64 * 8) << "of the variant that runs";
  EXPECT_EQ(selected_trace(fused_rows(), selection->evaluated[0]), "blocked");
  EXPECT_EQ(selection->reason,
            "`s1` takes least time, 6.656e+07 weighted trips with 24.0 KiB of temporaries, run as "
            "`i:48<ijk,ikl>`; 1 of 1 schedules have room for theirs");
  // On a machine whose second cache is as fast as its first there is nothing to win.
  Machine flat = small_caches();
  flat.rates.beyond_first = 0;
  EXPECT_EQ(select({fused_rows()}, long_rows, flat)->evaluated[0].variant, 0U);
  // Of 16 columns of C both fit; rows of 16 columns of A side by side still do not wait for their sums.
  long_rows.extents["k"] = long_rows.extents["l"] = 16;
  EXPECT_EQ(select({fused_rows()}, long_rows, small_caches())->evaluated[0].variant, 1U);
  long_rows.extents["l"] = 64;
  selection = select({fused_rows()}, long_rows, small_caches());
  EXPECT_EQ(selection->evaluated[0].variant, 0U);
  EXPECT_EQ(selected_trace(fused_rows(), selection->evaluated[0]), "fused");
}

TEST(Selecting, a_temporary_beyond_the_second_cache_loses_at_equal_trips) {
  // t(i,k), written once and read for each m: as a whole, and one row at a time.
  const std::vector<Term> time{{1, {extent("i"), extent("m"), extent("k")}}};
  FrontierEntry whole =
      entry("whole", "<ik,mik>", time, {temporary({extent("i"), extent("k")}, Scope::shared)});
  whole.variants = {
      {"",
       "<ik,mik>",
       {{{loop("i"), loop("k")}, {{"t", false, 3, 2}}, 0, false, 1},
        {{loop("m"), loop("i"), loop("k")}, {{"A", false, 3, 2}, {"t", false, 6, 4}}, 0, false, 1}}}};
  FrontierEntry row = entry("row", "i<k,mk>", time, {{1, {extent("k")}}});
  row.variants = {
      {"",
       "i<k,mk>",
       {{{loop("i"), loop("k")}, {{"t", false, 2, 2}}, 0, false, 1},
        {{loop("i"), loop("m"), loop("k")}, {{"A", false, 3, 2}, {"t", false, 4, 4}}, 1, false, 1}}}};
  const Sizes large{{{"i", 20'000}, {"k", 64}, {"m", 16}}, {}};
  const auto selection = select({whole, row}, large, small_caches());
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->evaluated[0].time, selection->evaluated[1].time);
  EXPECT_EQ(selection->index, 1U);
  // An old server tells no nests: the first of equals with less memory.
  whole.variants.clear();
  row.variants.clear();
  EXPECT_EQ(select({whole, row}, large, small_caches())->index, 1U);
}

TEST(Selecting, a_result_row_that_stays_in_registers_for_more_than_a_short_fiber_wins) {
  // A(i,k) = sum over j' and l of one-entry fibers: the row is kept over l alone, or over j' and l.
  const std::vector<Term> time{{1, {extent("i"), fiber_of("B", 1), extent("k")}}};
  FrontierEntry e = entry("s1", "ilk", time, {});
  const std::vector<Nest::Access> often{{"A", false, 6, 4}, {"B", true, 3, 2}};
  e.variants = {
      {"j outside", "jik", {{{entries("j", 0), loop("i"), loop("k")}, often, 0, false, 1}}},
      {"j around",
       "ijk",
       {{{loop("i"), entries("j", 1), loop("k")}, {{"A", false, 5, 4}, {"B", true, 3, 2}}, 0, false, 1}}}};
  e.variants[0].nests[0].loops.insert(e.variants[0].nests[0].loops.begin() + 2, loop("one"));
  e.variants[0].nests[0].accesses[0] = {"A", false, 10, 8};
  e.variants[0].nests[0].accesses[1] = {"B", true, 3, 1};
  for (auto& variant : e.variants) variant.nests[0].code.kept = 1;
  const Sizes here{{{"i", 1000}, {"j", 1000}, {"k", 16}, {"one", 1}}, {{"B", {1000, 30'000}}}};
  EXPECT_EQ(select({e}, here, small_caches())->evaluated[0].variant, 1U);
}

TEST(Selecting, a_row_that_is_added_to_in_each_run_loses_to_one_that_stays_in_registers) {
  // A(i,l,m) = B(i,j) * C(j,l) * D(j,m), 20 entries a row: for each entry all of A(i,:,:), or each of its
  // rows for all entries.
  FrontierEntry e = entry("s1", "ijlm", {{1, {extent("i"), fiber_of("B", 1), extent("l"), extent("m")}}}, {});
  e.variants = {{"entry by entry",
                 "ijlm",
                 {{{loop("i"), entries("j", 1), loop("l"), loop("m")},
                   {{"A", false, 13, 8}, {"B", true, 3, 2}, {"C", false, 6, 4}, {"D", false, 10, 8}},
                   0,
                   false,
                   1}}},
                {"row by row",
                 "iljm",
                 {{{loop("i"), loop("l"), entries("j", 1), loop("m")},
                   {{"A", false, 11, 8}, {"B", true, 5, 4}, {"C", false, 6, 2}, {"D", false, 12, 8}},
                   0,
                   false,
                   1}}}};
  e.variants[1].nests[0].code.kept = 1;
  const Sizes here{{{"i", 100}, {"j", 20}, {"l", 16}, {"m", 128}}, {{"B", {100, 2'000}}}};
  EXPECT_EQ(select({e}, here, small_caches())->evaluated[0].variant, 1U);
}

TEST(Selecting, coming_by_each_fiber_for_every_row_loses_to_coming_by_it_once) {
  // A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m), slices of 30 fibers of one entry: `iljkm` has half the trips of
  // tiles over a block of fibers, and sixteen times the fibers.
  const auto slices = [](double weight) {
    return std::vector<Term>{
        {weight, {extent("i"), fiber_of("B", 1), fiber_of("B", 2), extent("l"), extent("m")}}};
  };
  const Nest::Loop fiber_k{fiber_of("B", 2, "k"), "k", 0, false, 0};
  FrontierEntry around = entry("around", "iljkm", slices(1), {}),
                tiles = entry("tiles", "ij<km,lm>", slices(2), {});
  around.variants = {{"",
                      "iljkm",
                      {{{loop("i"), loop("l"), entries("j", 1), fiber_k, loop("m")},
                        {{"A", false, 19, 16}, {"B", true, 13, 8}, {"C", false, 6, 2}, {"D", false, 24, 16}},
                        0,
                        false,
                        1}}}};
  tiles.variants = {{"",
                     "ij:32<jkm,ljm>",
                     {{{loop("i"), part("j", 32, false), part("j", 32, true), fiber_k, loop("m")},
                       {{"t", false, 20, 16}, {"B", true, 15, 8}, {"D", false, 24, 16}},
                       0,
                       false,
                       1},
                      {{loop("i"), part("j", 32, false), loop("l"), part("j", 32, true), loop("m")},
                       {{"A", false, 21, 16}, {"t", false, 24, 16}, {"C", false, 12, 4}},
                       2,
                       false,
                       1}}}};
  around.variants[0].nests[0].code.kept = 2;
  tiles.variants[0].nests[0].code.kept = 1;
  tiles.variants[0].nests[1].code.kept = 1;
  const Sizes here{{{"i", 1000}, {"j", 30}, {"k", 1000}, {"l", 16}, {"m", 16}},
                   {{"B", {1000, 30'000, 30'000}}}};
  EXPECT_EQ(select({around, tiles}, here, small_caches())->index, 1U);
}

TEST(Selecting, a_variant_is_priced_by_its_own_nests) {
  // The same loops, but the row of the result is read and written less often in the second variant.
  const Nest often{{loop("i"), loop("j"), loop("l")}, {{"A", false, 7, 4}}, 0, false, 2};
  Nest seldom = often;
  seldom.weight = 1;
  FrontierEntry e = entry("s1", "ijl", {{2, {extent("i"), extent("j"), extent("l")}}}, {});
  e.variants = {{"often", "ijl", {often}}, {"again", "ijl", {often}}};
  const Sizes here{{{"i", 10}, {"j", 10}, {"l", 10}}, {}};
  Machine machine = small_caches();
  machine.rates = {0.1, 0.5, 0, 0, 0, 1};
  const auto first = select({e}, here, machine)->evaluated[0];
  EXPECT_EQ(first.variant, 0U);
  e.variants[1] = {"seldom", "ij:4l", {seldom}};
  const auto second = select({e}, here, machine)->evaluated[0];
  EXPECT_EQ(second.variant, 1U);
  EXPECT_NEAR(first.predicted - second.predicted, 1000 * 0.5, 1e-6);
  // An entry that is the best by such a variant alone is not passed over.
  FrontierEntry competitor = e, strided = e;
  competitor.variants.pop_back();
  strided.time_terms[0].weight = 8;
  strided.variants[0].nests[0].weight = 8;
  EXPECT_EQ(select({competitor, strided}, here, machine)->index, 1U);
}

TEST(Selecting, needs_a_schedule) {
  EXPECT_EQ(support::render(select({}, sizes(), {}).error()),
            "invalid [empty-frontier]: there is no schedule to select from");
}

}  // namespace
}  // namespace schaas::client
