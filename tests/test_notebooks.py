"""The example notebook runs in a fresh kernel, and what it shows is what people are meant to see."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLE = Path(__file__).parents[1] / "examples" / "notebook.ipynb"
# Run after the cells of the example, in the same kernel: to start one takes seconds.
MORE = {
    "modules": "import sys; print('matplotlib.pyplot' in sys.modules)",
    "inline": "%matplotlib inline\nah.plot(release)",
    "profile": "profile",
}


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Return the cells that were run, by their text; those of :data:`MORE` by name."""
    with pytest.MonkeyPatch.context() as patch:
        # Settings of whoever runs the tests do not count; without the second, paths of old are warned of.
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        notebook = nbformat.read(EXAMPLE, as_version=4)
        assert not any(cell.get("outputs") for cell in notebook.cells), "the example is kept without output"
        more = {name: nbformat.v4.new_code_cell(text) for name, text in MORE.items()}
        example = {cell.source: cell for cell in notebook.cells if cell.cell_type == "code"}
        notebook.cells += more.values()
        client = NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLE.parent)}}
        )
        asyncio.run(client.async_execute())
        yield example | more


def data_of(cell: Any) -> dict[str, Any]:
    """Return what a cell shows: one result, and nothing besides."""
    (output,) = cell.outputs
    assert output.output_type == "execute_result"
    return dict(output.data)


def last_line(source: str) -> str:
    return source.splitlines()[-1]


@pytest.mark.slow
def test_values_show_themselves_in_a_fresh_kernel(cells: dict[str, Any]) -> None:
    shown = {last_line(source): data_of(cell) for source, cell in cells.items() if source not in MORE and cell.outputs}
    by_kind = {
        "release": "Private release by",
        "again": "Private release by",
        "ah.support_size(release)": "Estimate, in labels",
        "ah.estimate_all(release)": "property",
        "curve": "How many labels a sample would show",
        "survey": "Survey, Pets: KRR",
        "tally": "Tally of the reports of 1,000 people",
        "survey.estimate(tally)": "How frequent 3 values are among 1,000 people",
        "sketch": "Private sketch, protecting one item",
    }
    html = {name: shown[name]["text/html"] for name in by_kind}
    html["comparison"] = next(data["text/html"] for line, data in shown.items() if line.startswith("ah.compare"))
    assert {name: text in html[name] for name, text in by_kind.items()} == dict.fromkeys(by_kind, True)
    for name, text in html.items():
        assert text.startswith('<div class="anonhist">'), name
        # The picture of a release grows and shrinks with its noise, by some percent.
        assert len(text) < 64_000, name
        assert "<script" not in text, name
    assert all("ε = " in html[name] for name in ("release", "survey"))
    assert [name for name, text in html.items() if "<svg" in text] == [
        *("release", "again", "curve", "survey.estimate(tally)", "comparison")
    ]
    assert all("\n" not in shown[name]["text/plain"] for name in by_kind)


@pytest.mark.slow
def test_a_figure_is_shown_once_with_and_without_pyplot(cells: dict[str, Any]) -> None:
    assert cells["modules"].outputs[0].text == "False\n"
    for cell in (cells["ah.plot(release)"], cells["inline"]):
        assert set(data_of(cell)) == {"image/png", "text/plain"}


@pytest.mark.slow
def test_a_profile_shows_no_more_than_its_repr(cells: dict[str, Any]) -> None:
    assert set(data_of(cells["profile"])) == {"text/plain"}


@pytest.mark.slow
def test_tables_of_other_libraries_are_shown(cells: dict[str, Any]) -> None:
    frames = [data_of(cell) for source, cell in cells.items() if re.search(r"to_pandas|\.pl\(\)|pl\.DataFrame", source)]
    assert len(frames) == 3
    assert all("text/html" in frame for frame in frames)
