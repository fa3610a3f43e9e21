"""Every notebook is fit to be opened: whole, in step, readable, self-contained."""

import ast
import builtins
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import notebooks as tool  # noqa: E402

PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LARGEST_BYTES = 300_000
SKIPPABLE = {"weights", "compare", "cuda"}
TAGS = {"gpu", "nbval-ignore-output", "slide", *SKIPPABLE}
LESSON_HEADINGS = [
    "Question",
    "Picture",
    "Definition",
    "Build",
    "Check",
    "Misconceptions",
    "On a GPU",
    "Exercise",
    "Quiz",
    "Further reading",
]
# Lesson 00 builds nothing yet: in the place of Definition and Build it lets the
# learner meet the model, look inside, and see the difficulties and the map.
START_HEADINGS = [
    "Question",
    "Chat",
    "Inside",
    "Next token",
    "Difficulties",
    "Map",
    "Pictures to keep",
    "Today",
    "Check",
    "Misconceptions",
    "Words",
    "Course map",
    "Quiz",
    "Further reading",
]
MACHINE_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|root|Users|work|tmp|var|opt|usr|mnt)/|[A-Za-z]:\\\\?Users|"
    r"site-packages"
)


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request):
    """Give the path of each notebook in turn."""
    return request.param


@pytest.fixture
def notebook(path):
    """Give each notebook in turn."""
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    """Give the cells that run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook):
    """Give the text of all markdown cells, without fenced code."""
    text = "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def outputs(notebook):
    """Give every stored output."""
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def html_outputs(notebook):
    """Give the html of every stored output."""
    return [
        o.data["text/html"]
        for o in outputs(notebook)
        if "text/html" in o.get("data", {})
    ]


# Pair and normal form ---------------------------------------------------------


def test_text_and_notebook_come_in_pairs():
    texts = {path.stem for path in (ROOT / "notebooks" / "text").glob("*.py")}
    assert texts == {path.stem for path in PATHS}


def test_the_notebook_holds_the_cells_of_its_text(path):
    assert tool.in_step(path), f"python tools/notebooks.py build {path.stem}"


def test_the_notebook_is_stored_in_normal_form(path, notebook):
    stored = path.read_text(encoding="utf-8")
    assert stored == tool.dump(tool.normalise(notebook, path.stem))


def test_cells_were_run_once_from_top_to_bottom(notebook):
    cells = [c for c in code_cells(notebook) if "cuda" not in tool.tags(c)]
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert all(cell.execution_count for cell in cells)
    assert all(count in (None, n) for n, count in enumerate(counts, start=1))


def test_no_error_and_no_warning_is_stored(notebook):
    kinds = {output.output_type for output in outputs(notebook)}
    streams = {output.get("name") for output in outputs(notebook)}
    assert "error" not in kinds
    assert "stderr" not in streams


def test_the_file_is_small(path):
    assert path.stat().st_size <= LARGEST_BYTES


def test_no_path_of_a_machine_is_left(path):
    found = MACHINE_PATH.search(path.read_text(encoding="utf-8"))
    assert found is None, found and found[0]


# Headings ---------------------------------------------------------------------


def headings(notebook):
    """Give (level, words) of each heading."""
    found = re.findall(r"^(#{1,6}) +(.+?) *$", prose(notebook), flags=re.MULTILINE)
    return [(len(signs), words) for signs, words in found]


def test_one_title_then_no_level_is_skipped(notebook):
    levels = [level for level, _ in headings(notebook)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(levels, levels[1:], strict=False))


def test_sections_are_those_of_the_curriculum(path, notebook):
    expected = START_HEADINGS if path.stem == "00_start" else LESSON_HEADINGS
    found = [words for level, words in headings(notebook) if level == 2]
    where_it_applies = {"On a GPU"} - set(found)
    assert found == [words for words in expected if words not in where_it_applies]


def test_the_head_says_what_a_learner_needs_to_know(notebook):
    head = notebook.cells[0].source
    for words in (
        "**You need**",
        "**You build**",
        "**You will be able to**",
        "minutes",
    ):
        assert words in head


# Pictures ---------------------------------------------------------------------


class Page(HTMLParser):
    """Collect images, captions and links of a piece of html."""

    def __init__(self, page):
        super().__init__()
        self.images, self.links, self.tags, self.caption = [], [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        """Note an image with the tags around it, and where links lead."""
        attributes = dict(attributes)
        if tag == "img":
            self.images.append((attributes, "figure" in self.tags))
        else:
            self.tags.append(tag)
        self.links += [attributes[k] for k in ("href", "src") if attributes.get(k)]

    def handle_endtag(self, tag):
        """Leave a tag."""
        if tag in self.tags:
            self.tags.remove(tag)

    def handle_data(self, data):
        """Keep the words of a caption."""
        if "figcaption" in self.tags:
            self.caption += data


def test_no_picture_is_bare(notebook):
    bare = [
        kind
        for o in outputs(notebook)
        for kind in o.get("data", {})
        if "image/" in kind
    ]
    assert not bare, "show pictures with course_lib.figures.show_figure"
    for html in html_outputs(notebook):
        page = Page(html)
        for attributes, in_figure in page.images:
            assert in_figure
            assert attributes.get("alt", "").strip()
            assert page.caption.strip()


def test_pictures_in_the_text_have_words(notebook):
    assert not re.findall(r"!\[\s*\]\(", prose(notebook))
    assert all(attrs.get("alt") for attrs, _ in Page(prose(notebook)).images)


# Links ------------------------------------------------------------------------


def test_relative_links_lead_somewhere(path, notebook):
    text = re.sub(r"`[^`]*`", "", prose(notebook))
    links = re.findall(r"\]\(\s*<?([^)\s>]+)", text) + Page(text).links
    for html in html_outputs(notebook):
        links += Page(html).links
    links = [link.split("#")[0] for link in links if not re.match(r"\w+:", link)]
    missing = [link for link in links if link and not (path.parent / link).exists()]
    assert not missing


def test_the_course_map_links_every_lesson_that_exists():
    start = nbformat.read(ROOT / "notebooks" / "00_start.ipynb", as_version=4)
    course_map = prose(start).split("## Course map")[1].split("## ")[0]
    assert re.findall(r"\((\d\d_\w+\.ipynb)\)", course_map) == [p.name for p in PATHS]


# Tags -------------------------------------------------------------------------


def test_every_tag_is_known(notebook):
    used = {tag for cell in notebook.cells for tag in tool.tags(cell)}
    assert not {tag for tag in used - TAGS if not re.fullmatch(r"timeout-\d+", tag)}


def test_what_is_not_compared_is_asserted(notebook):
    cells = code_cells(notebook)
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        if "nbval-ignore-output" in tool.tags(cell):
            sources = cell.source + (following.source if following else "")
            assert "assert " in sources, cell.source


def test_cells_that_may_be_skipped_are_leaves(notebook):
    assert not leaks(notebook.cells)


def leaks(cells):
    """Find names that a skippable cell makes and a later cell reads."""
    made, found = set(), []
    for cell in cells:
        if cell.cell_type != "code":
            continue
        stored, read = names(cell.source)
        found += [(name, cell.id) for name in sorted(read & made)]
        if SKIPPABLE & set(tool.tags(cell)):
            made |= stored
    return found


def names(source):
    """Give the names a cell makes, and those it reads before it made them."""
    visitor = Names()
    visitor.visit(ast.parse(TransformerManager().transform_cell(source)))
    return visitor.stored, visitor.read


class Names(ast.NodeVisitor):
    """Walk code in the order in which it runs; note what it stores and reads."""

    def __init__(self, local=()):
        self.stored, self.read, self.local = set(), set(), set(local)

    def visit_Name(self, node):
        """Note a name that is stored or read."""
        known = self.stored | self.local | set(dir(builtins))
        if isinstance(node.ctx, ast.Store):
            self.stored.add(node.id)
        elif node.id not in known:
            self.read.add(node.id)

    def visit_Import(self, node):
        """Note imported names."""
        self.stored |= {(a.asname or a.name).split(".")[0] for a in node.names}

    visit_ImportFrom = visit_Import

    def visit_Assign(self, node):
        """Take the value first: `x = x + 1` reads x."""
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AugAssign(self, node):
        """Take `x += 1` as reading x."""
        self.visit(node.value)
        self.visit(ast.Name(ast.unparse(node.target), ast.Load()))
        self.visit(node.target)

    def visit_For(self, node):
        """Take the sequence before the loop's name."""
        for part in (node.iter, node.target, *node.body, *node.orelse):
            self.visit(part)

    def visit_ExceptHandler(self, node):
        """Note the name that a caught error gets."""
        self.stored |= {node.name} - {None}
        self.generic_visit(node)

    def visit_ListComp(self, node):
        """Take the loops before the element; its names stay inside."""
        inner = Names(self.stored | self.local)
        for loop in node.generators:
            inner.visit(loop.iter)
            inner.visit(loop.target)
            for condition in loop.ifs:
                inner.visit(condition)
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                inner.visit(getattr(node, part))
        self.read |= inner.read

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def visit_FunctionDef(self, node):
        """Look inside a function without its own parameters and names."""
        for part in (*getattr(node, "decorator_list", []), *node.args.defaults):
            self.visit(part)
        if hasattr(node, "name"):
            self.stored.add(node.name)
        parameters = {
            arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)
        }
        inner = Names(self.stored | self.local | parameters)
        for part in node.body if isinstance(node.body, list) else [node.body]:
            inner.visit(part)
        self.read |= inner.read

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_ClassDef(self, node):
        """Look inside a class; note its name."""
        inner = Names(self.stored | self.local)
        for part in (*node.decorator_list, *node.bases, *node.body):
            inner.visit(part)
        self.read |= inner.read
        self.stored.add(node.name)


