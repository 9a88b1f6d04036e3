// Packing: storage arrays by hand for small tensors, round trips for random ones, the diagnostics, the
// validator.
#include <gtest/gtest.h>

#include <unistd.h>
#include <limits>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <regex>

#include "schaas/fill.h"
#include "schaas/select.h"
#include "schaas/tensor.h"

namespace schaas::client {
namespace {

using format::LevelFormat;
using format::TensorFormat;

constexpr auto D = LevelFormat::dense;
constexpr auto C = LevelFormat::compressed;

const TensorFormat csr{{D, C}, {0, 1}};
const TensorFormat csc{{D, C}, {1, 0}};

// 0 5 0
// 1 0 7   given unsorted, with the 7 in two parts
CooTensor small_matrix() { return {{2, 3}, {{1, 0, 1, 1}, {2, 1, 0, 2}}, {4, 5, 1, 3}}; }

template <class T>
std::vector<T> list(const Buffer& buffer) {
  return {buffer.as<T>(), buffer.as<T>() + buffer.bytes() / sizeof(T)};
}

TEST(Packing, csr_arrays_are_sorted_and_duplicates_are_added) {
  const auto packed = pack(small_matrix(), csr, {"B", ValueType::f64, 32});
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(packed->levels()[0].entries, 2);
  EXPECT_EQ(list<std::int32_t>(packed->levels()[1].pos), (std::vector<std::int32_t>{0, 1, 3}));
  EXPECT_EQ(list<std::int32_t>(packed->levels()[1].crd), (std::vector<std::int32_t>{1, 0, 2}));
  EXPECT_EQ(list<double>(packed->values()), (std::vector<double>{5, 1, 7}));
}

TEST(Packing, csc_stores_columns) {
  const auto packed = pack(small_matrix(), csc, {"B", ValueType::f32, 64});
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(list<std::int64_t>(packed->levels()[1].pos), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(list<std::int64_t>(packed->levels()[1].crd), (std::vector<std::int64_t>{1, 0, 1}));
  EXPECT_EQ(list<float>(packed->values()), (std::vector<float>{1, 5, 7}));
}

TEST(Packing, csf_shares_prefixes) {
  const CooTensor tensor{{4, 2, 5}, {{3, 0, 3, 0}, {1, 0, 1, 0}, {4, 2, 0, 1}}, {1, 2, 3, 4}};
  const auto packed = pack(tensor, TensorFormat{{C, C, C}, {0, 1, 2}}, {"B", ValueType::f64, 64});
  ASSERT_TRUE(packed.ok());
  const auto& levels = packed->levels();
  EXPECT_EQ(list<std::int64_t>(levels[0].pos), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(list<std::int64_t>(levels[0].crd), (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(list<std::int64_t>(levels[1].pos), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(list<std::int64_t>(levels[1].crd), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(list<std::int64_t>(levels[2].pos), (std::vector<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(list<std::int64_t>(levels[2].crd), (std::vector<std::int64_t>{1, 2, 0, 4}));
  EXPECT_EQ(list<double>(packed->values()), (std::vector<double>{4, 2, 3, 1}));
}

TEST(Packing, a_dense_level_below_a_compressed_one_stores_whole_rows) {
  const auto packed = pack(small_matrix(), TensorFormat{{C, D}, {0, 1}}, {"B", ValueType::f64, 64});
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(list<double>(packed->values()), (std::vector<double>{0, 5, 0, 1, 0, 7}));
}

TEST(Packing, view_says_what_the_abi_promises) {
  auto packed = pack(small_matrix(), csc, {"B", ValueType::f32, 32});
  ASSERT_TRUE(packed.ok());
  const PackedTensor moved = std::move(*packed);
  const schaas_tensor view = moved.view();
  EXPECT_EQ(view.order, 2);
  EXPECT_EQ(view.value_type, SCHAAS_F32);
  EXPECT_EQ(view.extents[0], 2);
  EXPECT_EQ(view.extents[1], 3);
  EXPECT_EQ(view.mode_order[0], 1);
  EXPECT_EQ(view.levels[0].format, SCHAAS_LEVEL_DENSE);
  EXPECT_EQ(view.levels[0].pos, nullptr);
  EXPECT_EQ(view.levels[0].index_bits, 0);
  EXPECT_EQ(view.levels[1].index_bits, 32);
  EXPECT_EQ(view.levels[1].entries, 3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.values) % 64, 0U);
  EXPECT_TRUE(validate(view, "B").ok());
}

// 2^63 is a double and no i64; the double below it is one.
TEST(Packing, TakesNumbersThatAnIntegerTypeHasAlone) {
  const auto packed = [](double value, ValueType type) {
    return pack(CooTensor{{}, {}, {value}}, TensorFormat{}, {"s", type, 64});
  };
  const auto largest = packed(0x1.fffffffffffffp62, ValueType::i64);
  ASSERT_TRUE(largest.ok());
  EXPECT_EQ(largest->values().as<std::int64_t>()[0], 9223372036854774784);
  EXPECT_TRUE(packed(-0x1p63, ValueType::i64).ok() && packed(2147483647, ValueType::i32).ok());
  EXPECT_EQ(support::render(packed(0x1p63, ValueType::i64).error()),
            "invalid [value-type]: `s` holds 9223372036854775808, which is no i64\n"
            "  note: values of f64 hold it");
  EXPECT_EQ(support::render(packed(2147483648, ValueType::i32).error()),
            "invalid [value-type]: `s` holds 2147483648, which is no i32\n"
            "  note: values of f64 hold it");
  EXPECT_FALSE(packed(0.5, ValueType::i64).ok());
}

TEST(Packing, scalars_have_one_value) {
  const auto packed = pack(CooTensor{{}, {}, {2, 3}}, TensorFormat{}, {"s", ValueType::f64, 64});
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(packed->stored(), 1);
  EXPECT_EQ(packed->value(0), 5);
  EXPECT_EQ(unpack(*packed).values, (std::vector<double>{5}));
}

TEST(Packing, tensors_without_entries_and_without_extent_pack) {
  for (const std::int64_t rows : {0, 3}) {
    const auto packed = pack(CooTensor{{rows, 4}, {{}, {}}, {}}, csr, {"B", ValueType::f64, 64});
    ASSERT_TRUE(packed.ok());
    EXPECT_EQ(packed->stored(), 0);
    EXPECT_EQ(list<std::int64_t>(packed->levels()[1].pos), std::vector<std::int64_t>(rows + 1, 0));
    EXPECT_TRUE(validate(packed->view(), "B").ok());
    EXPECT_EQ(unpack(*packed).entries(), 0U);
  }
}

TEST(Packing, large_buffers_are_zeroed_and_copied) {
  Buffer buffer(std::size_t{9} << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
  EXPECT_EQ(buffer.as<char>()[buffer.bytes() - 1], 0);
  buffer.as<char>()[buffer.bytes() - 1] = 7;
  EXPECT_EQ(buffer.copy().as<char>()[buffer.bytes() - 1], 7);
}

// ---- random round trips

using Entries = std::map<std::vector<std::int64_t>, double>;

Entries entries_of(const CooTensor& tensor) {
  Entries entries;
  for (std::size_t e = 0; e < tensor.entries(); ++e) {
    std::vector<std::int64_t> at;
    for (const auto& mode : tensor.coordinates) at.push_back(mode[e]);
    entries[at] += tensor.values[e];
  }
  return entries;
}

CooTensor random_tensor(std::mt19937_64& random, int order, std::int64_t largest_extent) {
  CooTensor tensor;
  for (int m = 0; m < order; ++m)
    tensor.extents.push_back(1 + static_cast<std::int64_t>(random() % largest_extent));
  tensor.coordinates.resize(order);
  const std::size_t count = random() % 60;
  for (std::size_t e = 0; e < count; ++e) {
    for (int m = 0; m < order; ++m) {
      tensor.coordinates[m].push_back(static_cast<std::int64_t>(random() % tensor.extents[m]));
    }
    tensor.values.push_back(1 + static_cast<double>(random() % 100));  // small integers: sums are exact
  }
  return tensor;
}

TensorFormat random_format(std::mt19937_64& random, int order) {
  TensorFormat format;
  for (int l = 0; l < order; ++l) {
    static constexpr LevelFormat kinds[] = {D, C, LevelFormat::bitmap, LevelFormat::banded,
                                            LevelFormat::hashed};
    format.levels.push_back(kinds[random() % std::size(kinds)]);
    format.mode_order.push_back(l);
  }
  if (order > 1 && random() % 2 == 0) {  // coordinates told apart by singletons
    const auto first = static_cast<int>(random() % (order - 1));
    const auto last = first + 1 + static_cast<int>(random() % (order - first - 1));
    format.levels[first] = format::LevelFormat::compressed_nonunique;
    for (int l = first + 1; l <= last; ++l) format.levels[l] = format::LevelFormat::singleton_nonunique;
    format.levels[last] = format::LevelFormat::singleton;
  }
  std::shuffle(format.mode_order.begin(), format.mode_order.end(), random);
  return format;
}

TEST(Packing, unpacking_gives_back_what_was_packed_in_any_format) {
  const std::uint64_t seed = 20260101;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 400; ++trial) {
    const int order = 1 + static_cast<int>(random() % 4);
    const CooTensor tensor = random_tensor(random, order, 9);
    const TensorFormat format = random_format(random, order);
    const int bits = random() % 2 == 0 ? 32 : 64;
    const ValueType type = random() % 2 == 0 ? ValueType::f64 : ValueType::f32;
    SCOPED_TRACE("trial " + std::to_string(trial) + " " + format::print(format));
    const auto packed = pack(tensor, format, {"B", type, bits});
    ASSERT_TRUE(packed.ok());
    const auto valid = validate(packed->view(), "B");
    ASSERT_TRUE(valid.ok()) << support::render(valid.error());
    EXPECT_EQ(entries_of(unpack(*packed)), [&] {
      Entries wanted = entries_of(tensor);
      if (format::holds_entries(format.levels.back())) {
        for (const auto& [at, value] : entries_of(unpack(*packed)))
          wanted.emplace(at, value);  // stored zeros
      }
      return wanted;
    }());
    const auto dense = to_dense(*packed), wanted = to_dense(tensor, "B");
    ASSERT_TRUE(dense.ok() && wanted.ok());
    ASSERT_EQ(dense->size(), wanted->size());
    for (std::int64_t e = 0; e < dense->size(); ++e) ASSERT_EQ(dense->at(e), wanted->at(e));
  }
}

TEST(Packing, extents_beyond_64_bits_of_key_are_sorted_by_comparing) {
  const std::uint64_t seed = 7;
  std::mt19937_64 random(seed);
  CooTensor tensor = random_tensor(random, 4, 3);
  tensor.extents = {1LL << 40, 1LL << 40, 1LL << 40, 5};
  const auto packed = pack(tensor, TensorFormat{{C, C, C, C}, {2, 0, 3, 1}}, {"B", ValueType::f64, 64});
  ASSERT_TRUE(packed.ok());
  EXPECT_TRUE(validate(packed->view(), "B").ok());
  EXPECT_EQ(entries_of(unpack(*packed)), entries_of(tensor));
}

TEST(Packing, a_large_unsorted_matrix_is_sorted) {
  std::mt19937_64 random(11);
  CooTensor tensor;
  tensor.extents = {70000, 50000};
  tensor.coordinates.resize(2);
  for (int e = 0; e < 200000; ++e) {
    tensor.coordinates[0].push_back(static_cast<std::int64_t>(random() % 70000));
    tensor.coordinates[1].push_back(static_cast<std::int64_t>(random() % 50000));
    tensor.values.push_back(static_cast<double>(random() % 8));
  }
  const auto packed = pack(tensor, csr, {"B", ValueType::f64, 32});
  ASSERT_TRUE(packed.ok());
  EXPECT_TRUE(validate(packed->view(), "B").ok());
  EXPECT_EQ(entries_of(unpack(*packed)), entries_of(tensor));
}

TEST(Packing, dense_tensors_are_stored_in_mode_order) {
  auto dense = zeros({2, 3}, ValueType::f64);
  ASSERT_TRUE(dense.ok());
  for (int e = 0; e < 6; ++e) dense->set(e, e);
  const auto packed = pack(*dense, TensorFormat{{D, D}, {1, 0}}, {"C", ValueType::f64, 64});
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(list<double>(packed->values()), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  const auto back = to_dense(*packed);
  ASSERT_TRUE(back.ok());
  for (int e = 0; e < 6; ++e) EXPECT_EQ(back->at(e), e);
  const auto sparse = pack(*dense, csr, {"C", ValueType::f64, 64});
  ASSERT_TRUE(sparse.ok());
  EXPECT_EQ(sparse->stored(), 5);
}

// ---- what is refused

TEST(Packing, refuses_a_format_of_another_order) {
  const auto packed = pack(small_matrix(), TensorFormat{{C, C, C}, {0, 1, 2}}, {"B", ValueType::f64, 64});
  ASSERT_FALSE(packed.ok());
  EXPECT_EQ(support::render(packed.error()),
            "invalid [format-rank]: `B` has 2 modes but its format compressed,compressed,compressed:0,1,2 "
            "has 3 levels");
}

TEST(Packing, refuses_coordinates_outside) {
  const auto packed = pack(CooTensor{{2, 3}, {{0, 1}, {0, 3}}, {1, 1}}, csr, {"B", ValueType::f64, 64});
  ASSERT_FALSE(packed.ok());
  EXPECT_EQ(support::render(packed.error()),
            "invalid [coordinate-range]: entry 2 of `B` has coordinate 3 in mode 2, whose extent is 3");
}

TEST(Packing, refuses_32_bit_positions_that_would_overflow) {
  const CooTensor wide{{2, std::int64_t{1} << 31}, {{0}, {5}}, {1}};
  const auto packed = pack(wide, csr, {"B", ValueType::f64, 32});
  ASSERT_FALSE(packed.ok());
  EXPECT_EQ(
      support::render(packed.error()),
      "invalid [position-overflow]: level 2 of `B` has extent 2147483648, too many for 32-bit positions: use "
      "64-bit positions");
  EXPECT_TRUE(pack(wide, csr, {"B", ValueType::f64, 64}).ok());
  EXPECT_EQ(position_bits_for(wide, csr), 64);
  EXPECT_EQ(position_bits_for(small_matrix(), csr), 32);
}

TEST(Packing, refuses_dense_levels_that_no_machine_holds) {
  const CooTensor huge{{std::int64_t{1} << 40, std::int64_t{1} << 40}, {{0}, {0}}, {1}};
  const auto packed = pack(huge, format::dense(2), {"B", ValueType::f64, 64});
  ASSERT_FALSE(packed.ok());
  EXPECT_EQ(support::render(packed.error()),
            "exhausted [memory]: `B` packed as dense,dense:0,1 needs more than 2^63 elements, more than this "
            "machine has");
  const CooTensor large{{std::int64_t{1} << 20, std::int64_t{1} << 30}, {{0}, {0}}, {1}};
  const auto refused = pack(large, format::dense(2), {"B", ValueType::f64, 64});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(support::render(refused.error()),
            "exhausted [memory]: `B` packed as dense,dense:0,1 needs 8.0 PiB, more than this machine has");
}

TEST(Packing, sparse_results_start_without_entries) {
  for (const int bits : {32, 64}) {
    const auto result = zeros({2, 3}, csr, {"A", ValueType::f64, bits});
    ASSERT_TRUE(result.ok()) << support::render(result.error());
    EXPECT_TRUE(validate(result->view(), "A").ok());
    EXPECT_EQ(result->stored(), 0);
    EXPECT_EQ(result->levels()[1].pos.bytes(), static_cast<std::size_t>(3 * bits / 8));
    EXPECT_EQ(unpack(*result).entries(), 0u);
    EXPECT_EQ(to_dense(*result)->values.bytes(), 48u);
  }
}

TEST(Packing, coo_holds_every_entry_once_in_order) {
  const CooTensor entries{{3, 4}, {{2, 0, 2, 0, 2}, {1, 3, 0, 3, 1}}, {5, 1, 4, 2, 6}};
  const TensorFormat coo = *format::parse("coo", 2, "B");
  const auto packed = pack(entries, coo, {"B", ValueType::f64, 32});
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(list<std::int32_t>(packed->levels()[0].pos), (std::vector<std::int32_t>{0, 3}));
  EXPECT_EQ(list<std::int32_t>(packed->levels()[0].crd), (std::vector<std::int32_t>{0, 2, 2}));
  EXPECT_EQ(packed->levels()[1].pos.bytes(), 0U);
  EXPECT_EQ(list<std::int32_t>(packed->levels()[1].crd), (std::vector<std::int32_t>{3, 0, 1}));
  EXPECT_EQ(list<double>(packed->values()), (std::vector<double>{3, 4, 11}));
  EXPECT_EQ(client::entries_of(*packed), (std::vector<std::int64_t>{2, 3}));
  const auto empty = zeros({3, 4}, coo, {"A", ValueType::f64, 64});
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(validate(empty->view(), "A").ok());
  EXPECT_EQ(client::entries_of(*empty), (std::vector<std::int64_t>{0, 0}));
}

TEST(Packing, bitmaps_note_what_is_held) {
  CooTensor tensor{{2, 3}, {{1, 1, 0}, {2, 0, 1}}, {5, 0, 7}};
  const auto packed = pack(tensor, *format::parse("bitmap", 2, "B"), {"B"});
  ASSERT_TRUE(packed.ok());
  const schaas_level level = packed->view().levels[1];
  EXPECT_EQ(level.entries, 6);
  EXPECT_EQ(level.index_bits, 8);
  const auto* held = static_cast<const std::uint8_t*>(level.crd);
  EXPECT_EQ(std::vector<int>(held, held + 6), (std::vector<int>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(client::entries_of(*packed), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(unpack(*packed).values, (std::vector<double>{7, 0, 5}));  // a stored zero stays
}

TEST(Packing, bands_reach_from_the_first_to_the_last_entry_of_a_row) {
  CooTensor tensor{{3, 6}, {{0, 0, 2}, {4, 1, 0}}, {5, 3, 7}};
  const auto packed = pack(tensor, *format::parse("banded", 2, "B"), {"B", ValueType::f64, 32});
  ASSERT_TRUE(packed.ok());
  const schaas_level level = packed->view().levels[1];
  const auto* pos = static_cast<const std::int32_t*>(level.pos);
  const auto* first = static_cast<const std::int32_t*>(level.crd);
  EXPECT_EQ(std::vector<int>(pos, pos + 4), (std::vector<int>{0, 4, 4, 5}));
  EXPECT_EQ(std::vector<int>(first, first + 3), (std::vector<int>{1, 0, 0}));
  EXPECT_EQ(level.entries, 5);
  EXPECT_EQ(unpack(*packed).values, (std::vector<double>{3, 5, 7}));  // what only fills the band is left out
  EXPECT_EQ(all_stored(*packed).values, (std::vector<double>{3, 0, 0, 5, 7}));
  EXPECT_EQ(all_stored(*packed).coordinates[1], (std::vector<std::int64_t>{1, 2, 3, 4, 0}));
  EXPECT_EQ(position_bits_for(tensor, packed->format()), 32);
  const std::int64_t wide = std::int64_t{1} << 30;
  CooTensor corners{{3, wide}, {{0, 0, 1, 1, 2, 2}, {0, wide - 1, 0, wide - 1, 0, 1}}, {1, 1, 1, 1, 1, 1}};
  EXPECT_EQ(position_bits_for(corners, packed->format()), 64);
}

TEST(Packing, tables_hold_coordinates_where_their_hash_says) {
  CooTensor tensor{{3, 100}, {{0, 0, 0, 2, 2}, {4, 91, 7, 3, 3}}, {5, 3, 7, 1, 1}};
  const auto packed = pack(tensor, *format::parse("hashed", 2, "B"), {"B", ValueType::f64, 32});
  ASSERT_TRUE(packed.ok());
  const schaas_level level = packed->view().levels[1];
  const auto* pos = static_cast<const std::int32_t*>(level.pos);
  EXPECT_EQ(std::vector<int>(pos, pos + 4), (std::vector<int>{0, 8, 8, 10}));
  const auto* crd = static_cast<const std::int32_t*>(level.crd);
  EXPECT_EQ(std::count(crd, crd + 10, -1), 6);
  EXPECT_EQ(client::entries_of(*packed), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(unpack(*packed).coordinates[1], (std::vector<std::int64_t>{4, 7, 91, 3}));
  EXPECT_EQ(unpack(*packed).values, (std::vector<double>{5, 7, 3, 2}));
}

TEST(TableValidation, of_places) {
  const std::int64_t extents[] = {100};
  const std::int32_t mode_order[] = {0};
  CooTensor tensor{{100}, {{4, 91}}, {5, 3}};
  auto packed = pack(tensor, *format::parse("hashed", 1, "x"), {"x", ValueType::f64, 32});
  ASSERT_TRUE(packed.ok());
  std::int32_t pos[2] = {0, 4}, crd[4];
  std::copy_n(static_cast<const std::int32_t*>(packed->view().levels[0].crd), 4, crd);
  double values[4] = {};
  const auto message = [&](std::int32_t places) {
    pos[1] = places;
    const schaas_level levels[] = {{SCHAAS_LEVEL_HASHED, 32, pos, crd, places}};
    const auto valid = validate({1, SCHAAS_F64, extents, mode_order, levels, values}, "x");
    return valid.ok() ? "" : support::render(valid.error());
  };
  EXPECT_EQ(message(4), "");
  EXPECT_EQ(message(0), "");
  const std::string table = "invalid [tensor-structure]: `x` level 1: table 0: ";
  const std::string sizes = " taken; a power of two and at most half is expected";
  const auto taken = std::to_string(3 - std::count(crd, crd + 3, -1));
  EXPECT_EQ(message(3), table + "3 slots with " + taken + sizes);
  const auto at = std::find(crd, crd + 4, 91) - crd;
  crd[at] = 100;
  EXPECT_EQ(message(4), table + "coordinate 100 is outside 0..99");
  crd[at] = -2;
  EXPECT_EQ(message(4), table + "coordinate -2 is outside 0..99");
  crd[at] = 4;  // twice
  EXPECT_EQ(message(4).rfind(table + "coordinate 4 in place ", 0), 0U) << message(4);
  std::fill(crd, crd + 4, 4);
  EXPECT_EQ(message(4), table + "4 slots with 4" + sizes);
}

TEST(BandValidation, of_its_ends) {
  const std::int64_t extents[] = {2, 6};
  const std::int32_t mode_order[] = {0, 1};
  std::int32_t pos[3] = {0, 3, 3}, first[2] = {3, 99};
  double values[3] = {1, 2, 3};
  const auto message = [&](const void* ends) {
    const schaas_level levels[] = {{SCHAAS_LEVEL_DENSE, 0, nullptr, nullptr, 2},
                                   {SCHAAS_LEVEL_BANDED, 32, pos, ends, 3}};
    const auto valid = validate({2, SCHAAS_F64, extents, mode_order, levels, values}, "B");
    return valid.ok() ? "" : support::render(valid.error());
  };
  EXPECT_EQ(message(first), "");  // an empty band begins anywhere
  EXPECT_EQ(message(nullptr), "invalid [tensor-structure]: `B` level 2: arrays are missing");
  first[0] = 4;
  EXPECT_EQ(message(first),
            "invalid [tensor-structure]: `B` level 2: a band of 3 from coordinate 4 at parent 0 is not "
            "inside 0..5");
  first[0] = -1;
  EXPECT_EQ(message(first),
            "invalid [tensor-structure]: `B` level 2: a band of 3 from coordinate -1 at parent 0 is not "
            "inside 0..5");
  first[0] = 0;
  pos[1] = 4;
  EXPECT_EQ(message(first),
            "invalid [tensor-structure]: `B` level 2: position 2 is 3, below its predecessor 4");
}

TEST(BitmapValidation, of_its_bytes) {
  const std::int64_t extents[] = {3};
  const std::int32_t mode_order[] = {0};
  std::uint8_t held[3] = {0, 1, 1};
  double values[3] = {0, 2, 3};
  const auto message = [&](std::int32_t bits, std::int64_t entries, const void* bytes) {
    const schaas_level levels[] = {{SCHAAS_LEVEL_BITMAP, bits, nullptr, bytes, entries}};
    const auto valid = validate({1, SCHAAS_F64, extents, mode_order, levels, values}, "x");
    return valid.ok() ? "" : support::render(valid.error());
  };
  EXPECT_EQ(message(8, 3, held), "");
  EXPECT_EQ(message(8, 2, held),
            "invalid [tensor-structure]: `x` level 1: 2 entries, but 1 parents of extent 3");
  EXPECT_EQ(message(8, 3, nullptr), "invalid [tensor-structure]: `x` level 1: arrays are missing");
  EXPECT_EQ(message(32, 3, held), "invalid [tensor-structure]: `x` level 1: bitmap of 32 bits");
  held[2] = 2;
  EXPECT_EQ(message(8, 3, held),
            "invalid [tensor-structure]: `x` level 1: byte 2 at position 2: 0 or 1 is expected");
}

TEST(Packing, what_is_not_stored_is_the_fill_value) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CooTensor entries{{2, 2}, {{0, 1}, {1, 0}}, {3, 0}};
  for (const auto& format : {csr, format::dense(2)}) {
    const auto packed = pack(entries, format, {"B", ValueType::f64, 32, infinity});
    ASSERT_TRUE(packed.ok());
    EXPECT_EQ(packed->fill_value(), infinity);
    const auto dense = to_dense(*packed);
    EXPECT_EQ(std::vector<double>(dense->values.as<double>(), dense->values.as<double>() + 4),
              (std::vector<double>{infinity, 3, 0, infinity}));
    EXPECT_EQ(unpack(*packed).values, (std::vector<double>{3, 0}));
    const auto again = pack(*dense, csr, {"B", ValueType::f64, 32, infinity});
    EXPECT_EQ(unpack(*again).values, (std::vector<double>{3, 0}));
  }
  const auto result = zeros({3}, format::dense(1), {"A", ValueType::f32, 32, infinity});
  EXPECT_EQ(result->value(2), infinity);
}

// ---- the validator, on arrays damaged one at a time

class Validation : public ::testing::Test {
 protected:
  std::string message() {
    const std::int64_t extents[] = {2, 4};
    const std::int32_t mode_order[] = {0, 1};
    const schaas_level levels[] = {{SCHAAS_LEVEL_DENSE, 0, nullptr, nullptr, rows},
                                   {columns_format, 32, pos, crd, 3}};
    double values[3] = {1, 2, 3};
    const auto valid = validate({2, SCHAAS_F64, extents, mode_order, levels, values}, "B");
    return valid.ok() ? "" : support::render(valid.error());
  }
  std::int32_t columns_format = SCHAAS_LEVEL_COMPRESSED;
  std::int64_t rows = 2;
  std::int32_t pos[3] = {0, 2, 3};
  std::int32_t crd[3] = {1, 3, 0};
};

TEST_F(Validation, accepts_what_is_right) { EXPECT_EQ(message(), ""); }
TEST_F(Validation, lists_without_order) {
  columns_format = SCHAAS_LEVEL_COMPRESSED_UNORDERED;
  crd[0] = 3;
  crd[1] = 1;
  EXPECT_EQ(message(), "");
  crd[1] = 3;
  EXPECT_EQ(message(),
            "invalid [tensor-structure]: `B` level 2: coordinate 3 at position 1 is there already: distinct "
            "ones are expected");
  crd[1] = 4;
  EXPECT_EQ(message(), "invalid [tensor-structure]: `B` level 2: coordinate 4 at position 1 is outside 0..3");
}
TEST_F(Validation, first_position) {
  pos[0] = 1;
  EXPECT_EQ(message(), "invalid [tensor-structure]: `B` level 2: positions start at 1, not 0");
}
TEST_F(Validation, descending_positions) {
  pos[1] = 4;
  EXPECT_EQ(message(), "invalid [tensor-structure]: `B` level 2: position 2 is 3, below its predecessor 4");
}
TEST_F(Validation, last_position) {
  pos[2] = 2;
  EXPECT_EQ(message(),
            "invalid [tensor-structure]: `B` level 2: positions end at 2, but there are 3 coordinates");
}
TEST_F(Validation, coordinate_beyond) {
  crd[1] = 4;
  EXPECT_EQ(message(), "invalid [tensor-structure]: `B` level 2: coordinate 4 at position 1 is outside 0..3");
}
TEST_F(Validation, negative_coordinate) {
  crd[2] = -1;
  EXPECT_EQ(message(),
            "invalid [tensor-structure]: `B` level 2: coordinate -1 at position 2 is outside 0..3");
}
TEST_F(Validation, unsorted_coordinates) {
  crd[1] = 0;
  EXPECT_EQ(message(),
            "invalid [tensor-structure]: `B` level 2: coordinate 0 at position 1 does not follow 1: sorted "
            "and unique "
            "is expected");
}
TEST_F(Validation, repeated_coordinates) {
  crd[1] = 1;
  EXPECT_EQ(message(),
            "invalid [tensor-structure]: `B` level 2: coordinate 1 at position 1 does not follow 1: sorted "
            "and unique "
            "is expected");
}
TEST_F(Validation, dense_count) {
  rows = 3;
  EXPECT_EQ(message(), "invalid [tensor-structure]: `B` level 1: 3 entries, but 1 parents of extent 2");
}

class ListValidation : public ::testing::Test {
 protected:
  std::string message() {
    const std::int64_t extents[] = {3, 4};
    const std::int32_t mode_order[] = {0, 1};
    const schaas_level levels[] = {{rows_format, 32, pos, rows, 3},
                                   {columns_format, columns_bits, nullptr, columns, 3}};
    double values[3] = {1, 2, 3};
    const auto valid = validate({2, SCHAAS_F64, extents, mode_order, levels, values}, "B");
    return valid.ok() ? "" : support::render(valid.error());
  }
  std::int32_t rows_format = SCHAAS_LEVEL_COMPRESSED_NONUNIQUE, columns_format = SCHAAS_LEVEL_SINGLETON;
  std::int32_t columns_bits = 32;
  std::int32_t pos[2] = {0, 3};
  std::int32_t rows[3] = {0, 0, 2};
  std::int32_t columns[3] = {1, 3, 0};
};

TEST_F(ListValidation, accepts_what_is_right) { EXPECT_EQ(message(), ""); }
TEST_F(ListValidation, repeated_entries) {
  columns[1] = 1;
  EXPECT_EQ(message(),
            "invalid [tensor-structure]: `B` level 1: coordinate 0 at position 1 does not follow 0: sorted "
            "and unique is "
            "expected, together with the singleton levels below");
}
TEST_F(ListValidation, unsorted_rows) {
  rows[2] = -1;
  EXPECT_EQ(message(),
            "invalid [tensor-structure]: `B` level 1: coordinate -1 at position 2 is outside 0..2");
  rows[0] = rows[1] = 1;
  rows[2] = 0;
  EXPECT_EQ(message(),
            "invalid [tensor-structure]: `B` level 1: coordinate 0 at position 2 does not follow 1: sorted "
            "and unique is "
            "expected, together with the singleton levels below");
}
TEST_F(ListValidation, column_beyond) {
  columns[2] = 4;
  EXPECT_EQ(message(), "invalid [tensor-structure]: `B` level 2: coordinate 4 at position 2 is outside 0..3");
}
TEST_F(ListValidation, widths_differ) {
  columns_bits = 64;
  EXPECT_EQ(message(),
            "invalid [tensor-structure]: `B` level 2: 3 coordinates of 64 bits, but the level above has 3 of "
            "32 bits");
}
TEST_F(ListValidation, levels_that_do_not_pair) {
  rows_format = SCHAAS_LEVEL_COMPRESSED;
  EXPECT_EQ(message(),
            "invalid [tensor-structure]: `B` level 2: singleton levels and nonunique levels above them do "
            "not pair");
  rows_format = SCHAAS_LEVEL_COMPRESSED_NONUNIQUE;
  columns_format = SCHAAS_LEVEL_SINGLETON_NONUNIQUE;
  EXPECT_EQ(message(),
            "invalid [tensor-structure]: `B` level 2: singleton levels and nonunique levels above them do "
            "not pair");
  columns_format = 77;
  EXPECT_EQ(message(), "invalid [tensor-structure]: `B` level 2: unknown level format 77");
}

// ---- fill

TEST(Fill, is_the_same_everywhere) {
  EXPECT_EQ(fill_value(0, "C", 0), fill_value(0, "C", 0));
  EXPECT_NE(fill_value(0, "C", 0), fill_value(1, "C", 0));
  EXPECT_NE(fill_value(0, "C", 0), fill_value(0, "D", 0));
  const auto f64 = fill("C", {3, 5}, 42, ValueType::f64), f32 = fill("C", {3, 5}, 42, ValueType::f32);
  ASSERT_TRUE(f64.ok() && f32.ok());
  for (std::int64_t e = 0; e < 15; ++e) {
    EXPECT_EQ(f64->at(e), fill_value(42, "C", static_cast<std::uint64_t>(e)));
    EXPECT_EQ(f32->at(e), f64->at(e));
    EXPECT_LT(f64->at(e), 1);
    EXPECT_GE(f64->at(e), -1);
  }
}

TEST(Fill, what_is_too_large_is_named) {
  constexpr std::int64_t large = (std::int64_t{1} << 62) - 1;
  EXPECT_EQ(support::render(fill("C", {large, 4}, 1, ValueType::f64).error()),
            "exhausted [memory]: `C` needs more than 2^63 elements, more than this machine has");
  EXPECT_EQ(support::render(fill("C", {std::int64_t{1} << 50}, 1, ValueType::f64).error()),
            "exhausted [memory]: `C` needs 8.0 PiB, more than this machine has");
  // The system itself takes some: all there is is never free.
  const std::int64_t all = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  const auto refused = fill("C", {all / 8}, 1, ValueType::f64);
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(std::regex_match(
      support::render(refused.error()),
      std::regex("exhausted \\[memory\\]: `C` needs [0-9.]+ .iB, but only [0-9.]+ .iB of memory are free")))
      << support::render(refused.error());
}

TEST(Fill, sparse_tensors_hold_about_a_tenth) {
  const auto tensor = fill_sparse("B", {100, 50}, 7);
  ASSERT_TRUE(tensor.ok());
  EXPECT_GT(tensor->entries(), 450U);
  EXPECT_LE(tensor->entries(), 500U);
  EXPECT_EQ(tensor->coordinates, fill_sparse("B", {100, 50}, 7)->coordinates);
  EXPECT_NE(tensor->coordinates, fill_sparse("B", {100, 50}, 8)->coordinates);
  EXPECT_NE(tensor->coordinates, fill_sparse("C", {100, 50}, 7)->coordinates);
  for (std::size_t e = 0; e < tensor->entries(); ++e) {
    ASSERT_EQ(tensor->values[e], fill_value(7, "B", e));
    ASSERT_LT(tensor->coordinates[0][e], 100);
    ASSERT_LT(tensor->coordinates[1][e], 50);
  }
  // Sorted and unique, and spread over all quarters.
  const auto packed = pack(*tensor, *format::parse("dcsr", 2, "B"), {"B", ValueType::f64, 32});
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(packed->stored(), static_cast<std::int64_t>(tensor->entries()));
  std::array<int, 4> quarters{};
  for (std::size_t e = 0; e < tensor->entries(); ++e)
    ++quarters[static_cast<std::size_t>(tensor->coordinates[0][e] / 50 * 2 + tensor->coordinates[1][e] / 25)];
  for (const int count : quarters) EXPECT_GT(count, 80);
}

TEST(Fill, sparse_tensors_of_any_size) {
  EXPECT_EQ(fill_sparse("B", {1}, 1)->entries(), 1U);
  EXPECT_EQ(fill_sparse("B", {4, 0}, 1)->entries(), 0U);
  constexpr std::int64_t large = (std::int64_t{1} << 62) - 1;
  const auto tensor = fill_sparse("B", {large, large, large}, 1);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->entries(), 1000000U);
  EXPECT_GT(tensor->coordinates[2].back(), 0);
}

TEST(Fill, values_are_spread) {
  double sum = 0, squares = 0;
  constexpr int count = 100000;
  for (int e = 0; e < count; ++e) {
    const double value = fill_value(3, "C", e);
    sum += value;
    squares += value * value;
  }
  EXPECT_LT(std::abs(sum / count), 0.01);
  EXPECT_NEAR(squares / count, 1.0 / 3, 0.01);
}

}  // namespace
}  // namespace schaas::client
