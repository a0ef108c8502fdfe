"""The architecture: imports go only downwards, and the command line starts fast."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

import mam

ROOT = Path(mam.__file__).parent
# Lowest first; a layer may import itself and what stands before it.
LAYERS = ["core", "factors", "graph", "infer", "models", "vision", "rivals", "tasks", "show"]
LAYERS += ["plugin", "scale", "reproduce", "web", "commands", "cli"]
# data imports none of the model code, only core; any layer above the models may read data.
# The rooms of a layer, lowest first; those of one line do not know each other, and files beside
# the rooms stand below them. A room inside a room may use what its house offers.
ROOMS = {
    "data": [[], ["store"], ["generate", "read"]],
    "vision": [[], ["images"], ["parts"], ["curves"], ["elastic"]],
}
INNER = {"data": set(), "vision": {"strokes", "strands", "letters", "photographs"}}
DATA_READERS = {
    "vision",
    "rivals",
    "tasks",
    "show",
    "plugin",
    "scale",
    "reproduce",
    "web",
    "commands",
}
DATA_READERS |= {"cli", "data"}

# Methods that a higher layer does; they import it when they are called.
HANDED_UP = {("models/mam.py", "mam.show.factor_graph")}


def _layer(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "mam" and len(parts) > 1 else None


def imports_of(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def upward_imports(layer: str, source: str) -> list[str]:
    wrong = []
    for module in imports_of(ast.parse(source)):
        target = _layer(module)
        if target is None or target == layer or target not in [*LAYERS, "data"]:
            continue
        if target == "data":
            allowed = layer in DATA_READERS
        else:
            allowed = target == "core" or (
                layer != "data" and LAYERS.index(target) < LAYERS.index(layer)
            )
        if not allowed:
            wrong.append(module)
    return wrong


def _floor(layer: str, room: str) -> int:
    return next((floor for floor, rooms in enumerate(ROOMS[layer]) if room in rooms), 0)


def wrong_rooms(layer: str, path: tuple[str, ...], source: str) -> list[str]:
    """Imports inside a layer that go up, from room to room or from a house into its rooms."""
    wrong = []
    for module in imports_of(ast.parse(source)):
        parts = module.split(".")
        if parts[:2] != ["mam", layer] or len(parts) < 3:
            continue
        own, other = (_floor(layer, room) for room in (path[0], parts[2]))
        upward = other > own or (other == own > 0 and parts[2] != path[0])
        inner = parts[3:4] if parts[2] == path[0] else []
        if upward or set(inner) & (INNER[layer] - {*path[1:2]}):
            wrong.append(module)
    return wrong


def _inside(layer: str) -> list[tuple[str, Path]]:
    """The files of a layer; what stands at its door offers the names of all rooms."""
    door = ROOT / layer / "__init__.py"
    return [(layer, path) for path in (ROOT / layer).rglob("*.py") if path != door]


@pytest.mark.parametrize(
    ("layer", "path"), [case for layer in ROOMS for case in _inside(layer)], ids=str
)
def test_no_way_up_between_rooms(layer: str, path: Path) -> None:
    inside = path.relative_to(ROOT / layer).parts
    assert wrong_rooms(layer, inside, path.read_text()) == []


def test_a_way_up_between_rooms_is_found() -> None:
    upward = "from mam.vision.elastic.bank import Bank"
    assert wrong_rooms("vision", ("parts", "masks.py"), upward) != []
    assert wrong_rooms("vision", ("elastic", "letters", "finder.py"), upward) == []
    sideways = "from mam.vision.curves.strokes.poses import Poses"
    assert wrong_rooms("vision", ("curves", "strands", "width.py"), sideways) != []
    assert wrong_rooms("vision", ("curves", "attend.py"), sideways) != []
    generators = "from mam.data.generate.make import Recipe"
    assert wrong_rooms("data", ("read", "readers.py"), generators) != []
    assert wrong_rooms("data", ("raster.py",), generators) != []
    assert wrong_rooms("data", ("generate", "workers.py"), generators) == []


@pytest.mark.parametrize(
    "path", [p for p in ROOT.rglob("*.py") if p.parent != ROOT or p.name == "cli.py"], ids=str
)
def test_no_upward_import(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
    handed = {up for own, up in HANDED_UP if ROOT / own == path}
    upward = upward_imports(layer, path.read_text())
    assert [module for module in upward if not module.startswith(tuple(handed))] == []


def test_the_house_is_drawn_as_it_is() -> None:
    text = (ROOT.parent / "CONTRIBUTING.md").read_text()
    drawing = text[text.index("## The house") : text.index("An arrow is")]
    drawing = drawing[drawing.index("```") :]
    drawn = [word for word in re.findall("[a-z]+", drawing) if word in LAYERS]
    assert list(dict.fromkeys(drawn)) == LAYERS[::-1]
    rooms = {room for floors in ROOMS.values() for floor in floors for room in floor}
    listed = set(re.findall(r"^ +(\w+)/ ", text[text.index("mam/core/  ") :], re.MULTILINE))
    assert listed == rooms | set().union(*INNER.values())


def test_an_upward_import_is_found() -> None:
    assert upward_imports("factors", "from mam.graph import Graph") != []
    assert upward_imports("data", "import mam.factors.or_") != []
    assert upward_imports("graph", "from mam.factors import Or") == []


# Compiled loops, and the messages of a factor; `mam.infer.loop` runs what others step through.
LOOPS = {"while_loop", "fori_loop", "scan", "associative_scan", "messages"}
LOOPS |= {"mam.infer.loop", "mam.infer.passing"}
# Loops over what is independent, to save memory: `mam.core.chunks` scans, `lax.map` does.
CHUNKS = {"accumulate", "lax.map"}
# What learning does: greedy covers for elastic graphs, parts that are discovered, springs.
LEARNING = {"parts/greedy.py", "parts/discover.py", "elastic/springs.py"}
# No message is updated here: no turn reads what another one wrote.
CHUNKED = {
    "parts/candidates.py",  # any placement that replaces a candidate, offset by offset
    "elastic/forward.py",  # the sum over the vertices of a graph; graph by graph on a CPU
    "elastic/letters/letter_pairs.py",  # the table of pairs of an image, image by image
}


def own_loops(source: str) -> set[str]:
    """Compiled loops and updates of messages that a file writes itself, whatever it calls them."""
    tree = ast.parse(source)
    nodes = [node for node in ast.walk(tree) if not of_numpy(node)]
    named = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    named |= {node.id for node in nodes if isinstance(node, ast.Name)}
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    named -= {"messages"}  # settings have that name
    named |= {node.attr for node in called if isinstance(node, ast.Attribute)} & {"messages"}
    imported = imports_of(tree)
    named |= {
        "lax.map"
        for node in nodes
        if isinstance(node, ast.Attribute)
        and node.attr == "map"
        and ast.unparse(node.value).rpartition(".")[2] == "lax"
    }
    named |= {"lax.map"} if "jax.lax.map" in imported else set()
    last = {name.rpartition(".")[2] for name in imported}
    return (named | imported | last) & (LOOPS | CHUNKS)


def of_numpy(node: ast.AST) -> bool:
    """Whether it is a function of numpy, which compiles nothing."""
    return isinstance(node, ast.Attribute) and ast.unparse(node).startswith("np.")


def test_vision_has_no_loop_of_its_own() -> None:
    vision = ROOT / "vision"
    found = {
        str(path.relative_to(vision)): loops
        for path in vision.rglob("*.py")
        if (loops := own_loops(path.read_text()))
    }
    assert {path for path, loops in found.items() if loops & LOOPS} == LEARNING
    assert {path for path, loops in found.items() if loops & CHUNKS} == CHUNKED


def test_a_loop_of_its_own_is_found() -> None:
    assert own_loops("jax.lax.scan(f, x, y)") == {"scan"}
    assert own_loops("from jax.lax import fori_loop as turn\nturn(0, 1, f, x)") == {"fori_loop"}
    assert own_loops("block.messages(potentials, incoming, 0)") == {"messages"}
    assert own_loops("preset.messages") == set()
    assert own_loops("np.maximum.accumulate(x)") == set()
    assert own_loops("jnp.maximum.accumulate(x)") == {"accumulate"}
    assert own_loops("from mam.infer.loop import run") == {"mam.infer.loop"}
    assert own_loops("from mam.infer import passing") == {"mam.infer.passing"}
    assert own_loops("accumulate(f, x, y)") == {"accumulate"}
    assert own_loops("jax.lax.map(f, x)") == own_loops("from jax.lax import map") == {"lax.map"}
    assert own_loops("pool.map(f, x)") == set()


def test_one_place_knows_a_cpu_from_an_accelerator() -> None:
    """Others only tell people where something ran."""
    asking = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") if asks_where(path)}
    assert asking == {"core/devices.py", "commands/doctor.py", "reproduce/page_settings.py"}


def asks_where(path: Path) -> bool:
    """Whether a file asks JAX what it runs on."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    named = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return "default_backend" in named or {"devices", "platform"} <= named


