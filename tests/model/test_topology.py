"""Links and joints as a tree: one root, no ring, and the order of joints."""

from __future__ import annotations

import itertools

import pytest

from grid_core.errors import ModelError, ModelWarning
from grid_core.model import load_urdf_string
from tests.model.texts import joint, link, robot


def tree(*edges: tuple[str, str, str], links: str = "", **options):
    """Load links a, b, … joined by (joint, parent, child)."""
    names = links or sorted({name for edge in edges for name in edge[1:]})
    return load_urdf_string(
        robot(*(link(name) for name in names), *(joint(*edge) for edge in edges)), **options
    )


@pytest.mark.parametrize(
    ("edges", "links", "named"),
    [
        ([("j", "a", "b")], "abc", ["'a'", "'c'", "2 root links"]),
        ([], "ab", ["'a'", "'b'", "2 root links"]),
        ([], "abcdefghij", ["10 root links", "'h' and 2 more"]),
        ([("j", "a", "a")], "a", ["'a' is its own parent", "'j'"]),
        ([("j", "a", "b"), ("k", "b", "a")], "ab", ["ring", "'a'", "'b'"]),
        ([("j", "a", "b"), ("k", "b", "c"), ("l", "c", "a")], "abc", ["ring", "'a'", "'b'", "'c'"]),
        ([("j", "b", "c"), ("k", "c", "b"), ("l", "a", "d")], "abcd", ["ring", "'b'", "'c'"]),
        ([("j", "b", "c"), ("k", "c", "b"), ("l", "c", "d")], "abcd", ["ring", "'b'", "'c'"]),
        ([("j", "a", "c"), ("k", "b", "c")], "abc", ["'c' has two parents", "'j'", "'k'"]),
        ([("j", "a", "b"), ("k", "a", "b")], "ab", ["'b' has two parents", "'j'", "'k'"]),
        ([("j", "a", "x")], "a", ["'j'", "'x', which does not exist"]),
        ([("j", "x", "a")], "a", ["'j'", "'x', which does not exist"]),
        ([("j", "a", "world")], "a", ["'j'", "'world', which does not exist"]),
        ([("j", "a", "b"), ("j", "a", "c")], "abc", ["second joint of this name", "'j'", "line 5"]),
        ([("j", "a", "b")], "aba", ["second link of this name", "'a'", "line 2"]),
    ],
)
def test_what_is_no_tree(edges, links, named):
    """A refusal names every link or joint at fault, and a line."""
    with pytest.raises(ModelError) as caught:
        tree(*edges, links=links)
    for words in named:
        assert words in str(caught.value)
    assert caught.value.line is not None


def test_a_ring_is_named_in_its_order():
    """From parent to child, and back to where it began; the links that hang from it are not."""
    with pytest.raises(ModelError, match=r"ring: 'c' → 'd' → 'c';"):
        tree(("j", "c", "d"), ("k", "d", "c"), ("l", "d", "e"), ("m", "a", "b"))


def test_implicit_world():
    """An undeclared parent named world is a massless root, with one warning."""
    with pytest.warns(ModelWarning, match=r"'world' is not declared.*'j'") as issued:
        model = tree(("j", "world", "a"), ("k", "world", "b"), links="ab")
    assert len(issued) == 1
    assert model.root_link == "world"
    assert [(item.name, item.body) for item in model.links] == [("world", -1), ("a", 0), ("b", 1)]
    with pytest.raises(ModelError, match="'world' is not declared"):
        tree(("j", "world", "a"), links="a", strict=True)


def test_declared_world():
    """A world that is declared is a link like others."""
    document = robot('<link name="world"/>', link("a"), joint("j", "world", "a"))
    assert load_urdf_string(document, strict=True).root_link == "world"


def test_implicit_world_is_not_a_second_root():
    """Beside another root it is one of two."""
    with pytest.raises(ModelError, match=r"2 root links.*'world', 'c'"):
        tree(("j", "world", "a"), links="ac")


def test_one_link():
    """A robot of one link has no coordinates."""
    model = tree(links="a")
    assert (model.nq, model.nv, model.nj, model.nb) == (0, 0, 0, 0)
    assert [(frame.name, frame.kind.value) for frame in model.frames] == [("a", "root")]


def test_order_is_depth_first_by_joint_name():
    """Siblings in the order of their joints' UTF-8 bytes, whatever the document's order."""
    edges = [
        ("B", "a", "b"),
        ("a", "a", "c"),
        ("Z", "b", "d"),
        ("é", "a", "e"),
        ("z", "a", "f"),
        ("\U0001f600", "a", "g"),
        ("\uff5a", "a", "h"),
    ]
    expected = ["B", "Z", "a", "z", "é", "\uff5a", "\U0001f600"]
    for order in itertools.islice(itertools.permutations(edges), 0, None, 397):
        model = tree(*order)
        assert [item.name for item in model.joints] == expected
        assert [item.q_start for item in model.joints] == list(range(7))
        assert all(item.parent < item.id for item in model.joints)


def test_fixed_joints_take_part_in_the_order():
    """A fixed joint's place among its siblings decides where what hangs from it comes."""
    document = robot(
        *(link(name) for name in "abcd"),
        joint("j2", "a", "b"),
        joint("j1", "a", "c", "", "fixed"),
        joint("z", "c", "d"),
    )
    assert [item.name for item in load_urdf_string(document).joints] == ["z", "j2"]


def test_deep_and_wide_trees():
    """No recursion: 2,000 joints below, and 2,000 beside one another."""
    names = [f"l{number:04}" for number in range(2001)]
    chain = [(f"j{n:04}", names[n], names[n + 1]) for n in range(2000)]
    star = [(f"j{n:04}", names[0], names[n + 1]) for n in range(2000)]
    for edges in (chain, star):
        model = tree(*edges)
        assert [item.name for item in model.joints] == [edge[0] for edge in edges]
    with pytest.raises(ModelError, match=r"ring.* and 1993 more"):
        tree(*chain[1:], ("back", names[2000], names[1]), links=names)
