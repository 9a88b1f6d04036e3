// What the programs that yardstick.py builds share: their files and extents.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

template <class T>
std::vector<T> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("no file ") + path);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

// Of "i=5,j=7,k=16".
inline std::map<char, std::int64_t> extents_of(const char* text) {
  std::map<char, std::int64_t> extents;
  while (*text != '\0') {
    char* end = nullptr;
    extents[*text] = std::strtol(text + 2, &end, 10);
    text = *end == ',' ? end + 1 : end;
  }
  return extents;
}