@pytest.mark.parametrize(
    ("later", "leaks_model"),
    [
        ("print(model)", True),
        ("def ask():\n    return model", True),
        ("model = model + 1", True),
        ("model += 1", True),
        ("[model for x in range(2)]", True),
        ("f'{model}'", True),
        ("model = 3\nprint(model)", False),
        ("[model for model in range(2)]", False),
        ("def ask(model):\n    return model", False),
        ("for model in range(2):\n    print(model)", False),
        ("other.model", False),
        ("ask(model=3)", False),
    ],
)
def test_the_leaf_lint_sees_a_name_that_is_read_later(later, leaks_model):
    v4 = nbformat.v4
    cells = [
        v4.new_code_cell("model = 1", metadata={"tags": ["weights"]}),
        v4.new_code_cell(later),
    ]
    assert bool(leaks(cells)) == leaks_model


# The tool ---------------------------------------------------------------------


@pytest.fixture
def lesson(tmp_path):
    """Give the path of a small notebook whose text has a picture and a widget."""
    (tmp_path / "text").mkdir()
    text = tmp_path / "text" / "05_word.py"
    text.write_text(
        "# %% [markdown]\n# # Title\n\n"
        "# %%\nprint('one')\nprint('two')\n\n"
        "# %%\nfrom IPython.display import display\n"
        "display({'application/vnd.jupyter.widget-view+json': {'model_id': 'x'},"
        " 'text/plain': 'slider'}, raw=True)\n1 + 1\n\n"
        '# %% tags=["nbval-ignore-output"]\nimport time\ntime.perf_counter()\n\n'
        '# %% tags=["cuda"]\nprint("device")\n'
    )
    return tmp_path / "05_word.ipynb"


