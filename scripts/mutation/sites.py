"""The mutations of a C++ source, and its copy in which each is a switch (switch.h)."""
import collections
import dataclasses
import re

import tree_sitter
import tree_sitter_cpp

from expressions import HANDLERS, parameters

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))

# What is settled while compiling, or says nothing of the behaviour.
LEFT_ALONE = {"template_argument_list", "template_parameter_list", "enumerator", "static_assert_declaration", "decltype",
              "preproc_include", "preproc_def", "preproc_function_def", "preproc_call", "requires_clause",
              "concept_definition", "noexcept", "attribute_declaration", "sizeof_expression", "alignas_qualifier",
              "bitfield_clause", "array_declarator", "type_descriptor", "string_literal", "using_declaration",
              "alias_declaration", "ERROR"}

QUIET = re.compile(r"assert|[\w.]+\.reserve\(")  # statements that change no behaviour
CASTS = re.compile(rb"(\w+)\([\w:]+ (\w+)\) \{ return static_cast<[^>]+>\(\2\); \}")


@dataclasses.dataclass(frozen=True)
class Mutation:
    number: int
    site: int  # the first number of those at its place
    file: str
    line: int
    function: str
    kind: str
    occurrence: int
    text: str

    @property
    def key(self):
        return f"{self.file} {self.function} {self.kind} {self.occurrence}"


def short(text):
    return re.sub(r"\s+", " ", text)[:70]


class Source:
    """A file, its mutations numbered from `first` on, and the text of its switchable copy."""

    def __init__(self, file, data, first, only=None, barred=()):
        self.file, self.data, self.next = file, data, first
        self.only = only  # keys of the mutations to switch; None: all
        self.barred = barred  # keys of those that do not compile
        self.casts = {name.decode() for name, _ in CASTS.findall(data)}  # functions that only convert
        self.mutations, self.seen = [], collections.Counter()
        self.function, self.depth, self.loop = "-", 0, False
        tree = PARSER.parse(data)
        self.copy = self.emit(tree.root_node)

    def text(self, node):
        return self.data[node.start_byte:node.end_byte].decode()

    def between(self, left, right):
        """As it stands: what the parser takes for the > of a relation may be half of a shift."""
        return self.data[left.end_byte:right.start_byte].decode()

    def number(self, node, *kinds):
        """The first number of a site where any of its mutations is to be switched, else None."""
        first, wanted = self.next, False
        for kind, text in kinds:
            self.seen[self.function, kind] += 1
            found = Mutation(self.next, first, self.file, node.start_point[0] + 1, self.function, kind,
                             self.seen[self.function, kind], short(text))
            self.next += 1
            if found.key in self.barred or (self.only is not None and found.key not in self.only):
                continue
            self.mutations.append(found)
            wanted = True
        return first if wanted else None

    def plain(self, node, emit=None):
        """The text with what stands inside switched, each child by `emit`, but not the node itself."""
        out, at, emit = [], node.start_byte, emit or self.emit
        for child in node.children:
            out += [self.data[at:child.start_byte].decode(), emit(child)]
            at = child.end_byte
        return "".join(out) + self.data[at:node.end_byte].decode()

    def emit(self, node):
        if node.type in LEFT_ALONE or self.constant(node):
            return self.text(node)
        outer = self.function, self.depth
        if node.type == "function_definition":
            self.function = self.name(node) or self.function
        self.depth += node.type == "compound_statement"
        handle = getattr(self, "on_" + node.type, None)
        if node.type in HANDLERS:
            out = HANDLERS[node.type](self, node)
        else:
            out = handle(node) if handle else self.plain(node)
        self.function, self.depth = outer
        return out

    def constant(self, node):
        """A constexpr variable, a constexpr condition, a case label's value."""
        if node.type in ("declaration", "field_declaration"):
            return any(child.type == "type_qualifier" and self.text(child) in ("constexpr", "constinit")
                       for child in node.children) and not node.child_by_field_name("body")
        if node.type == "if_statement":
            return any(child.type == "constexpr" for child in node.children)
        return False

    def name(self, node):
        at = node.child_by_field_name("declarator")
        while at is not None and at.type != "function_declarator":
            at = at.child_by_field_name("declarator") or next(iter(parameters(at)), None)
        return re.sub(r"\s", "", self.text(at.child_by_field_name("declarator"))) if at is not None else None

    def on_case_statement(self, node):
        value = node.child_by_field_name("value")
        return self.plain(node, lambda child: self.text(child) if child == value else self.emit(child))

    def on_preproc_if(self, node):
        asked = node.child_by_field_name("condition")
        return self.plain(node, lambda child: self.text(child) if child == asked else self.emit(child))

    on_preproc_elif = on_preproc_if

    def on_preproc_ifdef(self, node):
        """What only a card's compiler sees stays as it is."""
        if self.text(node.child_by_field_name("name")) != "__CUDACC__":
            return self.plain(node)
        other = node.child_by_field_name("alternative")
        return self.plain(node, lambda child: self.emit(child) if child == other else self.text(child))

    def line(self, node):
        return self.data.split(b"\n")[node.start_point[0]].decode().strip()

    def forced(self, node, falses_only=False):
        kinds = [] if falses_only else [("condition true", self.text(node))]
        n = self.number(node, *kinds, ("condition false", self.text(node)))
        x = self.emit(node)
        if not n:
            return x
        if falses_only:
            return f"(static_cast<bool>({x}) && !plumb_mutant::on({n}))"
        return f"((static_cast<bool>({x}) || plumb_mutant::on({n})) && !plumb_mutant::on({n + 1}))"

    def with_forced(self, node, condition, **how):
        return self.plain(node, lambda child: self.forced(child, **how) if child == condition else self.emit(child))

    def on_condition_clause(self, node):
        value = node.child_by_field_name("value")
        if node.parent.type == "switch_statement" or value is None or value.type == "declaration":
            return self.plain(node)
        self.loop = node.parent.type == "while_statement"
        out = self.with_forced(node, value, falses_only=self.loop)
        self.loop = False
        return out

    def on_conditional_expression(self, node):
        return "(" + self.with_forced(node, node.child_by_field_name("condition")) + ")"

    def on_for_statement(self, node):
        condition = node.child_by_field_name("condition")

        def emit(child):
            self.loop = child == condition
            out = self.emit(child)
            self.loop = False
            return out

        return self.plain(node, emit)

    def on_for_range_loop(self, node):
        over = node.child_by_field_name("right")

        def emit(child):
            if child != over or over.type == "initializer_list":
                return self.emit(child)
            n = self.number(child, ("loop without first", self.text(child)), ("loop without last", self.text(child)))
            x = self.emit(child)
            return f"plumb_mutant::loop<{n}>({x})" if n else x

        return self.plain(node, emit)

    def on_expression_statement(self, node):
        inside = parameters(node)
        if QUIET.match(self.text(node)):
            return self.text(node)
        if not self.depth or not inside:
            return self.plain(node)
        n = self.number(node, ("statement dropped", self.text(node)))
        x = self.plain(node)
        return f"{{ if (!plumb_mutant::on({n})) {{ {x} }} }}" if n else x

    def on_continue_statement(self, node):
        n = self.number(node, ("statement dropped", self.text(node)))
        return f"{{ if (!plumb_mutant::on({n})) {self.text(node)} }}" if n else self.text(node)

    def on_break_statement(self, node):
        at = node.parent
        while at.type not in ("switch_statement", "for_statement", "for_range_loop", "while_statement", "do_statement"):
            at = at.parent
        return self.text(node) if at.type == "switch_statement" else self.on_continue_statement(node)

