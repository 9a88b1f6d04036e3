#!/usr/bin/env python3
"""Writes the reference from the code: python.md from the docstrings of client/python/schaas, c.md from the C header's comments,
commands.md from `--help` of the programs.

    docs/reference/make.py [BIN]      BIN: folder with the programs (build/release/bin); without it commands.md stays as it is
"""

import ast
import pathlib
import re
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NOTE = "Made from the code by `docs/reference/make.py`; change the code.\n"


def signature(function, name):
    text = ast.unparse(function.args)
    text = re.sub(r"^(self|cls)(, )?", "", text)
    return f"{name}({text})"


def paragraphs(text):
    """A docstring as Markdown: indented parts stay code."""
    return textwrap.dedent("    " + text if not text.startswith(" ") else text).strip() if text else ""


def docstring(item):
    return paragraphs(ast.get_docstring(item) or "")


def has_decorator(function, name):
    return any(isinstance(each, ast.Name) and each.id == name for each in function.decorator_list)


def python_class(item):
    lines = [docstring(item), ""]
    bases = [ast.unparse(base) for base in item.bases]
    if bases:
        lines = [f"A {', '.join(f'`{base}`' for base in bases)}.", "", *lines]
    shown = {"__call__": "call", "__getitem__": "[]", "__init__": item.name}
    for member in item.body:
        if not isinstance(member, ast.FunctionDef) or (member.name.startswith("_") and member.name not in shown):
            continue
        if member.name != "__init__" and not ast.get_docstring(member):
            continue
        if has_decorator(member, "property"):
            head = f"{item.name}.{member.name}"
        elif member.name == "__init__":
            if not member.args.kwonlyargs and not member.args.defaults:
                continue  # made by others
            head = signature(member, item.name)
        elif member.name == "__call__":
            head = signature(member, item.name.lower())
        elif member.name == "__getitem__":
            head = f"{item.name.lower()}[{signature(member, '')[1:-1]}]"
        else:
            head = signature(member, f"{item.name}.{member.name}")
        head = re.sub(r", _[a-z]+=(\(\)|[^,)]*)", "", head)  # what starts with _ is ours
        lines += [f"### `{head}`", "", docstring(member), ""]
    return lines


def python_page():
    package = ROOT / "client/python/schaas"
    init = (package / "__init__.py").read_text(encoding="utf-8")
    tree = ast.parse(init)
    exported = next(ast.literal_eval(node.value) for node in tree.body
                    if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    found = {}
    for path in sorted(package.glob("*.py")):
        for item in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(item, (ast.FunctionDef, ast.ClassDef)):
                found.setdefault(item.name, item)
    lines = ["# The Python package, name by name", "", NOTE, "The manual is [../python.md](../python.md).", ""]
    for name in sorted(exported, key=str.lower):
        item = found[name]
        if isinstance(item, ast.ClassDef):
            lines += [f"## {name}", "", *python_class(item)]
        else:
            lines += [f"## {name}", "", f"    schaas.{signature(item, name)}", "", docstring(item), ""]
    return lines


def c_page():
    text = (ROOT / "client/cpp/include/schaas/schaas.h").read_text(encoding="utf-8")
    body = text[text.index("SCHAAS_API_VERSION") :]
    body = body[body.index("\n") + 1 : body.rindex("#ifdef __cplusplus")]
    intro = re.sub(r"^ \*( |$)", "", text[text.index("/*") + 3 : text.index(" */")], flags=re.MULTILINE).replace("/* ", "", 1)
    lines = ["# The C interface, declaration by declaration", "", NOTE, "```text", intro.strip(), "```", ""]
    for stretch in re.split(r"\n\s*\n", body):
        code = stretch.replace("SCHAAS_API ", "").strip("\n")
        comment = re.match(r"\s*/\*(.*?)\*/\n", code, re.DOTALL)
        if comment:
            words = " ".join(re.sub(r"^\s*\*", "", line).strip() for line in comment.group(1).splitlines())
            lines += [words.strip(), ""]
            code = code[comment.end() :]
        if code.strip():
            lines += ["```c", code, "```", ""]
    return lines


def commands_page(programs):
    def said(*words):
        return subprocess.run([str(programs / words[0]), *words[1:], "--help"], capture_output=True, text=True, check=True).stdout

    top = said("schaas")
    listed = re.search(r"^(?:Subcommands|SUBCOMMANDS):\n((?:  .*\n)+)", top, re.MULTILINE)
    names = [line.split()[0] for line in listed.group(1).splitlines() if re.match(r"  \S", line)]
    lines = ["# The programs, option by option", "", NOTE, "What the commands are for is in [../command_line.md](../command_line.md) and [../operations.md](../operations.md).", ""]
    for title, words in [("schaas", ["schaas"]), *((f"schaas {name}", ["schaas", name]) for name in names), ("schaasd", ["schaasd"])]:
        lines += [f"## {title}", "", "```text", said(*words).rstrip(), "```", ""]
    return lines


def pages(programs=None):
    """File name -> what it should hold."""
    made = {"python.md": python_page(), "c.md": c_page()}
    if programs is not None:
        made["commands.md"] = commands_page(programs)
    return {name: re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in "\n".join(lines).splitlines())).rstrip() + "\n"
            for name, lines in made.items()}


if __name__ == "__main__":
    for page, content in pages(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None).items():
        (HERE / page).write_text(content, encoding="utf-8")
