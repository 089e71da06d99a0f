"""The budgets and borders of this repository, counted. What they are for: CONTRIBUTING.md."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST_FILE = 500
LONGEST_FUNCTION = 60
MOST_PARAMETERS = 5
MOST_POSITIONAL = 4  # three is the aim: past it, names at the call say more than an order

# Who may write rows, each for its own columns (the models' docstrings say which).
WRITERS = re.compile(
    r"/(actions|executor|informer|commit)(/|\.py)"  # verbs; intents carried out; what was seen; what was decided
    r"|/clusters/(observe|hardware)\.py"  # what the informer saw of nodes
    r"|/kube/streams/store\.py"  # saves files
    r"|/common/(events|tasks)\.py"  # the two outboxes, and their retention
    r"|/workloads/states\.py"  # move(): the one function that writes states
    r"|/realtime/publisher\.py"  # numbers events
    r"|/management/commands/"
    r"|/migrations/"
)
QUERYSET_WRITES = {"save", "bulk_create", "bulk_update", "get_or_create", "update_or_create"}
# These names belong to dictionaries and sets too: they count on `….objects` and on what `filter` gives.
AMBIGUOUS_WRITES = {"create", "update", "delete", "acreate", "aupdate", "adelete"}
QUERYSET_METHODS = {"filter", "exclude", "all", "select_for_update", "order_by", "using"}

MACHINE_PATH = re.compile(r"(?<![\w.:/-])/(work|root|home/\w+|Users/\w+)/\w")


def tracked(*patterns: str) -> list[Path]:
    """Files that git knows or would add, by glob."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file()]


def shown(path: Path, line: int = 0) -> str:
    """A place as an editor takes it: path:line."""
    return f"{path.relative_to(ROOT)}:{line}" if line else str(path.relative_to(ROOT))


def python_files(*, tests: bool = True) -> list[Path]:
    """Our Python, migrations aside."""
    files = [path for path in tracked("*.py") if "migrations" not in path.parts]
    return files if tests else [path for path in files if path.relative_to(ROOT).parts[0] != "tests"]


def functions(*, tests: bool = True) -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function and method with its file."""
    for path in python_files(tests=tests):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def test_files_are_short() -> None:
    sources = [*python_files(), *tracked("frontend/src/*.ts", "frontend/styles/*.css", "platform/*.html")]
    long = {shown(path): count for path in sources if (count := len(path.read_text().splitlines())) > LONGEST_FILE}
    assert long == {}


def test_functions_are_short() -> None:
    def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
        return (node.end_lineno or node.lineno) - node.lineno + 1

    long = {
        f"{shown(path, node.lineno)} {node.name}": length(node)
        for path, node in functions()
        if length(node) > LONGEST_FUNCTION
    }
    assert long == {}


def test_functions_take_few_parameters() -> None:
    """At most five, the last by keyword at the latest. Pytest's fixtures and typer's options are no calls of ours."""
    many = {}
    for path, node in functions(tests=False):
        positional = [arg.arg for arg in [*node.args.posonlyargs, *node.args.args] if arg.arg not in {"self", "cls"}]
        total = len(positional) + len(node.args.kwonlyargs)
        is_command = ("cli" in path.parts or path.name == "command.py") and not node.name.startswith("_")
        if not is_command and (total > MOST_PARAMETERS or len(positional) > MOST_POSITIONAL):
            many[f"{shown(path, node.lineno)} {node.name}"] = (len(positional), total)
    assert many == {}


def test_platform_is_no_package() -> None:
    """With an __init__.py `import platform` returns our folder, and Django fails at once."""
    assert not (ROOT / "platform" / "__init__.py").exists()
    assert not (ROOT / "tests" / "platform").exists()


def test_rows_are_written_by_few() -> None:
    offenders = []
    for path in python_files(tests=False):
        place = "/" + str(path.relative_to(ROOT))
        if "/platform/muster/" in place and not WRITERS.search(place):
            calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
            offenders += [shown(path, call.lineno) for call in calls if _writes(call)]
    assert offenders == []


def _writes(call: ast.Call) -> bool:
    """Whether it writes rows through the ORM."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in QUERYSET_WRITES:
        return True
    return call.func.attr in AMBIGUOUS_WRITES and _is_queryset(call.func.value)


def _is_queryset(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in {"objects", "_default_manager"}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in QUERYSET_METHODS and _is_queryset(node.func.value)
    return False


def test_nothing_names_a_place_on_one_machine() -> None:
    texts = tracked(
        "*.py", "*.md", "*.toml", "*.ts", "*.html", "*.css", "*.yaml", "*.yml", "*.json", "Makefile", "deploy/*"
    )
    found = [
        shown(path, number)
        for path in texts
        if path != Path(__file__) and path.name != "package-lock.json"
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("name", ["uv.lock", "poetry.lock", "Pipfile.lock"])
def test_locks_hold_no_address(name: str) -> None:
    """Such a lock writes the index's address on every line; ours are requirements files with hashes."""
    assert not (ROOT / name).exists()
