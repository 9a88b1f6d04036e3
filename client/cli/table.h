#pragma once
#include <string>
#include <vector>

namespace schaas::cli {

/// A table for people: columns as wide as their widest cell, two spaces between them, no trailing space.
/// Columns named in `right` (by number) are aligned to the right. Each line ends with a newline.
struct Table {
  std::vector<std::string> header;  ///< may be empty: no header line
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> right;
  std::string indent;
};
std::string print(const Table& table);

}  // namespace schaas::cli
