#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace schaas::golden {

/// Returns the bytes of a file; "" where there is none.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace schaas::golden
