#pragma once
#include <cstddef>
#include <string>

/// Counts as people read them.
namespace schaas::support {

std::string grouped(const std::string& digits);  ///< "1209527396" -> "1,209,527,396"
std::string counted(std::size_t count, const std::string& one,
                    const std::string& many);  ///< "1 kernel", "2,000 kernels"

}  // namespace schaas::support
