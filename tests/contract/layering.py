"""The layering of the code, as a table, the scan that compares every #include with it, and the picture of what was found.

A folder may include its own headers and those of the folders in its row, nothing else of the project; a few third-party headers
are confined to the files named below. docs/ARCHITECTURE.md holds the picture: SCHAAS_UPDATE=1 tests/contract/layering_test.py draws it anew.

    python3 tests/contract/layering.py [ROOT]     prints the violations; exit status 1 when there are any
"""

import collections
import pathlib
import re
import sys

SUPPORT = ["compiler/support"]
# The connection to a server, which libschaas.so does not link (client/cpp/CMakeLists.txt, client_remote and schaas_remote).
REMOTE = r"client/cpp/remote/(admin|calls|channel|connection|connection_state|jobs|linked_server|marshalling|retry_policy|server_library|status)\.(h|cc)"
OPERATORS = SUPPORT + ["compiler/operators"]
FRONT = OPERATORS + ["compiler/format", "compiler/index_notation"]
PROBLEM = FRONT + ["compiler/problem"]
NODES = PROBLEM + ["compiler/concrete_notation"]
TREE = NODES + ["compiler/concrete_notation/checks", "compiler/concrete_notation/copies"]
SCHEDULE = ["compiler/schedule", "compiler/schedule/replay"]
PROOFS = ["compiler/frontier/proofs"]
SPACE = ["compiler/space", "compiler/space/listed"]
LOWER = TREE + ["compiler/merge_lattice", "compiler/loop_ir"]
# The stages and what they return: for the server, which decides nothing about tensors.
COMPILER = TREE + SCHEDULE + PROOFS + ["compiler/cost", "compiler/frontier", "compiler/toolchain", "compiler/pipeline"]

# Packages of the client; each may include those before it. docs/decisions/0001 says why the formats are shared.
PLATFORM = SUPPORT + ["client/cpp/platform"]
TENSOR = PLATFORM + ["compiler/format", "compiler/operators", "proto", "client/cpp/tensor"]
READING = TENSOR + ["compiler/index_notation"]
EXPRESSION = READING + ["client/cpp/expression"]
RUNTIME = EXPRESSION + ["client/cpp/oracle", "client/cpp/runtime"]
SELECTION = RUNTIME + ["client/cpp/tensor_io", "client/cpp/selection"]
# Public headers are in one folder, and each is the package's that implements it.
PUBLIC_HEADERS = {
    "client/cpp/platform": "buffer host",
    "client/cpp/tensor": "convert fill tensor",
    "client/cpp/tensor_io": "tensor_files",
    "client/cpp/expression": "blocks expression extents gradient selections",
    "client/cpp/oracle": "oracle",
    "client/cpp/runtime": "kernel trial",
    "client/cpp/selection": "bounds choose frontier frontier_at gpu_select json kernel_source rates select tuning",
    "client/cpp/gpu": "gpu",
    "client/cpp/remote": "bundled_answer connection jobs",
    "client/cpp/api": "bundle format_comparison kernel_set operands schaas session waiting",
}
PACKAGE_OF = {header: package for package, headers in PUBLIC_HEADERS.items() for header in headers.split()}