def test_a_second_build_gives_the_same_bytes(lesson):
    assert tool.build(lesson)
    first = lesson.read_bytes()
    assert not tool.build(lesson)
    assert lesson.read_bytes() == first
    stored = json.loads(first)
    assert stored["metadata"] == tool.METADATA
    assert [cell["id"] for cell in stored["cells"]] == [
        f"05-00{n}" for n in range(1, 6)
    ]
    assert [c.get("execution_count") for c in stored["cells"]] == [None, 1, 2, 3, None]
    kinds = [output["output_type"] for output in stored["cells"][2]["outputs"]]
    assert kinds == ["execute_result"]
    if not tool.has_cuda():
        assert stored["cells"][4]["outputs"] == []
    assert tool.build(lesson, fresh=True)


def test_a_failing_cell_leaves_the_stored_notebook_alone(lesson):
    tool.build(lesson)
    before = lesson.read_bytes()
    tool.text_path(lesson).write_text("# %%\n1 / 0\n")
    with pytest.raises(tool.BuildError, match="ZeroDivisionError"):
        tool.build(lesson)
    assert lesson.read_bytes() == before


def test_edits_made_in_jupyter_are_pulled_and_never_overwritten(lesson):
    tool.build(lesson)
    notebook = nbformat.read(lesson, as_version=4)
    notebook.cells[1].source = "print('edited')"
    nbformat.write(notebook, lesson)
    assert not tool.in_step(lesson)
    assert tool.main(["build", str(lesson)]) == 1
    assert "edited" in lesson.read_text()
    assert tool.main(["pull", str(lesson)]) == 0
    assert tool.main(["check", str(lesson)]) == 0
    assert "print('edited')" in tool.text_path(lesson).read_text()
