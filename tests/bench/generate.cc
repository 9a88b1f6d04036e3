// Matrices and tensors with the structure of real ones, as large as wanted; the same for the same words on
// every machine with the same libm.
//
//     generate KIND SIZE ENTRIES SEED FILE
//
// banded:  SIZE rows, all entries of a band as wide as ENTRIES fill; .mtx
// stencil: SIZE^3 points of a grid, each with its 27 neighbours (27 SIZE^3 entries but for the borders,
// ENTRIES says nothing); .mtx rmat:    2^SIZE vertices, ENTRIES edges drawn by R-MAT (0.57, 0.19, 0.19, 0.05;
// Chakrabarti et al., SDM 2004), vertices renumbered; .mtx zipf:    SIZE^3, ENTRIES drawn, each coordinate
// with a chance of one over its rank, ranks spread; .tns
//
// Of entries drawn twice one is kept. Values lie between 0.5 and 1.5.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Place = std::array<std::int32_t, 3>;

// splitmix64; the distributions of the standard library differ from one to the next.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  double operator()() {  ///< in [0, 1)
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

std::vector<std::int32_t> renumbered(std::int64_t count, Draw& draw) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t n = order.size(); n > 1; --n)
    std::swap(order[n - 1], order[static_cast<std::size_t>(draw() * static_cast<double>(n))]);
  return order;
}

std::vector<Place> banded(std::int64_t rows, std::int64_t entries) {
  const std::int64_t half = std::max<std::int64_t>(0, (entries / rows - 1) / 2);
  std::vector<Place> out;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - half); j <= std::min(rows - 1, i + half); ++j) {
      out.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), 0});
    }
  }
  return out;
}

std::vector<Place> stencil(std::int32_t size) {
  std::vector<Place> out;
  const auto around = [size](std::int32_t at, auto&& body) {
    for (std::int32_t near = std::max(0, at - 1); near <= std::min(size - 1, at + 1); ++near) body(near);
  };
  for (std::int32_t point = 0; point < size * size * size; ++point) {
    around(point / size / size, [&](std::int32_t x) {
      around(point / size % size, [&](std::int32_t y) {
        around(point % size, [&](std::int32_t z) { out.push_back({point, (x * size + y) * size + z, 0}); });
      });
    });
  }
  return out;
}

std::vector<Place> rmat(std::int64_t bits, std::int64_t entries, Draw& draw) {
  const std::vector<std::int32_t> number = renumbered(std::int64_t{1} << bits, draw);
  std::vector<Place> out;
  for (std::int64_t n = 0; n < entries; ++n) {
    std::size_t i = 0, j = 0;
    for (std::int64_t bit = 0; bit < bits; ++bit) {
      const double u = draw();
      i = 2 * i + (u >= 0.76 ? 1 : 0);
      j = 2 * j + ((u >= 0.57 && u < 0.76) || u >= 0.95 ? 1 : 0);
    }
    out.push_back({number[i], number[j], 0});
  }
  return out;
}

std::vector<Place> zipf(std::int64_t size, std::int64_t entries, Draw& draw) {
  const std::array<std::vector<std::int32_t>, 3> number = {renumbered(size, draw), renumbered(size, draw),
                                                           renumbered(size, draw)};
  std::vector<Place> out(static_cast<std::size_t>(entries));
  for (Place& place : out) {
    for (std::size_t mode = 0; mode < 3; ++mode) {
      const auto rank = static_cast<std::int64_t>(std::pow(static_cast<double>(size) + 1, draw())) - 1;
      place[mode] = number[mode][static_cast<std::size_t>(std::min(rank, size - 1))];
    }
  }
  return out;
}

void write(const char* path, std::vector<Place> places, std::int64_t extent, bool tensor, Draw& draw) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::FILE* out = std::fopen(path, "w");
  if (out == nullptr) throw std::runtime_error(std::string("cannot write ") + path);
  if (!tensor) {
    std::fprintf(out, "%%%%MatrixMarket matrix coordinate real general\n%ld %ld %zu\n",
                 static_cast<long>(extent), static_cast<long>(extent), places.size());
  }
  for (const Place& place : places) {
    std::fprintf(out, "%d %d ", place[0] + 1, place[1] + 1);
    if (tensor) std::fprintf(out, "%d ", place[2] + 1);
    std::fprintf(out, "%.4f\n", 0.5 + draw());
  }
  if (std::fclose(out) != 0) throw std::runtime_error(std::string("cannot write ") + path);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 6) return 2;
  const std::string kind = argv[1];
  const std::int64_t size = std::atoll(argv[2]), entries = std::atoll(argv[3]);
  const std::int64_t most = kind == "stencil" ? 1290 : kind == "rmat" ? 30 : 2'000'000'000;
  if (size < 1 || size > most || entries < 0) throw std::runtime_error("no such size");
  Draw draw(std::strtoull(argv[4], nullptr, 10));
  if (kind == "banded") {
    write(argv[5], banded(size, entries), size, false, draw);
  } else if (kind == "stencil") {
    write(argv[5], stencil(static_cast<std::int32_t>(size)), size * size * size, false, draw);
  } else if (kind == "rmat") {
    write(argv[5], rmat(size, entries, draw), std::int64_t{1} << size, false, draw);
  } else if (kind == "zipf") {
    write(argv[5], zipf(size, entries, draw), size, true, draw);
  } else {
    throw std::runtime_error("no kind " + kind);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
