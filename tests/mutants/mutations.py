"""Which small faults a source can be given. Pure.

A mutant replaces one expression or statement, by its position, so that everything else stays as it was written.

Some changes are no faults, and none is made there: outside of functions (limits, tables, defaults, declarations), in
annotations, assertions, timeouts, log lines, reports of unknown messages (`test_last_clauses.py`), `__repr__`,
checkpoints, what is said to people (texts with spaces, f-strings, what is raised), and what only another platform does.
What is left of such changes stands in `excused.toml`, with a reason.
"""

import ast
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
TURNED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
LOGGERS = re.compile(r"_?log(ger)?|logging|warnings")
CHECKPOINT = re.compile(r"checkpoint\w*")
UNKNOWN = "self.unknown(message)"
UNTESTED_FUNCTIONS = {"__repr__", "__rich_repr__"}
TUNED = {"capacity", "deadline", "grace", "max_children", "start_timeout", "strict", "timeout"}
"""Arguments by which something is bounded, if they are said as a number; and `strict`, with which `zip` asserts."""
ELSEWHERE = re.compile(r"sys\.platform|'(win32|darwin)'")
"""In conditions of what another platform does."""
UNREACHED = re.compile(r"NotImplementedError|AssertionError")
"""What is raised where nobody comes."""
TEXT = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Mutant:
    file: str
    line: int
    start: int
    end: int
    """Bytes of the source."""
    becomes: str

    def made(self, source: bytes) -> bytes:
        return source[: self.start] + self.becomes.encode() + source[self.end :]

    def line_of(self, source: bytes) -> str:
        """The whole line or lines, as they will be."""
        begin = source.rfind(b"\n", 0, self.start) + 1
        end = source.find(b"\n", self.end)
        end = len(source) if end < 0 else end
        return (source[begin : self.start] + self.becomes.encode() + source[self.end : end]).decode().strip()


def mutants(file: str, source: bytes) -> list[Mutant]:
    """All there are, in the order of the file."""
    return sorted(_Walk(file, source).found(), key=lambda mutant: (mutant.start, mutant.end, mutant.becomes))


def drawn(found: Iterable[Mutant], sources: Mapping[str, bytes], number: int, seed: str) -> list[Mutant]:
    """One mutant each of so many lines. Each line has its lot from the seed and its own text: a change elsewhere in the
    tree leaves the draw as it was, but for the lines that came or went."""
    texts = {file: source.splitlines() for file, source in sources.items()}
    lots: dict[str, Mutant] = {}
    seen: Counter[tuple[str, bytes]] = Counter()
    of_lines: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for mutant in found:
        of_lines[mutant.file, mutant.line].append(mutant)
    for (file, line), each in sorted(of_lines.items()):
        text = texts[file][line - 1].strip()
        seen[file, text] += 1
        own = f"{seed} {file} {text.decode()} {seen[file, text]}"
        chosen = min(each, key=lambda mutant: (_lot(f"{own} {mutant.line_of(sources[mutant.file])}"), mutant.start))
        lots[_lot(own)] = chosen
    return [lots[lot] for lot in sorted(lots)[:number]]


