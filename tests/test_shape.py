"""The shape of the house: no circles, imports go down, one place for the clock, one for statements, small files."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from statistics import median

import pytest

SRC = Path(__file__).parent.parent / "src"
MODULES = {
    ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SRC.rglob("*.py"))
}

# The floors, from the ground up: a module imports only from its own floor or from those below it.
FLOORS = [
    "clock duration errors",
    "fields cron offsets zone places payload settings instant author terms",
    "daylight interval cadence words handler retry job",
    "workflow guard",
    "schedule fire miss run claim current queue",
    "events plan",
    "log stats files",
    "store",
    "engine locks",
    "verbs checks home",
    "app aio",
    "testing finding",
    "cli studio django __main__",
]
FLOOR_OF = {name: floor for floor, names in enumerate(FLOORS) for name in names.split()}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text())


def imports_of(module: str) -> set[str]:
    """Every module of rota that this one imports, also inside functions and for types only."""
    found: set[str] = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in MODULES else node.module)
    return {name for name in found if name in MODULES and name != module}


def functions_of(module: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree(module)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function's code: signature, docstring and blank lines left out."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    if not body:
        return 0
    lines = (MODULES_LINES[id(node)])[body[0].lineno - 1 : body[-1].end_lineno]
    return sum(bool(line.strip()) for line in lines)


MODULES_LINES: dict[int, list[str]] = {}
for _module, _path in MODULES.items():
    _lines = _path.read_text().splitlines()
    for _node in functions_of(_module):
        MODULES_LINES[id(_node)] = _lines


def test_there_are_no_import_circles():
    graph = {module: imports_of(module) for module in MODULES if module != "rota"}
    seen: dict[str, str] = {}

    def visit(module: str, path: tuple[str, ...]) -> None:
        if module in path:
            pytest.fail("a circle: " + " -> ".join([*path[path.index(module) :], module]))
        if module in seen:
            return
        for following in sorted(graph.get(module, ())):
            visit(following, (*path, module))
        seen[module] = "done"

    for module in graph:
        visit(module, ())


@pytest.mark.parametrize("module", [name for name in MODULES if name != "rota"])
def test_imports_go_down(module: str):
    room = module.split(".")[1]
    assert room in FLOOR_OF, f"{module} has no floor yet: give it one here and in docs/architecture.md"
    for imported in imports_of(module) - {"rota"}:
        below = imported.split(".")[1]
        assert FLOOR_OF[below] <= FLOOR_OF[room], f"{module} imports {imported}, which stands above it"


CLOCKS = re.compile(r"datetime\.(now|utcnow|today)\(|date\.today\(|time\.(time|monotonic|perf_counter|clock_gettime)\(")
READS_A_CLOCK = {"rota.clock"}
WAITS_FOR_REAL = {"rota.testing.harness"}  # it waits for handlers that run on real threads


@pytest.mark.parametrize("module", [name for name in MODULES if name not in READS_A_CLOCK | WAITS_FOR_REAL])
def test_no_clock_is_read_outside_clock(module: str):
    found = [
        f"{MODULES[module].name}:{number}: {line.strip()}"
        for number, line in enumerate(MODULES[module].read_text().splitlines(), 1)
        if CLOCKS.search(line)
    ]
    assert not found


@pytest.mark.parametrize("module", [name for name in MODULES if name not in READS_A_CLOCK | WAITS_FOR_REAL])
def test_the_time_module_stays_in_clock(module: str):
    """Under whatever name it might be imported; `gmtime` only formats."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            assert "time" not in {alias.name for alias in node.names}, module
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            assert {alias.name for alias in node.names} <= {"gmtime"}, module


@pytest.mark.parametrize("module", [name for name in MODULES if not name.startswith("rota.store")])
def test_no_statement_outside_store(module: str):
    """Outside it one hands on connections, and knows what can go wrong with them."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            assert not [alias.name for alias in node.names if alias.name.startswith("sqlalchemy")], module
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlalchemy"):
            names = {alias.name for alias in node.names}
            assert node.module == "sqlalchemy.exc" or names == {"Connection"}, f"{module} imports {sorted(names)}"


@pytest.mark.parametrize("module", MODULES)
def test_a_file_holds_one_noun(module: str):
    assert len(MODULES[module].read_text().splitlines()) <= 300


@pytest.mark.parametrize("module", MODULES)
def test_functions_are_short(module: str):
    long = [f"{node.name} ({code_lines(node)})" for node in functions_of(module) if code_lines(node) > 40]
    assert not long


def test_most_functions_are_very_short():
    lengths = sorted(code_lines(node) for module in MODULES for node in functions_of(module))
    assert median(lengths) <= 8
    assert lengths[int(len(lengths) * 0.9)] <= 20


def test_the_public_door_is_exact():
    import rota

    assert rota.__all__ == sorted(rota.__all__)
    assert dir(rota) == sorted([*rota.__all__, "__version__"])
    for name in rota.__all__:
        assert getattr(rota, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        rota.nothing  # noqa: B018
