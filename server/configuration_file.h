#pragma once
#include <string>
#include <vector>

#include "compiler/support/result.h"

/// The configuration file of schaasd is read by the library that reads its command line: `option = value` a
/// line, as in TOML, `#` begins a comment. That library tells neither line nor near name; these do.
/// docs/operations.md.
namespace schaas::server {

/// Whether the file can be read, and every line names an option of `known` (without the dashes), once.
/// Errors: invalid [configuration] with the line, a caret and the nearest option.
support::Result<void> check_configuration_file(const std::string& path,
                                               const std::vector<std::string>& known);

/// `error` pointing at the line of the file that gives the option it speaks of, by its code or as `--option`;
/// unchanged when there is none.
support::Diagnostic located(support::Diagnostic error, const std::string& path,
                            const std::vector<std::string>& known);

}  // namespace schaas::server
