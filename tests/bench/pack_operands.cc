// Operands as the programs of tests/bench/yardstick.py read them, which compiles this file (-lz), and whether
// two results agree. It shares no code with the compiler.
//
//     pack_operands pack TYPE FILE FORMATS PREFIX
//
// TYPE is that of the values, f64 or f32. FILE is NAME.mtx or NAME.tns (also .gz), FORMATS those of its
// levels, dense or compressed, with commas. Entries are sorted and added up. Writes PREFIXpos1, PREFIXcrd1,
// ... of the compressed levels (int32, counted from 0) and PREFIXvalues; prints a line of extents, one of the
// numbers of entries of the levels, and one of how many coordinates of each mode occur.
//
//     pack_operands compare TYPE FILE FILE
//
// Both hold values of that type (.npy or plain). Prints the largest difference over the largest value of the
// second; `nan` when a value is one.
//
//     pack_operands total FILE
//
// Prints the number of entries of a .mtx file as it stands, the sum of their values and that of their
// absolute values.
#include "yardstick_files.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace {

struct Entry {
  std::array<int, 3> at = {};
  double value = 0;
};

struct Coordinates {
  std::vector<int> extents;
  std::vector<Entry> entries;
};

class Lines {
 public:
  explicit Lines(const std::string& path) : file_(gzopen(path.c_str(), "rb")) {
    if (file_ == nullptr) throw std::runtime_error("no file " + path);
    gzbuffer(file_, 1 << 20);
  }
  ~Lines() { gzclose(file_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  /// Null at the end.
  char* next() { return gzgets(file_, line_.data(), static_cast<int>(line_.size())); }

 private:
  gzFile file_;
  std::array<char, 4096> line_ = {};
};

bool has_number(const char* text) { return text[std::strspn(text, " \t\r\n")] != '\0'; }

Coordinates read_coordinates(const std::string& path, std::size_t order) {
  Lines lines(path);
  Coordinates out;
  const bool market = path.find(".mtx") != std::string::npos;
  bool symmetric = false, skew = false;
  if (!market) out.extents.assign(order, 0);
  for (char* line = lines.next(); line != nullptr; line = lines.next()) {
    if (market && std::strncmp(line, "%%", 2) == 0) {
      symmetric = std::strstr(line, "general") == nullptr;
      skew = std::strstr(line, "skew") != nullptr;
    }
    if (*line == '%' || *line == '#' || !has_number(line)) continue;
    Entry entry;
    for (std::size_t mode = 0; mode < order; ++mode)
      entry.at.at(mode) = static_cast<int>(std::strtol(line, &line, 10)) - 1;
    if (market && out.extents.empty()) {
      for (std::size_t mode = 0; mode < order; ++mode) out.extents.push_back(entry.at[mode] + 1);
      continue;
    }
    entry.value = has_number(line) ? std::strtod(line, nullptr) : 1.0;
    if (!market) {
      for (std::size_t mode = 0; mode < order; ++mode)
        out.extents[mode] = std::max(out.extents[mode], entry.at[mode] + 1);
    }
    out.entries.push_back(entry);
    if (symmetric && entry.at[0] != entry.at[1]) {
      std::swap(entry.at[0], entry.at[1]);
      if (skew) entry.value = -entry.value;
      out.entries.push_back(entry);
    }
  }
  return out;
}

void sort_and_add(std::vector<Entry>& entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.at < b.at; });
  std::size_t kept = 0;
  for (std::size_t n = 0; n < entries.size(); ++n) {
    if (kept > 0 && entries[kept - 1].at == entries[n].at) {
      entries[kept - 1].value += entries[n].value;
    } else {
      entries[kept++] = entries[n];
    }
  }
  entries.resize(kept);
}

template <class T>
void write(const std::string& path, const std::vector<T>& numbers) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(T)));
  if (!out.good()) throw std::runtime_error("cannot write " + path);
}

template <class T>
void pack(const std::string& path, const std::string& formats, const std::string& prefix) {
  std::vector<std::string> levels;
  for (std::size_t begin = 0; begin <= formats.size();) {
    const std::size_t end = std::min(formats.find(',', begin), formats.size());
    levels.push_back(formats.substr(begin, end - begin));
    begin = end + 1;
  }
  if (levels.size() > 3) throw std::runtime_error("at most three levels");
  Coordinates all = read_coordinates(path, levels.size());
  sort_and_add(all.entries);
  std::vector<std::int64_t> place(all.entries.size(), 0), counts, used;
  std::int64_t parents = 1;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const int extent = all.extents.at(level);
    std::vector<char> seen(static_cast<std::size_t>(extent), 0);
    std::vector<int> pos(levels[level] == "dense" ? 0 : static_cast<std::size_t>(parents) + 1, 0), crd;
    std::int64_t before = -1;
    for (std::size_t n = 0; n < place.size(); ++n) {
      const int at = all.entries[n].at[level];
      const std::int64_t parent = place[n];
      seen[static_cast<std::size_t>(at)] = 1;
      if (levels[level] == "dense") {
        place[n] = parent * extent + at;
        continue;
      }
      if (parent != before || crd.back() != at) {
        crd.push_back(at);
        ++pos[static_cast<std::size_t>(parent) + 1];
      }
      before = parent;
      place[n] = static_cast<std::int64_t>(crd.size()) - 1;
    }
    for (std::size_t n = 1; n < pos.size(); ++n) pos[n] += pos[n - 1];
    parents = levels[level] == "dense" ? parents * extent : static_cast<std::int64_t>(crd.size());
    counts.push_back(parents);
    used.push_back(std::count(seen.begin(), seen.end(), 1));
    if (levels[level] == "dense") continue;
    write(prefix + "pos" + std::to_string(level + 1), pos);
    write(prefix + "crd" + std::to_string(level + 1), crd);
  }
  std::vector<T> values(all.entries.size());
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<T>(all.entries[n].value);
  write(prefix + "values", values);
  for (const int extent : all.extents) std::printf("%d ", extent);
  std::printf("\n");
  for (const std::int64_t count : counts) std::printf("%ld ", static_cast<long>(count));
  std::printf("\n");
  for (const std::int64_t count : used) std::printf("%ld ", static_cast<long>(count));
  std::printf("\n");
}

template <class T>
void compare(const char* one, const char* other) {
  const std::vector<T> a = read<T>(one), b = read<T>(other);
  if (a.size() != b.size())
    throw std::runtime_error(std::to_string(a.size()) + " values, not " + std::to_string(b.size()));
  double most = 0, largest = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    const double difference = std::abs(double{a[n]} - double{b[n]});
    if (!(difference <= most)) most = difference;
    if (std::isnan(most)) break;
    largest = std::max(largest, std::abs(double{b[n]}));
  }
  std::printf("%.3g\n", largest > 0 ? most / largest : most);
}

void total(const char* path) {
  const Coordinates all = read_coordinates(path, 2);
  double sum = 0, size = 0;
  for (const Entry& entry : all.entries) sum += entry.value, size += std::abs(entry.value);
  std::printf("%zu %.17g %.17g\n", all.entries.size(), sum, size);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc > 1 ? argv[1] : "";
  const bool is_f32 = argc > 2 && std::string(argv[2]) == "f32";
  if (what == "pack" && argc == 6) {
    (is_f32 ? pack<float> : pack<double>)(argv[3], argv[4], argv[5]);
  } else if (what == "compare" && argc == 5) {
    (is_f32 ? compare<float> : compare<double>)(argv[3], argv[4]);
  } else if (what == "total" && argc == 3) {
    total(argv[2]);
  } else {
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