def test_nodes_are_registered_in_one_way() -> None:
    """JAX's own way mixes up classes with as many fields: see mam/core/pytree.py."""
    here = ROOT / "core" / "pytree.py"
    others = [p for p in ROOT.rglob("*.py") if p != here and "register_data" in p.read_text()]
    assert others == []


MOST_LINES, MOST_IN_A_BODY = 299, 44  # see Style in CONTRIBUTING


def too_long(source: str) -> list[str]:
    """The file, and its functions whose bodies are too long; docstrings do not count."""
    found = ["the file"] if len(source.splitlines()) > MOST_LINES else []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[min(ast.get_docstring(node) is not None, len(node.body) - 1)]
            if (node.body[-1].end_lineno or 0) - first.lineno >= MOST_IN_A_BODY:
                found.append(node.name)
    return found


@pytest.mark.parametrize("path", list(ROOT.rglob("*.py")), ids=str)
def test_files_and_functions_are_short(path: Path) -> None:
    assert too_long(path.read_text()) == []


def test_what_is_too_long_is_found() -> None:
    long = "def f():\n    'Do.'\n" + "    x = 1\n" * 44
    assert too_long(long) == [] and too_long(long + "    x = 1\n") == ["f"]
    assert too_long("x = 1\n" * 300) == ["the file"]