# One line per folder: what it may include besides itself.
MAY_INCLUDE = {
    "compiler/support": [],
    "compiler/operators": SUPPORT,
    "compiler/format": OPERATORS,
    "compiler/index_notation": OPERATORS,
    "compiler/problem": FRONT,
    "compiler/concrete_notation": PROBLEM,
    "compiler/concrete_notation/checks": NODES,
    "compiler/concrete_notation/copies": NODES,
    "compiler/schedule": TREE,
    "compiler/schedule/directives": TREE + ["compiler/schedule"],
    "compiler/schedule/replay": TREE + ["compiler/schedule", "compiler/schedule/directives"],
    "compiler/cost": TREE,  # blind to schedules: a cost is read off the tree
    "compiler/space": TREE + SCHEDULE + ["compiler/cost"],
    "compiler/space/listed": TREE + SCHEDULE + ["compiler/schedule/directives", "compiler/cost", "compiler/space"],
    "compiler/frontier/proofs": TREE + ["compiler/cost", "compiler/space"],
    "compiler/frontier": TREE + SCHEDULE + SPACE + PROOFS + ["compiler/cost"],
    "compiler/merge_lattice": OPERATORS + ["compiler/format"],
    "compiler/loop_ir": OPERATORS,  # knows nothing of formats
    "compiler/lower/analysis": LOWER,
    "compiler/lower/emit/facts": LOWER + ["compiler/lower/analysis"],
    "compiler/lower/emit/levels": LOWER + ["compiler/lower/analysis", "compiler/lower/emit/facts"],
    "compiler/lower/emit": LOWER + ["compiler/lower/analysis", "compiler/lower/emit/facts", "compiler/lower/emit/levels"],
    "compiler/lower/passes/nests": LOWER + ["compiler/lower/analysis"],
    "compiler/lower/passes/threads": LOWER + ["compiler/lower/analysis"],
    "compiler/lower/passes": LOWER + ["compiler/lower/analysis"],
    "compiler/lower": LOWER + ["compiler/lower/analysis", "compiler/lower/emit", "compiler/lower/emit/facts", "compiler/lower/passes",
                                "compiler/lower/passes/nests", "compiler/lower/passes/threads"],
    "compiler/codegen": OPERATORS + ["compiler/loop_ir"],
    "compiler/toolchain": SUPPORT,
    "compiler/pipeline": TREE + SCHEDULE + SPACE + PROOFS + ["compiler/cost", "compiler/frontier", "compiler/lower", "compiler/loop_ir",
                                                             "compiler/codegen", "compiler/toolchain"],
    "kernels_cache": SUPPORT,
    "server/telemetry": SUPPORT + ["kernels_cache"],
    "server/auth": SUPPORT + ["kernels_cache", "proto"],
    "server/storage": COMPILER + ["kernels_cache", "proto", "server/telemetry"],
    "server/providers": COMPILER + ["kernels_cache", "server/auth", "server/storage", "server/telemetry"],
    "server/answers": COMPILER + ["kernels_cache", "proto", "server/providers", "server/storage"],
    "server/rpc": COMPILER + ["kernels_cache", "proto", "server/answers", "server/auth", "server/providers", "server/storage",
                              "server/telemetry"],
    "server/jobs": COMPILER + ["kernels_cache", "server/answers", "server/rpc", "server/telemetry"],
    "server/http": COMPILER + ["kernels_cache", "server/answers", "server/providers", "server/rpc", "server/storage", "server/telemetry"],
    "server/daemon": COMPILER + ["kernels_cache", "proto", "server/answers", "server/auth", "server/http", "server/jobs", "server/providers",
                                 "server/rpc", "server/storage", "server/telemetry"],
    "server/trial": SUPPORT + ["client/cpp/include"],  # a client that the server starts
    "client/cpp/platform": SUPPORT,
    "client/cpp/tensor": PLATFORM + ["compiler/format", "compiler/operators", "proto"],
    "client/cpp/tensor_io": TENSOR,
    "client/cpp/expression": READING,
    "client/cpp/oracle": EXPRESSION,
    "client/cpp/runtime": EXPRESSION + ["client/cpp/oracle"],
    "client/cpp/selection": RUNTIME + ["client/cpp/tensor_io"],
    "client/cpp/gpu": SELECTION,
    "client/cpp/remote": SELECTION + ["compiler/problem"],  # docs/decisions/0013
    "client/cpp/api": SELECTION + ["client/cpp/gpu", "client/cpp/remote"],
    "client/cpp/include": [],  # for programs: all public headers
    "client/cli": SUPPORT + ["compiler/format", "client/cpp/include", "proto"],
    "client/cli/commands": SUPPORT + ["compiler/format", "client/cpp/include", "proto", "client/cli"],
    "proto": SUPPORT + ["client/cpp/include"],  # answers are its structs
}

