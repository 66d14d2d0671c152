"""Make the copies of the modules that a micro:bit V1 can import, in this folder.

    python3 micropython/microbit/generate.py

A micro:bit compiles a module when it is imported, in the 9 KB that are left to programs: a file of
more than about 2 KB does not fit, and every byte of code stays. So comments and docstrings go,
private names become letters, and methods become functions of a module whose dictionary is the
class's too. A module's `.py` compiles the statements of its `.txt` one by one, so that no more
than one function has to fit at a time. Nothing else changes: `micropython/tests/` feeds the same
vectors to both.
"""

import ast
import builtins
import collections
import io
import itertools
import keyword
import re
import string
import tokenize
from pathlib import Path

HERE = Path(__file__).parent
WORD = re.compile(r"\w")

MODULES = ("mapdpm_int", "mapdpm_batch")

# What the modules that `dpmlite.to_micropython` writes set. These names cost no heap.
KEPT = {"_slots", "_update"}

# Statements begin at lines that are not indented.
LOADER = """from gc import collect
f=open("{name}.txt")
s=l=f.readline()
while l:
 l=f.readline()
 if l[:1]!=" ":
  collect();exec(s);s=""
 s+=l
f.close()
del f,s,l
"""


def functions(path):
    """The statements of a module without docstrings, its class taken apart."""
    tree = ast.parse(path.read_text())
    found = []
    for node in tree.body:
        found += node.body if isinstance(node, ast.ClassDef) else [node]
    for node in found:
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            del node.body[0]
    return [node for node in found if not isinstance(node, ast.Expr)]


def lines(statements, depth=0):
    """Source lines of `statements`, simple ones joined."""
    simple = []
    for statement in statements:
        if not hasattr(statement, "body"):
            simple.append(ast.unparse(statement))
            continue
        if simple:
            yield " " * depth + ";".join(simple)
            simple = []
        yield from compound(statement, depth)
    if simple:
        yield " " * depth + ";".join(simple)


def compound(statement, depth):
    """Source lines of one statement that has a body; one line, if that is simple."""
    body, orelse = statement.body, getattr(statement, "orelse", [])
    statement.body, statement.orelse = [ast.Pass()], []
    yield from suite(" " * depth + ast.unparse(statement).splitlines()[0], body, depth)
    if orelse:
        yield from suite(" " * depth + "else:", orelse, depth)


def suite(head, body, depth):
    """Source lines of what follows a colon."""
    inner = list(lines(body, depth + 1))
    if len(inner) == 1 and not any(hasattr(statement, "body") for statement in body):
        yield head + inner[0].strip()
    else:
        yield head
        yield from inner


def public(nodes):
    """Names that a caller may use: methods, attributes, and arguments of what is public."""
    names = {"MAPDPM", *keyword.kwlist, *dir(builtins)}
    for node in itertools.chain.from_iterable(ast.walk(node) for node in nodes):
        if isinstance(node, ast.alias):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
            if node.name == "__init__":
                names.update(argument.arg for argument in node.args.args)
    return {name for name in names if not name.startswith("_") or name.endswith("__")} - {"self"}


class Shortener(ast.NodeTransformer):
    """Gives private names letters: one map for attributes and functions, one for each function's
    variables. The fewer names there are, the less memory the board's table of names takes.
    """

    def __init__(self, kept, members):
        self.kept = kept
        self.members = dict(zip(members, string.ascii_uppercase, strict=False))
        self.variables = {}

    def visit_FunctionDef(self, node):
        names = [argument.arg for argument in node.args.args]
        names += [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
        used = collections.Counter(name for name in names if self.is_private(name))
        free = [letter for letter in string.ascii_lowercase if letter not in self.kept]
        often = (name for name, _ in used.most_common())
        self.variables = dict(zip(often, free, strict=False))
        node.name = self.members.get(node.name, node.name)
        return self.generic_visit(node)

    def is_private(self, name):
        return name not in self.kept and name not in self.members

    def visit_arg(self, node):
        node.arg = self.variables.get(node.arg, node.arg)
        return node

    def visit_Name(self, node):
        node.id = self.members.get(node.id) or self.variables.get(node.id, node.id)
        return node

    def visit_Attribute(self, node):
        node.attr = self.members.get(node.attr, node.attr)
        return self.generic_visit(node)


def squeezed(source):
    """The source with blanks only where words would touch."""
    out = []
    for line in source.splitlines():
        out.append(line[: len(line) - len(line.lstrip())])
        last = " "
        for token in tokenize.generate_tokens(io.StringIO(line.lstrip()).readline):
            if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
                break
            touching = WORD.match(last[-1]) and WORD.match(token.string)
            out.append(" " + token.string if touching else token.string)
            last = token.string
        out.append("\n")
    return "".join(out)


def copies():
    """Name and text of every file."""
    modules = {name: functions(HERE.parent / f"{name}.py") for name in MODULES}
    nodes = list(itertools.chain.from_iterable(modules.values()))
    shortener = Shortener(public(nodes), private_members(nodes))
    texts = {}
    for name, statements in modules.items():
        # The longest first, while there is room to compile them.
        statements.sort(key=lambda node: -len(ast.unparse(node)))
        text = "\n".join(lines([shortener.visit(statement) for statement in statements]))
        texts[f"{name}.py"] = LOADER.format(name=name)
        if any(getattr(statement, "name", "") == "__init__" for statement in statements):
            text += "\nMAPDPM=type('MAPDPM',(),globals())"
        texts[f"{name}.txt"] = squeezed(text)
    return texts


def private_members(nodes):
    """Attributes and functions that start with an underscore, each once."""
    walked = list(itertools.chain.from_iterable(ast.walk(node) for node in nodes))
    names = [node.attr for node in walked if isinstance(node, ast.Attribute)]
    names += [node.name for node in walked if isinstance(node, ast.FunctionDef)]
    private = {name for name in names if name.startswith("_") and not name.endswith("__")}
    return sorted(private - KEPT)


if __name__ == "__main__":
    for name, text in copies().items():
        (HERE / name).write_text(text)
        print(f"{name}: {len(text)} bytes")
