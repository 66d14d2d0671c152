"""Make the copies of the modules that a micro:bit V1 can import, in this folder.

    python3 micropython/microbit/generate.py

A micro:bit compiles a module when it is imported, in the 9 KB that are left to programs: a file of
more than about 2 KB does not fit, and every byte of code stays. So comments and docstrings go,
constants are written as numbers, private names become some that the firmware knows, and methods
become functions of a module whose dictionary is the class's too. A method of one caller stands
where it is called, and what a learner knows from the beginning is one tuple. A module's `.py`
compiles the statements of its `.txt` one by one, so that no more than one function has to fit at a
time. Nothing else changes: `micropython/tests/` feeds the same vectors to both.
"""

import ast
import builtins
import collections
import io
import itertools
import keyword
import re
import sys
import tokenize
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from inlining import inlined, packed  # noqa: E402  (found through the line above)

WORD = re.compile(r"\w")

MODULES = ("mapdpm_int", "mapdpm_batch", "features_int")

# Arguments that have no name there, though others of `__init__` have: theirs would be the one with
# which the table of names grows, see below.
BY_POSITION = {"memory", "samples", "bands", "noise"}

# What the modules that `dpmlite.to_micropython` writes set.
KEPT = {"_slots"}

# Names that the firmware has anyway: any other stays in the heap, even that of a variable, and with
# more than 20 in all, those of main.py included, MicroPython's table of names grows by 176 bytes.
VARIABLES = (
    *("a", "b", "c", "d", "e", "f", "g", "n", "r", "_", "gc", "on", "os", "rx", "to", "tx", "up"),
    *("add", "buf", "end", "exp", "get", "key", "off", "pin", "pop"),
    *("append", "count", "index"),
)
MEMBERS = (
    *("log", "data", "find", "next", "size", "hash", "copy", "join", "left", "loop", "args"),
    *("close", "format", "insert", "items", "keys", "read", "remove", "replace", "reverse", "send"),
    *("sort", "split", "strip", "write"),
)

# Statements begin at lines that are not indented. At level 3 no line numbers are kept. It is a
# function, for what a module ever had in its dictionary takes room there. CPython has no levels.
LOADER = """def a():
 from gc import collect
 try:from micropython import opt_level
 except ImportError:opt_level=abs
 opt_level(3)
 try:f=open("{name}.txt")
 except OSError:raise OSError("no {name}.txt")
 a=b=f.readline()
 while b:
  b=f.readline()
  if b==b.lstrip():
   collect();exec(a,globals());a=""
  a+=b
 f.close()
 opt_level(0)
a()
del a
"""


def class_of(path):
    """The name of a module's class, None if it has none."""
    classes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
    return classes[0].name if classes else None


def functions(path):
    """The statements of a module without docstrings, its class taken apart."""
    tree = ast.parse(path.read_text())
    found = []
    for node in tree.body:
        found += node.body if isinstance(node, ast.ClassDef) else [node]
    for node in found:
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            del node.body[0]
    numbers = Constants(found)
    found = [
        numbers.visit(node)
        for node in found
        if not isinstance(node, ast.Expr) and node not in numbers.assigned
    ]
    found = [packed(node) if isinstance(node, ast.FunctionDef) else node for node in inlined(found)]
    return ast.parse("\n".join(ast.unparse(node) for node in found)).body


class Constants(ast.NodeTransformer):
    """Puts numbers where a module has names for them, `_LIKE_THIS = number`."""

    def __init__(self, statements):
        self.assigned = [
            node
            for node in statements
            if isinstance(node, ast.Assign) and re.fullmatch("_[A-Z_]+", node.targets[0].id)
        ]
        self.values = {node.targets[0].id: node.value for node in self.assigned}

    def visit_Name(self, node):
        return self.values.get(node.id, node)


