#pragma once
#include <string>
#include <vector>

#include "compiler/support/result.h"

/// Checks of the configuration file, `option = value` lines as in TOML. CLI11 parses it but reports neither
/// line nor nearest option. docs/operations.md.
namespace schaas::server {

/// Checks that the file can be read and that each line sets an option of `known` (without dashes) once.
/// Errors: invalid [configuration] with the line, a caret and the nearest option.
support::Result<void> check_configuration_file(const std::string& path,
                                               const std::vector<std::string>& known);

/// Points `error` at the line that sets the option it names, by its code or as `--option`; returns it
/// unchanged when no line does.
support::Diagnostic located(support::Diagnostic error, const std::string& path,
                            const std::vector<std::string>& known);

}  // namespace schaas::server