# (what, pattern of the included header, pattern of the files that may include it)
CONFINED = [
    ("Z3 lives in one file", r"z3(\+\+)?\.h|z3_.*\.h", r"compiler/frontier/proofs/z3_solver\.cc"),
    ("SQLite lives in one pair of files", r"sqlite3.*\.h", r"kernels_cache/sqlite\.(h|cc)"),
    ("libpq lives in one file", r"libpq-fe\.h|postgresql/.*", r"kernels_cache/postgres/postgres_connection\.cc"),
    ("generated protocol headers stay in marshalling, services and the client's sources", r".*\.pb\.h",
     r"server/(rpc|jobs)/[a-z_]*(marshalling|service)[a-z_]*\.(h|cc)|" + REMOTE),
    ("gRPC stays in the server and the client's connection", r"grpc(pp|\+\+)?/.*|.*\.grpc\.pb\.h", r"server/.*|" + REMOTE),
    ("the client's core knows the connection by server_source.h alone", r"client/cpp/remote/(connection_state|channel|status)\.h", REMOTE),
    ("Protocol Buffers stay in the server and the client's connection", r"google/protobuf/.*", r"server/.*|" + REMOTE),
    ("the command-line library stays in the programs", r"CLI/.*", r"client/cli/.*|server/.*|compiler/lower/opt_main\.cc"),
    ("HTTP lives in the HTTP server", r"httplib\.h", r"server/http/http_(server\.cc|connection\.h)"),
    ("logging stays in the server", r"spdlog/.*", r"server/.*"),
    ("the client states problems canonically in one file", r"compiler/problem/.*", r"(compiler|server)/.*|client/cpp/remote/question\.h"),
    ("client sources are private", r"client/cpp/(?!include/).*", r"client/cpp/.*"),
]

# The compiler is pure: no environment, wall clock, processes or sockets, except where processes are started.
IMPURE = re.compile(r"\b(getenv|system_clock|random_device|popen|fork|execv\w*|socket)\s*(\(|::)|std::(system_clock|random_device)\b")
MAY_BE_IMPURE = re.compile(r"compiler/toolchain/.*")

HEADER_LINES = 300
SOURCE_LINES = 600
FOLDER_FILES = 40  # of a package, headers and sources
# Files that review has allowed to be longer: path -> lines.
LONGER = {}

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def sources(root):
    for top in ("compiler", "kernels_cache", "server", "client", "proto"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".h", ".cc", ".c") and path.is_file():
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def folder_of(path):
    """The folder of the table a file (or an included path) belongs to; None for none."""
    folders = [folder for folder in MAY_INCLUDE if path.startswith(folder + "/")]
    return max(folders, key=len) if folders else None


def public_header(path):
    """The name of a public header of the client; None for other paths."""
    match = re.fullmatch(r"(?:client/cpp/include/)?schaas/(\w+)\.(?:h|hpp)", path)
    return match and match.group(1)


def resolve(header, package):
    """The repository path of an include: the client's public headers are included as <schaas/...>."""
    name = public_header(header)
    if name is None:
        return header
    package = PACKAGE_OF.get(name) if package.startswith("client/cpp/") else "client/cpp/include"
    return f"{package}/{name}.h"


def package_of(path):
    """The folder of the table whose row holds for a file; None for none."""
    name = public_header(path)
    return folder_of(path) if name is None else PACKAGE_OF.get(name)