CLASSES = {name: class_of(HERE.parent / f"{name}.py") for name in MODULES}


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
    names = {*filter(None, CLASSES.values()), *keyword.kwlist, *dir(builtins)}
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
    names -= {"self", *BY_POSITION}
    return {name for name in names if not name.startswith("_") or name.endswith("__")}


def local_names(function):
    """A function's variables in the order in which the compiler meets them, and how often."""
    names = [argument.arg for argument in function.args.args]
    found = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    found.sort(key=lambda node: (node.lineno, node.col_offset))
    stored = {*names, *(node.id for node in found if isinstance(node.ctx, ast.Store))}
    return collections.Counter([*names, *(node.id for node in found if node.id in stored)])


def hoist(function):
    """Name the busiest variables first: at every use the first sixteen take a byte less."""
    uses = local_names(function)
    n_arguments = len(function.args.args)
    arguments, others = list(uses)[:n_arguments], list(uses)[n_arguments:]
    busiest = sorted(others, key=lambda name: -uses[name])

    def cost(n):
        order = dict.fromkeys(arguments + busiest[:n] + others)
        return 2 * n + (n > 0) + sum(uses[name] for name in list(order)[16:])

    if n := min(range(len(busiest) + 1), key=cost):
        targets = [ast.Name(name, ast.Store()) for name in busiest[:n]]
        function.body.insert(0, ast.Assign(targets, ast.Constant(0), lineno=0))


def shortened(names, into):
    """What every name is called in the copy."""
    if len(names) > len(into):
        raise ValueError(f"{len(into)} names are not enough for {names}")
    return dict(zip(names, into, strict=False))


class Shortener(ast.NodeTransformer):
    """Gives private names those that the firmware has: one map for attributes and functions, one
    for each function's variables.
    """

    def __init__(self, kept, members):
        self.kept = kept
        self.members = shortened(members, MEMBERS)
        self.variables = {}

    def visit_FunctionDef(self, node):
        private = [name for name, _ in local_names(node).most_common() if name not in self.kept]
        self.variables = shortened(private, VARIABLES)
        node.name = self.members.get(node.name, node.name)
        node = self.generic_visit(node)
        hoist(node)
        return node

    def visit_arg(self, node):
        node.arg = self.variables.get(node.arg, node.arg)
        return node

    def visit_Name(self, node):
        node.id = self.members.get(node.id) or self.variables.get(node.id, node.id)
        return node

    def visit_alias(self, node):
        node.name = self.members.get(node.name, node.name)
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


def texts():
    """Name and text of every file."""
    modules = {name: functions(HERE.parent / f"{name}.py") for name in MODULES}
    nodes = list(itertools.chain.from_iterable(modules.values()))
    shortener = Shortener(public(nodes), private_members(nodes))
    found = {}
    for name, statements in modules.items():
        statements.sort(key=place)
        text = "\n".join(lines([shortener.visit(statement) for statement in statements]))
        found[f"{name}.py"] = LOADER.format(name=name)
        if CLASSES[name]:
            text += f"\n{CLASSES[name]}=type({CLASSES[name]!r},(),globals())"
        found[f"{name}.txt"] = squeezed(text)
    return found


def place(statement):
    """Where a statement stands: the longest first, while there is room to compile them.

    But `_log2` before all: of the orders tried, with it a heap that is short is least in pieces.
    """
    return getattr(statement, "name", "") != "_log2", -len(ast.unparse(statement))


def private_members(nodes):
    """Attributes and functions that start with an underscore, each once."""
    walked = list(itertools.chain.from_iterable(ast.walk(node) for node in nodes))
    names = [node.attr for node in walked if isinstance(node, ast.Attribute)]
    names += [node.name for node in walked if isinstance(node, ast.FunctionDef)]
    private = {name for name in names if name.startswith("_") and not name.endswith("__")}
    return sorted(private - KEPT)


if __name__ == "__main__":
    for name, text in texts().items():
        (HERE / name).write_text(text)
        print(f"{name}: {len(text)} bytes")
