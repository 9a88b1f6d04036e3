#pragma once
#include <string>

namespace schaas::client {

/// Returns the directory of this user's files: `schaas` in the folder that `variable` names
/// ("XDG_DATA_HOME"), else in `below_home` of the home folder (".local/share"). Relative paths count as unset
/// (XDG Base Directory Specification 0.8). "" when neither is set.
std::string user_directory(const char* variable, const char* below_home);

}  // namespace schaas::client
