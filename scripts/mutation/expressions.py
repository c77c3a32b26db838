"""What expressions become: each function gives the text of a node with its mutations as switches (switch.h)."""
import re

RELATIONS = {"<": ("less", "<=", ">=", "+ 1 <"), "<=": ("at_most", "<", ">", "+ 1 <="),
             ">": ("more", ">=", "<=", "- 1 >"), ">=": ("at_least", ">", "<", "- 1 >=")}
ARITHMETIC = {"+": ("plus", "-"), "-": ("minus", "+"), "*": ("times", "+"), "/": ("over", "*"), "%": ("modulo", "/"),
              "&": ("bit_and", "|"), "|": ("bit_or", "&"), "^": ("bit_xor", "|"), "<<": ("left", ">>"),
              ">>": ("right", "<<")}
TWINS = {"begin": "end", "end": "begin", "lhs": "rhs", "rhs": "lhs", "rows": "cols", "cols": "rows", "first": "second",
         "second": "first"}
ENDS = {"front": "back", "back": "front"}
ALGORITHMS = {f"std::ranges::{name}": (name, other) for name, other in (
    ("any_of", "all_of"), ("all_of", "any_of"), ("none_of", "any_of"), ("min_element", "max_element"),
    ("max_element", "min_element"), ("lower_bound", "upper_bound"), ("upper_bound", "lower_bound"))}
ALGORITHMS |= {"std::ranges::min": ("smallest", "max"), "std::ranges::max": ("largest", "min"),
               "std::floor": ("floor", "ceil"), "std::ceil": ("ceil", "floor")}
NO_SWAP = re.compile(r"^(std::|fmt::format|assert|static_cast|[A-Z_]+$)|_cast\b")
NO_DROP = re.compile(r"^(assert|std::(move|forward|ssize|get|make_\w+|optional|string|span|vector|pair)|[A-Z_]+$)|_cast\b")


def parameters(node):
    return [child for child in node.named_children if child.type != "comment"]


def binary_expression(s, node):
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    op = s.text(node.child_by_field_name("operator"))
    in_loop, s.loop = s.loop, False
    if op in RELATIONS:
        name, other, against, short_of = RELATIONS[op]
        kinds = [(f"{op} to {other}", s.text(node)), (f"{op} to {against}", s.text(node))]
        if in_loop:
            kinds.append((f"{op} to {short_of}", s.text(node)))
        n = s.number(node, *kinds)
        x, y = s.emit(left), s.emit(right)
        return f"plumb_mutant::{name}{'_in_loop' * in_loop}<{n}>({x}, {y})" if n else f"{x}{s.between(left, right)}{y}"
    if op in ("==", "!="):
        n = s.number(node, (f"{op} to {'!=' if op == '==' else '=='}", s.text(node)))
        x, y = s.emit(left), s.emit(right)
        return f"(({x} {op} {y}) != plumb_mutant::on({n}))" if n else f"{x}{s.between(left, right)}{y}"
    if op in ("&&", "||"):
        s.loop = in_loop
        kinds = [(f"{op} to {'||' if op == '&&' else '&&'}", s.text(node)),
                 (f"{op} without left", s.text(node)), (f"{op} without right", s.text(node))]
        n = s.number(node, *kinds)
        x = s.emit(left)
        s.loop = in_loop
        y = s.emit(right)
        s.loop = False
        if not n:
            return f"{x}{s.between(left, right)}{y}"
        drop = "|| plumb_mutant::on({})" if op == "&&" else "&& !plumb_mutant::on({})"
        x, y = (f"((static_cast<bool>({z}) {drop.format(n + i)}) != plumb_mutant::on({n}))"
                for i, z in ((1, x), (2, y)))
        return f"(({x} {op} {y}) != plumb_mutant::on({n}))"
    if op in ARITHMETIC and "string_literal" not in (left.type, right.type):
        name, other = ARITHMETIC[op]
        n = s.number(node, (f"{op} to {other}", s.text(node)))
        x, y = s.emit(left), s.emit(right)
        return f"plumb_mutant::{name}<{n}>({x}, {y})" if n else f"{x}{s.between(left, right)}{y}"
    return s.plain(node)


def assignment_expression(s, node):
    op = s.text(node.child_by_field_name("operator"))
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if op[:-1] not in ARITHMETIC or right.type in ("initializer_list", "string_literal", "concatenated_string"):
        return s.plain(node)
    name, other = ARITHMETIC[op[:-1]]
    n = s.number(node, (f"{op} to {other}=", s.text(node)))
    x, y = s.emit(left), s.emit(right)
    return f"plumb_mutant::{name}_assign<{n}>({x}, {y})" if n else f"{x}{s.between(left, right)}{y}"


def unary_expression(s, node):
    op = s.text(node.child_by_field_name("operator"))
    argument = node.child_by_field_name("argument")
    if op == "-" and argument.type != "number_literal":
        n = s.number(node, ("- dropped", s.text(node)))
        x = s.emit(argument)
        return f"(plumb_mutant::on({n}) ? +({x}) : -({x}))" if n else f"-{x}"
    if op == "!":
        n = s.number(node, ("! dropped", s.text(node)))
        x = s.emit(argument)
        return f"((!{x}) != plumb_mutant::on({n}))" if n else f"!{x}"
    return s.plain(node)


