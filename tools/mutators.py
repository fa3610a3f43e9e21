"""Small faults in a piece of Python code: mutmut's operators and a few of our own.

mutmut's operators are functions from a libcst node to changed ones, and its visitor
finds where each applies; both are used as they stand. Its runner is not: it rewrites a
package and runs pytest, where here one function is handed to `check`.
"""

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import MutationVisitor, deep_replace
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode

OPPOSITES = {"min": "max", "amin": "amax", "argmin": "argmax", "any": "all"}
OPPOSITES |= {"zeros": "ones", "zeros_like": "ones_like", "tril": "triu", "sum": "mean"}
OPPOSITES |= {new: old for old, new in OPPOSITES.items()}
SYMMETRIC = {"min", "max", "minimum", "maximum", "transpose"}  # in their arguments

# What only speaks to someone who passed wrong input: `check` passes none.
BY_RULE = (
    m.Raise()
    | m.If(
        orelse=None,
        body=m.IndentedBlock(body=[m.SimpleStatementLine(body=[m.Raise()])]),
    )
    | m.Expr(m.Call(func=m.Name(value=m.MatchRegex("_?(check|require).*"))))
    | m.Expr(m.Call(func=m.Attribute(attr=m.Name(value=m.MatchRegex("_?check.*")))))
    | m.Arg(keyword=m.Name("device") | m.Name("strict"))
)


@dataclass(frozen=True)
class Mutant:
    """Code with one small fault.

    code: all of it.
    line: the line that is changed, as it was.
    becomes: what it is now.
    by_rule: the fault lies where no check of an answer can look.
    """

    code: str
    line: str
    becomes: str
    by_rule: bool


def one_less(node: cst.Integer) -> Iterable[cst.BaseExpression]:
    """mutmut adds 1; the other neighbour is as often the slip."""
    value = node.evaluated_value - 1
    yield cst.parse_expression(str(value) if value >= 0 else f"({value})")


def nothing_done(node: cst.Expr | cst.Assign) -> Iterable[cst.Pass]:
    """Leave out a statement that only acts on something that exists."""
    in_place = m.Assign(targets=[m.AssignTarget(m.Subscript() | m.Attribute())])
    if m.matches(node, m.Expr(m.Call() | m.Yield()) | in_place):
        yield cst.Pass()


def arguments_swapped(node: cst.Call) -> Iterable[cst.Call]:
    """Swap two neighbours that are told apart by their place alone."""
    places = range(len(node.args) - 1) if called(node) not in SYMMETRIC else ()
    for i in places:
        one, other = node.args[i : i + 2]
        if not (one.keyword or other.keyword or one.star or other.star):
            args = [*node.args]
            args[i] = one.with_changes(value=other.value)
            args[i + 1] = other.with_changes(value=one.value)
            yield node.with_changes(args=args)


def bound_dropped(node: cst.Slice) -> Iterable[cst.Slice]:
    """Let a slice run from the start, or to the end."""
    for bound in ("lower", "upper"):
        if getattr(node, bound) is not None:
            yield node.with_changes(**{bound: None})


def negated(node: cst.If | cst.While | cst.CompIf) -> Iterable[cst.CSTNode]:
    """Turn a condition round."""
    inner = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    yield node.with_changes(test=cst.UnaryOperation(cst.Not(), inner))


def opposite(node: cst.Call) -> Iterable[cst.CSTNode]:
    """Call min for max, any for all, and other pairs that are easily mixed up."""
    if called(node) in OPPOSITES:
        name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        yield node.with_deep_changes(name, value=OPPOSITES[name.value])


def called(node: cst.Call) -> str | None:
    """Name what is called, be it a function or a method."""
    name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    return name.value if isinstance(name, cst.Name) else None


OPERATORS = [
    *mutation_operators,
    (cst.Integer, one_less),
    (cst.Expr, nothing_done),
    (cst.Assign, nothing_done),
    (cst.Call, arguments_swapped),
    (cst.Slice, bound_dropped),
    (cst.If, negated),
    (cst.While, negated),
    (cst.CompIf, negated),
    (cst.Call, opposite),
]


def mutants(
    source: str, lines: Iterable[int] | None = None, left: Collection[str] = ()
) -> Iterator[Mutant]:
    """Give each mutant of a source once.

    Docstrings and annotations stay as they are.

    Args:
        source: code that parses.
        lines: numbers of the lines that may change; None: all.
        left: what is to be left alone: first lines of statements, and arguments.
    """
    every = set(range(1, source.count("\n") + 2))
    kept = every - set(lines) if lines is not None else set()
    wrapper = MetadataWrapper(cst.parse_module(source))
    visitor = MutationVisitor(OPERATORS, IgnoredCode(kept, set(), set()))
    wrapper.visit(visitor)
    tops = [*m.findall(wrapper.module, BY_RULE), *named(wrapper, left)]
    ruled = {id(node) for top in tops for node in below(top)}
    seen = {normal(source)}
    for mutation in visitor.mutations:
        old, new = mutation.original_node, mutation.mutated_node
        code = deep_replace(wrapper.module, old, new).code
        if normal(code) not in seen:
            seen.add(normal(code))
            gone = set(getattr(old, "args", ())) - set(getattr(new, "args", ()))
            by_rule = any(id(node) in ruled for node in (old, *gone))
            yield Mutant(code, *change(source, code), by_rule)


def named(wrapper: MetadataWrapper, left: Collection[str]) -> Iterator[cst.CSTNode]:
    """Give the statements that begin with one of these lines, and these arguments."""
    lines = wrapper.module.code.splitlines()
    for node, span in wrapper.resolve(PositionProvider).items():
        if isinstance(node, cst.Arg):
            text = wrapper.module.code_for_node(node.value)
        elif isinstance(node, cst.BaseCompoundStatement | cst.SimpleStatementLine):
            text = lines[span.start.line - 1].strip()
        else:
            continue
        if text in left:
            yield node


def below(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Give a node and all that it is made of."""
    yield node
    for child in node.children:
        yield from below(child)


def normal(code: str) -> str:
    """Write code in one way, so that equal code is seen to be equal."""
    try:
        return ast.unparse(ast.parse(code))
    except SyntaxError:
        return ""


def change(before: str, after: str) -> tuple[str, str]:
    """Give the lines that differ, before and after, each set as one line."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return one_line(old), one_line(new)


def one_line(lines: Iterable[str]) -> str:
    """Set lines side by side, without their indents."""
    return " ".join(line.strip() for line in lines)
