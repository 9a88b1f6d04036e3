// What the programs that yardstick.py builds share: their files and extents.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// The numbers of a file; of .npy what follows the header.
template <class T>
std::vector<T> read(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error(std::string("no file ") + path);
  const std::streamoff size = file.tellg();
  unsigned char start[10] = {};
  file.seekg(0);
  const bool npy =
      size >= 10 && file.read(reinterpret_cast<char*>(start), 10) && std::memcmp(start, "\x93NUMPY", 6) == 0;
  const std::streamoff skipped = npy ? 10 + start[8] + 256 * start[9] : 0;
  std::vector<T> out(static_cast<std::size_t>(size - skipped) / sizeof(T));
  file.clear();
  file.seekg(skipped);
  if (!file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size() * sizeof(T)))) {
    throw std::runtime_error(std::string("cannot read ") + path);
  }
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
