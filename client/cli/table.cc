#include "client/cli/table.h"

#include <algorithm>

#include "client/cli/colour.h"

// Tables of text with columns as wide as their longest cell. Colour codes take no columns.
namespace schaas::cli {
namespace {

std::string line(const Table& table, const std::vector<std::string>& cells,
                 const std::vector<std::size_t>& widths) {
  std::string out = table.indent;
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const std::string space(widths[column] - columns_of(cells[column]), ' ');
    const bool right = std::count(table.right.begin(), table.right.end(), column) > 0;
    if (column > 0) out += "  ";
    out += right ? space + cells[column] : cells[column] + space;
  }
  // No line ends in blanks.
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

}  // namespace

std::string print(const Table& table) {
  std::vector<std::size_t> widths(table.header.size());
  for (std::size_t column = 0; column < widths.size(); ++column) widths[column] = table.header[column].size();
  for (const auto& row : table.rows) {
    if (row.size() > widths.size()) widths.resize(row.size());
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], columns_of(row[column]));
    }
  }
  std::string out;
  if (!table.header.empty()) out += line(table, table.header, widths);
  for (const auto& row : table.rows) out += line(table, row, widths);
  return out;
}

}  // namespace schaas::cli