HOP = re.compile(r"(\S+\.py): ((?:[\w.]+(?:, )?)+)")


class Hop(NamedTuple):
    """A line of "Follow one image": what stands in a file, under the file that calls it."""

    path: Path
    names: list[str]
    caller: Path | None


def hops_of(text: str) -> list[Hop]:
    """The hops of a text in order; a line is called by the nearest one above that is less deep."""
    found: list[Hop] = []
    above: list[tuple[int, Path]] = []
    for line in text.splitlines():
        above = [] if line.startswith("```") else above
        if match := HOP.search(line):
            ending = match[1].removeprefix(".../").removeprefix("mam/")
            [path] = [file for file in ROOT.rglob("*.py") if str(file).endswith(f"/{ending}")]
            depth = len(line) - len(line.lstrip())
            above = [one for one in above if one[0] < depth]
            names = match[2].rstrip(", ").split(", ")
            found.append(Hop(path, names, above[-1][1] if above else None))
            above.append((depth, path))
    return found


def wrong_hops(hops: Iterable[Hop]) -> list[str]:
    """Names that a file does not define, or that the file above it does not mention."""
    wrong = []
    for path, names, caller in hops:
        for name in names:
            words = name.split(".")
            defined = [rf"(def|class) {word}\b|^{word}\b.* = " for word in words]
            if not all(re.search(one, path.read_text(), re.MULTILINE) for one in defined):
                wrong.append(f"{path}: {name}")
            said = rf"\b({words[-1]}|{path.stem})\b"
            if caller is not None and not re.search(said, caller.read_text()):
                wrong.append(f"{caller} -> {name}")
    return wrong


def test_every_hop_of_contributing_is_there() -> None:
    text = (ROOT.parent / "CONTRIBUTING.md").read_text()
    hops = hops_of(text[text.index("## Follow one image") : text.index("## Words")])
    assert len(hops) > 60
    assert wrong_hops(hops) == []


def test_a_hop_that_is_not_there_is_found() -> None:
    good = "mam/infer/solve.py: solve\n  mam/infer/leftovers.py: leftovers"
    assert wrong_hops(hops_of(good)) == []
    assert wrong_hops(hops_of(good.replace("leftovers.py: leftovers", "leftovers.py: split"))) != []
    assert wrong_hops(hops_of("mam/infer/solve.py: solve\n  mam/core/svg.py: as_svg")) != []


def test_help_is_fast() -> None:
    command = [sys.executable, "-m", "mam", "--help"]
    subprocess.run(command, check=True, capture_output=True)
    times = []
    for _ in range(3):
        start = os.times()
        subprocess.run(command, check=True, capture_output=True)
        end = os.times()
        user, system = end.children_user, end.children_system
        times.append(user + system - start.children_user - start.children_system)
    # Half a second of computing, which other work on the machine does not make longer.
    assert 0 < min(times) < 1.0


def test_help_imports_nothing_heavy() -> None:
    heavy = ("jax", "scipy", "matplotlib", "pyarrow", "equinox", "optax", "sklearn")
    code = f"import sys, mam.cli; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert result.stdout.strip() == "[]"


def test_every_public_name_can_be_loaded() -> None:
    assert [name for name in mam.__all__ if getattr(mam, name).__name__ != name] == []
    assert set(mam.__all__) <= set(dir(mam))
    with pytest.raises(AttributeError, match="No mam attribute sovle"):
        _ = mam.sovle


def test_every_bench_can_be_imported() -> None:
    """They are run by hand, and what they import moves."""
    names = [path.stem for path in (ROOT.parent / "bench").glob("[!_]*.py")]
    assert len(names) > 20
    code = "import importlib, sys; [importlib.import_module(f'bench.{n}') for n in sys.argv[1:]]"
    subprocess.run([sys.executable, "-c", code, *names], check=True, cwd=ROOT.parent)
