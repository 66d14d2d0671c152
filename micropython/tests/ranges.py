"""Modules for boards whose every intermediate is checked: it must stay below 2^30 in magnitude."""

import ast
from pathlib import Path

BOARDS = Path(__file__).parents[1]
LIMIT = 2**30


class Checked(ast.NodeTransformer):
    """Sends the result of every operation through `in_range`."""

    def checked(self, node):
        call = ast.Call(ast.Name("in_range", ast.Load()), [node], [])
        return ast.copy_location(call, node)

    def visit_BinOp(self, node):
        return self.checked(self.generic_visit(node))

    visit_UnaryOp = visit_BinOp  # noqa: N815  (ast's name)

    def visit_AugAssign(self, node):
        load = ast.parse(ast.unparse(node.target), mode="eval").body
        value = ast.BinOp(self.visit(load), node.op, self.visit(node.value))
        return ast.copy_location(ast.Assign([node.target], self.checked(value)), node)


def in_range(value):
    if type(value) is int:
        assert -LIMIT < value < LIMIT, value
    return value


def checked(name):
    """What the module of that name defines; an AssertionError where a number leaves the range."""
    path = BOARDS / f"{name}.py"
    tree = ast.fix_missing_locations(Checked().visit(ast.parse(path.read_text())))
    names = {"in_range": in_range}
    exec(compile(tree, str(path), "exec"), names)
    return names