def number_literal(s, node):
    text = s.text(node)
    whole = re.fullmatch(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9']+)[uUlL]*", text)
    if not whole:
        if not re.fullmatch(r"[-+.\w']*", text) or not s.depth:
            return text
        other = f"{text} + 1" if re.fullmatch(r"-\d+|0\.?0*[fF]?", text) else f"{text} * 2"
        n = s.number(node, (f"{text} to {other}", text))
        return f"(plumb_mutant::on({n}) ? {other} : {text})" if n else text
    value = int(whole[1].replace("'", ""), 0) if whole[1].strip("0'") else 0
    kinds = [(f"{text} to {text} + 1", s.line(node))]
    if value:
        kinds.append((f"{text} to {text} - 1", s.line(node)))
    n = s.number(node, *kinds)
    if not n:
        return text
    minus = f"plumb_mutant::on({n + 1}) ? {text} - 1 : " if value else ""
    return f"(plumb_mutant::on({n}) ? {text} + 1 : {minus}{text})"


def literal_only(node):
    inside = parameters(node)
    return len(inside) == 1 and inside[0].type == "number_literal"


def compound_literal_expression(s, node):
    kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    inside = parameters(value)
    if literal_only(value):  # a number in braces must be a constant, or fit in any case
        own, x = s.text(inside[0]), s.emit(inside[0])
        return s.text(node) if x == own else f"plumb_mutant::braced<{s.text(kind)}>({x})"
    if len(inside) == 2 and s.depth and not any(one.type in ("initializer_list", "lambda_expression",
                                                                "initializer_pair") for one in inside):
        n = s.number(node, ("arguments exchanged", s.text(node)))
        x, y = (s.emit(one) for one in inside)
        make = "[&](auto&& x_, auto&& y_) -> decltype(auto) { return %s{static_cast<decltype(x_)>(x_), " \
               "static_cast<decltype(y_)>(y_)}; }" % s.text(kind)
        return f"plumb_mutant::exchanged<{n}>({make}, {x}, {y})" if n else f"{s.text(kind)}{{{x}, {y}}}"
    return s.plain(node)


def boolean(s, node):
    n = s.number(node, (f"{s.text(node)} negated", s.line(node)))
    return f"({s.text(node)} != plumb_mutant::on({n}))" if n else s.text(node)


def field_expression(s, node):
    field = s.text(node.child_by_field_name("field"))
    called = node.parent.type == "call_expression" and node.parent.child_by_field_name("function") == node
    if field not in TWINS or called:
        return s.plain(node)
    n = s.number(node, (f".{field} to .{TWINS[field]}", s.text(node)))
    x = s.plain(node)
    return f"(plumb_mutant::on({n}) ? {x[:-len(field)]}{TWINS[field]} : {x})" if n else x


def call_expression(s, node):
    callee, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    name, arguments = s.text(callee), parameters(listed)
    if name in ("assert", "PLUMB_CLONES") or name.startswith("__builtin_shuffle"):
        return s.text(node)
    if callee.type == "field_expression" and not arguments:
        field = s.text(callee.child_by_field_name("field"))
        simple = callee.child_by_field_name("argument").type in ("identifier", "field_expression")
        if field in ENDS and simple:
            n = s.number(node, (f"{field}() to {ENDS[field]}()", s.text(node)))
            x = s.plain(node)
            return f"(plumb_mutant::on({n}) ? {x[:-len(field) - 2]}{ENDS[field]}() : {x})" if n else x
    if name in ALGORITHMS and not any(one.type == "initializer_list" for one in arguments):
        own, other = ALGORITHMS[name]
        n = s.number(node, (f"{own} to {other}", s.text(node)))
        return f"plumb_mutant::{own}<{n}>{s.emit(listed)}" if n else name + s.emit(listed)
    limit = re.fullmatch(r"std::(min|max)(?:<(.*)>)?", name)
    if limit and len(arguments) == 2:
        other = "max" if limit[1] == "min" else "min"
        n = s.number(node, (f"{limit[1]} to {other}", s.text(node)))
        own = "least" if limit[1] == "min" else "most"
        types = f", {limit[2]}" if limit[2] else ""
        return f"plumb_mutant::{own}<{n}{types}>{s.emit(listed)}" if n else name + s.emit(listed)
    return call(s, node, callee, arguments)


def call(s, node, callee, arguments):
    name = s.text(callee)
    odd = any(one.type in ("initializer_list", "lambda_expression", "parameter_pack_expansion")
              for one in arguments)
    if not s.depth or odd or callee.type == "primitive_type" or "std::get" in name:
        return s.plain(node)
    x_, y_ = "static_cast<decltype(x_)>(x_)", "static_cast<decltype(y_)>(y_)"
    if len(arguments) in (2, 3, 4) and not NO_SWAP.search(name):
        kinds = [("arguments exchanged", s.text(node))]
        n = s.number(node, *kinds)
        out = s.emit(callee)
        x, y, *more = [s.emit(one) for one in arguments]
        if not n:
            return f"{out}({', '.join([x, y, *more])})"
        rest = "".join(f", {one}" for one in more)
        call = f"[&](auto&& x_, auto&& y_) -> decltype(auto) {{ return {out}({x_}, {y_}{rest}); }}"
        return f"plumb_mutant::exchanged<{n}>({call}, {x}, {y})"
    if len(arguments) == 1 and not NO_DROP.search(name) and name not in s.casts and callee.type != "field_expression":
        n = s.number(node, ("call dropped", s.text(node)))
        out, x = s.emit(callee), s.emit(arguments[0])
        call = f"[&](auto&& x_) -> decltype(auto) {{ return {out}({x_}); }}"
        return f"plumb_mutant::unless_dropped<{n}>({call}, {x})" if n else f"{out}({x})"
    return s.plain(node)


HANDLERS = {
    "binary_expression": binary_expression, "assignment_expression": assignment_expression,
    "unary_expression": unary_expression, "number_literal": number_literal, "true": boolean, "false": boolean,
    "compound_literal_expression": compound_literal_expression, "field_expression": field_expression,
    "call_expression": call_expression,
}
