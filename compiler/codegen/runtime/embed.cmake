# Writes OUTPUT, a C++ source with a function NAME_declarations() for each header of FILES: its text without lines of
# documentation (`///`), `#pragma once` and #includes of other headers of the runtime.
#   cmake -D OUTPUT=FILE -D FILES=A.h,B.cuh -P embed.cmake
set(source "#include \"compiler/codegen/runtime.h\"\n\nnamespace schaas::codegen {\n")
string(REPLACE "," ";" FILES "${FILES}")
foreach(file IN LISTS FILES)
  file(READ "${file}" text)
  string(REGEX REPLACE "(^|\n)(///[^\n]*\n)+" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)(#pragma once\n|#include \"[^\n]*\n)+" "\\1" text "${text}")
  get_filename_component(name "${file}" NAME_WE)
  string(APPEND source "std::string_view ${name}_declarations() {\n  return R\"text(${text})text\";\n}\n")
endforeach()
string(APPEND source "}  // namespace schaas::codegen\n")
file(WRITE "${OUTPUT}" "${source}")
