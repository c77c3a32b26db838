"""The mutations of a Python source: each a whole text of the file with one place changed."""
import ast
import collections
import dataclasses

COMPARED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in",
            ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}
COMPUTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Mod: "//", ast.BitOr: "&", ast.BitAnd: "|"}
DROPPED = {"sorted", "reversed", "tuple", "list", "set", "int", "abs", "frozenset"}


@dataclasses.dataclass(frozen=True)
class Mutation:
    file: str
    line: int
    function: str
    kind: str
    occurrence: int
    text: str
    mutated: str  # the whole file

    @property
    def key(self):
        return f"{self.file} {self.function} {self.kind} {self.occurrence}"


def changes(node, text):
    """(kind, node to replace, its new text) for every mutation at a node."""
    of = lambda one: ast.get_source_segment(text, one)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        op = COMPARED[type(node.ops[0])]
        yield f"compared by {op}", node, f"({of(node.left)} {op} {of(node.comparators[0])})"
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        op = COMPUTED[type(node.op)]
        yield f"computed by {op}", node, f"({of(node.left)} {op} {of(node.right)})"
    if isinstance(node, ast.BoolOp):
        op = " or " if isinstance(node.op, ast.And) else " and "
        yield f"joined by{op.rstrip()}", node, "(" + op.join(f"({of(one)})" for one in node.values) + ")"
        for i in range(len(node.values)):
            rest = " and " if op == " or " else " or "
            yield "operand dropped", node, "(" + rest.join(
                f"({of(one)})" for j, one in enumerate(node.values) if j != i) + ")"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield "sign or not dropped", node, f"({of(node.operand)})"
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield f"{node.value} to {node.value + 1}", node, str(node.value + 1)
        if node.value:
            yield f"{node.value} to {node.value - 1}", node, str(node.value - 1)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield f"{node.value} to {not node.value}", node, str(not node.value)
    if isinstance(node, (ast.If, ast.IfExp)):
        yield "condition true", node.test, "True"
        yield "condition false", node.test, "False"
    if isinstance(node, ast.comprehension):
        yield "loop without first", node.iter, f"list({of(node.iter)})[1:]"
        yield "loop without last", node.iter, f"list({of(node.iter)})[:-1]"
        for one in node.ifs:
            yield "filter dropped", one, "True"
    if isinstance(node, ast.For):
        yield "loop without first", node.iter, f"list({of(node.iter)})[1:]"
        yield "loop without last", node.iter, f"list({of(node.iter)})[:-1]"
    if isinstance(node, ast.Slice):
        for one in (node.lower, node.upper):
            if one is not None:
                yield "bound of a slice dropped", one, ""
    if isinstance(node, ast.Call):
        name = of(node.func)
        if len(node.args) >= 2 and not any(isinstance(one, ast.Starred) for one in node.args):
            first, second = node.args[:2]
            if of(first) != of(second):
                yield "arguments exchanged", (first, second), (of(second), of(first))
        if len(node.args) == 1 and not node.keywords and (name in DROPPED or "." not in name and name.islower()):
            yield "call dropped", node, f"({of(node.args[0])})"
    if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign)) and not isinstance(getattr(node, "value", None), ast.Constant):
        if isinstance(node, (ast.AugAssign, ast.Expr)):
            yield "statement dropped", node, "pass"
    if isinstance(node, (ast.Continue, ast.Break)):
        yield "statement dropped", node, "pass"


def offset(lines, line, column):
    """Of a place as ast gives it, in bytes."""
    return sum(len(one) for one in lines[: line - 1]) + column


def mutations(file, text):
    data, lines = text.encode(), text.encode().splitlines(keepends=True)
    seen, found = collections.Counter(), []

    def replaced(node, new):
        begin, end = offset(lines, node.lineno, node.col_offset), offset(lines, node.end_lineno, node.end_col_offset)
        return begin, end, new.encode()

    def visit(node, function):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            function = node.name
        for kind, where, new in changes(node, text):
            both = zip(where, new) if isinstance(where, tuple) else [(where, new)]
            mutated = data
            for begin, end, other in sorted((replaced(*one) for one in both), reverse=True):
                mutated = mutated[:begin] + other + mutated[end:]
            at = where[0] if isinstance(where, tuple) else where
            seen[function, kind] += 1
            try:
                ast.parse(mutated)
            except SyntaxError:
                continue
            found.append(Mutation(file, at.lineno, function, kind, seen[function, kind],
                                  text.splitlines()[at.lineno - 1].strip()[:80], mutated.decode()))
        for child in ast.iter_child_nodes(node):
            if child not in getattr(node, "decorator_list", ()):  # how much is cached changes nothing
                visit(child, function)

    visit(ast.parse(text), "-")
    return found
