"""What a micro:bit has no memory or time for: calls of methods with one caller, and attributes.

The methods of `mapdpm_int.py` each do one step. Here they are put where they are called, and one
tuple replaces the attributes that never change.
"""

import ast
import collections
import itertools
import re

# What a learner knows from `__init__` on: one tuple, which methods unpack. Attributes would take
# more memory, and time in every call.
PACKED = (
    *("_clusters", "_dim", "_c0", "_one", "_two_a0"),
    *("_alpha", "_width", "_m0", "_b0", "_memory"),
)
TUPLE = "_prior"


def inlined(statements):
    """The statements, with a method that is called in one place alone, `_like_this`, put there.

    The call is a statement, or what a variable is set to; the method returns at its end, if at all,
    and its arguments are variables that have the names of its parameters. They and variables of
    both are the same in the copy: nothing that the method changes may be needed after the call.
    """
    called = collections.Counter(
        node.func.attr
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    )
    single = {
        node.name: node
        for node in statements
        if isinstance(node, ast.FunctionDef)
        and re.match("_[a-z]", node.name)
        and called[node.name] == 1
        and returns(node) in ([], node.body[-1:])
    }
    return [
        Calls(single).replaced(node) if isinstance(node, ast.FunctionDef) else node
        for node in statements
        if node not in single.values()
    ]


def returns(function):
    """The `return`s in a function."""
    return [node for node in ast.walk(function) if isinstance(node, ast.Return)]


class Calls(ast.NodeTransformer):
    """Puts the bodies of `methods` where a function calls them."""

    def __init__(self, methods):
        self.methods = methods
        self.names = []

    def replaced(self, function):
        """The function; what variables of the methods stand for is said at its top."""
        self.visit(function)
        known = {ast.unparse(node) for node in function.body}
        names = {ast.unparse(node): node for node in self.names}
        function.body[:0] = [node for text, node in names.items() if text not in known]
        return function

    def visit_Expr(self, node):
        return self.body(node.value) or node

    def visit_Assign(self, node):
        body = self.body(node.value)
        if not body:
            return node
        last = body.pop()
        if ast.unparse(last.value) != ast.unparse(node.targets[0]):
            body.append(ast.Assign(node.targets, last.value, lineno=node.lineno))
        return body

    def body(self, call):
        """The statements in place of a call, None where it stays."""
        method = self.methods.get(getattr(getattr(call, "func", None), "attr", None))
        if not method:
            return None
        if [ast.unparse(node) for node in call.args] != [arg.arg for arg in method.args.args[1:]]:
            raise ValueError(f"{ast.unparse(call)}: arguments are not named as parameters are")
        names = list(itertools.takewhile(stands_for, method.body))
        self.names += names
        return method.body[len(names) :]


def stands_for(statement):
    """Whether a variable is only another name for an attribute, or for what a module has."""
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.Assign) and isinstance(value, (ast.Attribute, ast.Name))


def packed(function):
    """The function with items of one tuple in place of the attributes of PACKED."""
    used = [node for node in ast.walk(function) if getattr(node, "attr", None) in PACKED]
    if not used:
        return function
    owner = used[0].value
    tuple_ = ast.Attribute(owner, TUPLE, ast.Load())
    if function.name == "__init__":
        return with_tuple(function, tuple_)
    if len(used) < 3:  # An item takes less than to unpack all.
        items = {name: f"{ast.unparse(tuple_)}[{i}]" for i, name in enumerate(PACKED)}
        return Items(items).visit(function)
    aliases = [
        node
        for node in function.body
        if stands_for(node) and getattr(node.value, "attr", None) in PACKED
    ]
    items = {node.attr: node.attr for node in used}
    items |= {node.value.attr: node.targets[0].id for node in aliases}
    function.body = [node for node in function.body if node not in aliases]
    targets = [ast.Name(items.get(name, "_"), ast.Store()) for name in PACKED]
    target = ast.Tuple(targets, ast.Store())
    function.body.insert(0, ast.Assign([target], tuple_, lineno=0))
    return Items(items).visit(function)


def with_tuple(function, tuple_):
    """An `__init__` that makes the tuple where it sets the last of its attributes."""
    stored = {
        node.targets[0].attr: node
        for node in function.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "attr", None) in PACKED
    }
    made = ast.Assign([tuple_], ast.Tuple([stored[name].value for name in PACKED]), lineno=0)
    *_, last = stored.values()
    body = [made if node is last else node for node in function.body]
    function.body = [node for node in body if node not in stored.values()]
    return function


class Items(ast.NodeTransformer):
    """Puts the texts of `items` where attributes have these names."""

    def __init__(self, items):
        self.items = items

    def visit_Attribute(self, node):
        if node.attr not in self.items:
            return self.generic_visit(node)
        return ast.copy_location(ast.parse(self.items[node.attr], mode="eval").body, node)
