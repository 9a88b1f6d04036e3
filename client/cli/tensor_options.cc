#include "client/cli/tensor_options.h"

#include "client/cli/named_values.h"

// Options for tensors, shared by the commands that read some.
namespace schaas::cli {

void add_to(CLI::App& command, TensorOptions& options) {
  command
      .add_option("-t,--tensor", options.files,
                  "File of a tensor: .mtx, .tns, .npy or .npz, also compressed; - is standard input")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  command.add_option("-d,--extent", options.extents, "Extent of an index that no file gives")
      ->type_name("INDEX=N")
      ->allow_extra_args(false);
  command.add_option("--bound", options.bounds, "Whole number for a name in a range, as in `B(i(lo:hi),j)`")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  command.add_option("--seed", options.seed, "Of the values of operands without a file")
      ->capture_default_str()
      ->type_name("N");
}

support::Result<TensorArguments> tensor_arguments(const TensorOptions& options,
                                                  client::ValueType value_type) {
  TensorArguments arguments;
  SCHAAS_ASSIGN_OR_RETURN(arguments.files,
                          parse_named(options.files, {"-t", "NAME", "FILE", "-t B=matrix.mtx.gz"}));
  SCHAAS_ASSIGN_OR_RETURN(arguments.extents, parse_extents(options.extents));
  SCHAAS_ASSIGN_OR_RETURN(arguments.bounds, parse_bounds(options.bounds));
  arguments.value_type = value_type;
  arguments.seed = options.seed;
  return arguments;
}

}  // namespace schaas::cli