def violations_in(path, text):
    package = package_of(path)
    if package is None:
        yield f"{path}: its folder has no line in the table of tests/contract/layering.py"
        return
    for header in INCLUDE.findall(text):
        target = folder_of(resolve(header, package))
        if target and target != package and target not in MAY_INCLUDE[package]:
            yield f"{path}: includes {header}, but {package} may not include {target}"
        for what, headers, files in CONFINED:
            if re.fullmatch(headers, header) and not re.fullmatch(files, path):
                yield f"{path}: includes {header}, but {what}"
    if path.startswith("compiler/") and not MAY_BE_IMPURE.fullmatch(path):
        impure = IMPURE.search(COMMENT_OR_STRING.sub(" ", text))
        if impure:
            yield f"{path}: uses {impure.group(1) or impure.group(3)}, but the compiler is pure"
    lines = text.count("\n")
    budget = max(LONGER.get(path, 0), HEADER_LINES if path.endswith(".h") else SOURCE_LINES)
    if lines > budget:
        yield f"{path}: {lines} lines, the budget is {budget}"


def full_folders(paths):
    """Packages of more files than a reader takes in."""
    counts = collections.Counter(path.rpartition("/")[0] for path in paths)
    for folder, count in sorted(counts.items()):
        if count > FOLDER_FILES:
            yield f"{folder}: {count} files, the budget is {FOLDER_FILES}"


def python_imports(root):
    """Module -> the modules of its package that it imports, at its beginning or in a function."""
    imports = {}
    for path in sorted((pathlib.Path(root) / "client/python/schaas").glob("*.py")):
        lines = re.findall(r"^\s*from \.(\w*) import (.*)", path.read_text(encoding="utf-8"), re.MULTILINE)
        imports[path.stem] = {name for module, names in lines
                              for name in ([module] if module else re.findall(r"(_\w+)(?: as \w+)?", names))}
    return imports


def violations(root):
    found, paths = [], []
    for path, text in sources(pathlib.Path(root)):
        found.extend(violations_in(path, text))
        paths.append(path)
    return found + list(full_folders(paths))


def include_graph(files):
    """Package -> packages whose headers its files include; every package of the table has a row."""
    graph = {package: set() for package in MAY_INCLUDE}
    for path, text in files:
        package = package_of(path)
        if package:
            targets = {folder_of(resolve(header, package)) for header in INCLUDE.findall(text)}
            graph[package] |= targets - {package, None}
    return graph


def cycle_in(graph):
    """A cycle as a list of packages, the first one again at the end; [] where there is none."""
    done = set()

    def visit(package, above):
        if package in above:
            return [*above[above.index(package):], package]
        if package not in done:
            for lower in sorted(graph.get(package, ())):
                if found := visit(lower, [*above, package]):
                    return found
            done.add(package)
        return []

    return next((found for package in graph if (found := visit(package, []))), [])


def without_shortcuts(graph):
    """The graph without edges that a longer path stands for (transitive reduction); it must have no cycle."""
    below = {}

    def reachable(package):
        if package not in below:
            below[package] = set(graph[package]).union(*(reachable(lower) for lower in graph[package]))
        return below[package]

    return {package: {lower for lower in lowers if not any(lower in reachable(other) for other in lowers - {lower})}
            for package, lowers in graph.items()}


def mermaid(graph):
    """The graph as Mermaid text: a frame for each folder of packages, an arrow for each edge that no path stands for."""
    lines, frames = ["flowchart TD"], collections.defaultdict(list)
    for package in graph:
        frames[package.rpartition("/")[0]].append(package)
    for folder, packages in frames.items():
        lines += [f"  subgraph {folder.replace('/', '_')}_[\"{folder}/\"]"] if folder else []
        lines += [f"    {package.replace('/', '_')}[{package.rpartition('/')[2]}]" for package in packages]
        lines += ["  end"] if folder else []
    for package, lowers in without_shortcuts(graph).items():
        lines += [f"  {package.replace('/', '_')} --> {lower.replace('/', '_')}" for lower in sorted(lowers)]
    return "\n".join(lines) + "\n"


def longest(root, count=5):
    """(lines, path) of the longest files: what review should look at next."""
    return sorted(((text.count("\n"), path) for path, text in sources(pathlib.Path(root))), reverse=True)[:count]


if __name__ == "__main__":
    root_of_tree = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    problems = violations(root_of_tree)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