def _lot(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class _Walk:
    def __init__(self, file: str, source: bytes) -> None:
        self._file = file
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def found(self) -> Iterator[Mutant]:
        for node in ast.walk(ast.parse(self._source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in UNTESTED_FUNCTIONS:
                truth = isinstance(node.returns, ast.Name) and node.returns.id == "bool"
                for statement in node.body:
                    yield from self._statement(statement, truth)

    def _mutant(self, node: ast.expr | ast.stmt, becomes: str | ast.AST) -> Mutant:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        text = becomes if isinstance(becomes, str) else ast.unparse(becomes)
        return Mutant(self._file, node.lineno, start, end, text)

    # --- statements -------------------------------------------------------------------------------------------------

    def _statement(self, node: ast.stmt, truth: bool) -> Iterator[Mutant]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return  # found by itself
            case ast.Assert() | ast.Raise() | ast.Expr(value=ast.Constant()):
                if isinstance(node, ast.Raise) and not UNREACHED.search(ast.unparse(node)):
                    yield self._mutant(node, "pass")
                return
            case ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call)):
                if _is_said_to_nobody(call):
                    return
                yield self._mutant(node, "pass")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.AugAssign() | ast.Delete():
                yield self._mutant(node, "pass")
            case ast.Continue() | ast.Break():
                yield self._mutant(node, "pass")
            case ast.Return(value=value) if value is not None:
                if truth and not isinstance(value, ast.Constant | ast.Compare | ast.BoolOp | ast.UnaryOp):
                    yield self._mutant(value, f"not ({ast.unparse(value)})")
                elif not isinstance(value, ast.Constant) and ast.unparse(value) != "NotImplemented" and not truth:
                    yield self._mutant(node, "return None")
            case ast.If(test=test) | ast.While(test=test) if isinstance(
                test, ast.Name | ast.Attribute | ast.Call | ast.NamedExpr | ast.Await
            ):
                if ast.unparse(test).rpartition(".")[2] != "TYPE_CHECKING":
                    yield self._mutant(test, f"not ({ast.unparse(test)})")
        if isinstance(node, ast.If) and ELSEWHERE.search(ast.unparse(node.test)):
            children: Iterable[ast.AST] = node.orelse
        else:
            children = ast.iter_child_nodes(node)
        for child in children:
            yield from self._inside(child, node, truth)

    def _inside(self, child: ast.AST, parent: ast.AST, truth: bool) -> Iterator[Mutant]:
        match child:
            case ast.stmt():
                yield from self._statement(child, truth)
            case ast.expr():
                if child is not getattr(parent, "annotation", None):
                    yield from self._expression(child)
            case ast.ExceptHandler():
                for handling in child.body:
                    yield from self._statement(handling, truth)
            case ast.match_case():
                if child.guard is not None:
                    yield from self._expression(child.guard)
                for clause in child.body:
                    yield from self._statement(clause, truth)
            case ast.withitem():
                yield from self._expression(child.context_expr)

    # --- expressions ------------------------------------------------------------------------------------------------

    def _expression(self, node: ast.expr) -> Iterator[Mutant]:
        match node:
            case ast.JoinedStr():
                return
            case ast.Constant(value=value):
                yield from (self._mutant(node, repr(other)) for other in _other_constants(value))
                return
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                if ELSEWHERE.search(ast.unparse(node)):
                    return
                for index, op in enumerate(ops):
                    for other in filter(None, (SWAPS.get(type(op)), TURNED.get(type(op)))):
                        changed: list[ast.cmpop] = [*ops[:index], other(), *ops[index + 1 :]]
                        yield self._mutant(node, ast.Compare(left, changed, comparators))
            case ast.BoolOp(op=op, values=values):
                other_op: ast.boolop = SWAPS[type(op)]()  # type: ignore[assignment]
                yield self._mutant(node, f"({ast.unparse(ast.BoolOp(other_op, values))})")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield self._mutant(node, f"bool({ast.unparse(operand)})")
                if isinstance(operand, ast.Name | ast.Attribute):
                    return
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in SWAPS:
                if not isinstance(left, ast.JoinedStr) and not isinstance(right, ast.JoinedStr):
                    swapped: ast.operator = SWAPS[type(operator)]()  # type: ignore[assignment]
                    yield self._mutant(node, f"({ast.unparse(ast.BinOp(left, swapped, right))})")
            case ast.IfExp(test=ast.Name() | ast.Attribute() | ast.Call() as test):
                yield self._mutant(test, f"(not {ast.unparse(test)})")
            case ast.Call(func=func, args=args, keywords=keywords):
                if _is_said_to_nobody(node):
                    return
                name = ast.unparse(func)
                yield from self._expression(func)
                for index, argument in enumerate(args):
                    if not (name == "cast" and index == 0) and not (name == "isinstance" and index == 1):
                        yield from self._expression(argument)
                for keyword in keywords:
                    if keyword.arg not in TUNED or not isinstance(keyword.value, ast.Constant):
                        yield from self._expression(keyword.value)
                return
        for child in ast.iter_child_nodes(node):
            match child:
                case ast.expr():
                    yield from self._expression(child)
                case ast.comprehension():
                    yield from self._expression(child.iter)
                    for condition in child.ifs:
                        yield from self._expression(condition)


def _other_constants(value: object) -> Iterator[object]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
        case str() if value and not TEXT.search(value):
            yield ""
        case bytes() if value:
            yield b""


def _is_said_to_nobody(call: ast.Call) -> bool:
    """A log line, a checkpoint, or what becomes of a message or a kind that no clause takes."""
    func = call.func
    match func:
        case ast.Attribute(value=value, attr=name):
            said = LOGGERS.fullmatch(ast.unparse(value).rpartition(".")[2]) or CHECKPOINT.fullmatch(name)
            return bool(said) or ast.unparse(call) == UNKNOWN
        case ast.Name(id=name):
            return bool(CHECKPOINT.fullmatch(name)) or name == "assert_never"
    return False
