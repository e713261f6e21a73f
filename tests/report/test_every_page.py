"""Pages of curves, estimates and degrees are whole by themselves, as others are; and the check sees what is not."""

from collections.abc import Callable

import pytest

Pages = Callable[[str], str]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rarefaction", "guessing", "hill", "nothing"])
def test_pages_of_curves_are_whole(name: str, curve_page: Pages, whole: Callable[[str], None]) -> None:
    whole(curve_page(name))


@pytest.mark.slow
def test_pages_of_estimates_are_whole(local_page: Pages, local_names: list[str], whole: Callable[[str], None]) -> None:
    for name in local_names:
        whole(local_page(name))


@pytest.mark.slow
def test_pages_of_degrees_are_whole(
    degrees_page: Pages, degrees_names: list[str], whole: Callable[[str], None]
) -> None:
    for name in [*degrees_names, "edge and truth"]:
        whole(degrees_page(name))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("<main", "<p><main"),
        ("</main>", "<script>1</script></main>"),
        ("</main>", '<p onclick="1">a</p></main>'),
        ("</main>", '<a href="https://example.org">a</a></main>'),
        ("</main>", '<a href="#nowhere">a</a></main>'),
        ("</main>", '<p id="twice">a</p><p id="twice">b</p></main>'),
        ("</main>", "<p>{{ value }}</p></main>"),
        ("</style>", "@import 'a.css';</style>"),
        ("default-src 'none'", "default-src *"),
    ],
)
def test_what_is_not_whole_is_seen(right: str, wrong: str, local_page: Pages, whole: Callable[[str], None]) -> None:
    page = local_page("many")
    assert right in page
    with pytest.raises(AssertionError):
        whole(page.replace(right, wrong, 1))
