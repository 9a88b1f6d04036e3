"""Plain loops in C++ for one loop tree: what a compiler without schaas's code generator prints for it.

`source(tree, ...)` turns the text of `schaas emit --lang tree` into one self-contained program: the loops
as they stand, every update in place (`A[..] += ..`), temporaries allocated once and cleared where the tree says so. It knows one
sparse operand named B, dense arrays otherwise, and a result that has the pattern of B's first `kept` levels (0: dense). It shares nothing
with the compiler: it is the yardstick of tests/bench/yardstick.py.

The program is called with the extents (`i=5,j=7`), the number of runs and seconds to spend, then the files of B (`pos` and `crd` of its compressed
levels as int32, values), of the dense operands (row major, .npy or plain) and of the result to write; it prints the seconds of each run. So one
program serves all sizes, and its compiler knows none of them.
"""

import re

ACCESS = re.compile(r"(\w+)(?:\(([\w,]*)\))?")


def access(text):
    name, indices = ACCESS.fullmatch(text.strip()).groups()
    return name, tuple(filter(None, (indices or "").split(",")))


class Node:
    """A loop (`index` set) or one line of text, with what stands below it."""

    def __init__(self, text):
        self.index = text[4:].strip() if text.startswith("for ") else None
        self.text = text
        self.body = []

    def reads(self, name):
        return any(child.reads(name) for child in self.body) if self.index else re.search(rf"\b{name}\(", self.text) is not None


def parse(tree):
    root, stack = Node("for"), []
    root.index = ""
    for line in tree.splitlines():
        if not line.strip():
            continue
        depth = (len(line) - len(line.lstrip())) // 2
        node = Node(line.strip())
        del stack[depth:]
        (stack[-1] if stack else root).body.append(node)
        if node.index is not None:
            stack.append(node)
    return root


class Printer:
    """`sparse` are B's indices by level, `levels` their formats (dense, compressed)."""

    def __init__(self, sparse, levels, result, kept):
        self.sparse, self.levels, self.result, self.kept = sparse, levels, result, kept
        self.lines, self.temporaries = [], {}

    def place(self, text, bound):
        name, indices = access(text)
        if name == "B":
            return f"{name}[p{bound}]" if bound else f"{name}[0]"
        if name == self.result and self.kept:
            return f"{name}[" + "".join(["("] * len(indices[self.kept:]) + [f"p{self.kept}"] + [f") * n_{index} + {index}" for index in indices[self.kept:]]) + "]"
        if name not in self.dense and name != self.result:
            self.temporaries.setdefault(name, indices)
        if not indices:
            return name + "[0]"
        offset = indices[0]
        for index in indices[1:]:
            offset = f"({offset}) * n_{index} + {index}"
        return f"{name}[{offset}]"

    def emit(self, node, bound, indent):
        pad = "  " * indent
        if node.index is None:
            target, operator, value = re.fullmatch(r"(\S+) (\+?=) (.*)", node.text).groups()
            name, indices = access(target)
            if operator == "=":
                self.temporaries.setdefault(name, indices)
                size = " * ".join(f"n_{index}" for index in indices) or "1"
                self.lines.append(f"{pad}for (long z = 0; z < {size}; ++z) {name}[z] = 0;")
                return
            factors = " * ".join(self.place(factor, bound) for factor in value.split(" * "))
            self.lines.append(f"{pad}{self.place(target, bound)} += {factors};")
            return
        index, below = node.index, bound
        if bound < len(self.sparse) and self.sparse[bound] == index and node.reads("B"):
            parent, level, below = f"p{bound}" if bound else "0", bound + 1, bound + 1
            if self.levels[bound] == "compressed":
                self.lines.append(f"{pad}for (long p{level} = pos{level}[{parent}]; p{level} < pos{level}[{parent} + 1]; ++p{level}) {{")
                self.lines.append(f"{pad}  const long {index} = crd{level}[p{level}];")
            else:
                self.lines.append(f"{pad}for (long {index} = 0; {index} < n_{index}; ++{index}) {{")
                self.lines.append(f"{pad}  const long p{level} = {parent} * n_{index} + {index};")
        else:
            self.lines.append(f"{pad}for (long {index} = 0; {index} < n_{index}; ++{index}) {{")
        for child in node.body:
            self.emit(child, below, indent + 1)
        self.lines.append(pad + "}")


def source(tree, sparse, levels, dense, result, result_indices, extents, kept=0, value="double"):
    """`dense`: {name: indices} of the dense operands in the order of the command line; `extents`: the indices; `value`: their C type."""
    printer = Printer(sparse, levels, result, kept)
    printer.dense = dense
    for node in parse(tree).body:
        printer.emit(node, 0, 1)
    size = " * ".join(([f"crd{kept}.size()"] if kept else []) + [f"n_{index}" for index in result_indices[kept:]])
    files = [f"pos{n + 1}" for n, level in enumerate(levels) if level == "compressed"]
    arguments = [("int", name) for level in files for name in (level, level.replace("pos", "crd"))]
    arguments += [(value, "B")] + [(value, name) for name in dense]
    text = ['#include "yardstick_files.h"', "#include <chrono>", "#include <cstdio>"]
    names = [f"const {kind}* __restrict {name}" for kind, name in arguments]
    names += [f"{value}* __restrict {name}" for name in [result, *printer.temporaries]]
    names += [f"long n_{index}" for index in extents]
    text += [f"__attribute__((noipa)) static void kernel({', '.join(names)}, long size) {{", f"  for (long z = 0; z < size; ++z) {result}[z] = 0;"]
    text += printer.lines + ["}"]
    text += ["int main(int, char** argv) {", "  const int runs = std::atoi(argv[2]);", "  const double limit = std::atof(argv[3]);"]
    text += ["  auto extents = extents_of(argv[1]);"] + [f"  const long n_{index} = extents.at('{index}');" for index in extents]
    text += [f"  const std::vector<{kind}> {name} = read<{kind}>(argv[{n + 4}]);" for n, (kind, name) in enumerate(arguments)]
    text += [f"  std::vector<{value}> {result}({size});"]
    text += [f"  std::vector<{value}> {name}({' * '.join(f'n_{index}' for index in indices) or 1});" for name, indices in printer.temporaries.items()]
    call = [f"{name}.data()" for _, name in arguments] + [f"{name}.data()" for name in [result, *printer.temporaries]]
    call += [f"n_{index}" for index in extents] + [f"{result}.size()"]
    text += ["  double spent = 0;", "  for (int run = 0; run < runs && (run < 1 || spent < limit); ++run) {",
             "    const auto begin = std::chrono::steady_clock::now();", f"    kernel({', '.join(call)});",
             "    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();",
             '    spent += seconds;', '    std::printf("%.9g\\n", seconds);', "  }",
             f'  std::FILE* out = std::fopen(argv[{len(arguments) + 4}], "wb");',
             f"  return std::fwrite({result}.data(), sizeof({value}), {result}.size(), out) == {result}.size() && std::fclose(out) == 0 ? 0 : 1;", "}"]
    return "\n".join(text) + "\n"
