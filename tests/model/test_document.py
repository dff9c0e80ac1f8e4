"""Bytes, encodings, XML: what loads, and that the rest is refused by name and line."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from grid_core.errors import ModelError
from grid_core.model import load_urdf, load_urdf_string
from grid_core.model.urdf.decode import MAX_BYTES
from tests.model.texts import ARM, BASE, CASES, LIMIT, joint, one_joint, robot

PLAIN = one_joint()
ENTITIES = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def loads(document: str | bytes) -> None:
    model = load_urdf_string(document)
    assert [joint.name for joint in model.joints] == ["j1"]
    assert model.bodies[0].inertia.mass == 1.0


@pytest.mark.parametrize(
    "document",
    {
        "BOM": "\ufeff" + PLAIN,
        "BOM as bytes": b"\xef\xbb\xbf" + PLAIN.encode(),
        "CRLF": PLAIN.replace("\n", "\r\n").encode(),
        "CR alone": PLAIN.replace("\n", "\r"),
        "a trailing NUL": PLAIN + "\0",
        "trailing NULs and space": PLAIN.encode() + b"\0\0 \n\0\n",
        "version 1.1": '<?xml version="1.1"?>\n' + PLAIN,
        "version 2.0": '<?xml version="2.0" encoding="UTF-8"?>' + PLAIN,
        "no version": '<?xml encoding="UTF-8"?>' + PLAIN,
        "an empty declaration": "<?xml?>" + PLAIN,
        "an upper-case declaration": '<?XML version="1.0"?>' + PLAIN,
        "a declaration after blank lines": '\n\n  <?xml version="1.0"?>\n' + PLAIN,
        "a declaration after a comment": '<!-- (c) --><?xml version="1.0"?>\n' + PLAIN,
        "standalone": '<?xml version="1.0" standalone="no"?>' + PLAIN,
        "UTF-16 with a mark": ('<?xml version="1.0" encoding="UTF-16"?>' + PLAIN).encode("utf-16"),
        "UTF-16 without": ('<?xml version="1.0" encoding="UTF-16"?>' + PLAIN).encode("utf-16-be"),
        "UTF-32": PLAIN.encode("utf-32"),
        "said to be UTF-16, but is not": b'<?xml version="1.0" encoding="utf-16"?>'
        + PLAIN.encode(),
        "said to be anything, but already text": '<?xml version="1.0" encoding="cp037"?>' + PLAIN,
        "ASCII": b'<?xml version="1.0" encoding="us-ascii"?>' + PLAIN.encode(),
        "two hyphens in a comment": PLAIN.replace("\n", "\n<!-- a -- b -->\n", 1),
        "a comment of hyphens": PLAIN.replace("\n", "\n<!---------->\n", 1),
        "markup in a comment": PLAIN.replace(
            "\n", "\n<!-- <!DOCTYPE a> <link name='base'/> -->", 1
        ),
        "markup in CDATA": PLAIN.replace(
            "</robot>", "<gazebo><![CDATA[<!DOCTYPE a]]></gazebo></robot>"
        ),
        "processing instructions": "<?xml-model href='a'?>"
        + PLAIN.replace("</robot>", "<?a b?></robot>"),
        "an undeclared prefix": PLAIN.replace("</robot>", '<gazebo:foo a:b="1"/></robot>'),
        "an undeclared prefix inside": PLAIN.replace("<axis", "<drake:a/><axis"),
        "an undeclared prefix of an attribute": PLAIN.replace("type=", 'ros:x="1" type='),
        "a default namespace": PLAIN.replace("<robot", '<robot xmlns="http://www.ros.org"'),
        "an odd namespace": PLAIN.replace("<robot", '<robot xmlns:a="not a uri" xmlns:b=""'),
        "a xacro namespace, all expanded": PLAIN.replace(
            "<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'
        ),
        "unknown elements": PLAIN.replace("</robot>", "<a><b><link name=''/></b></a></robot>"),
        "predefined entities": PLAIN.replace("</robot>", "<a>&lt;&amp;&#65;</a></robot>"),
    }.items(),
    ids=lambda item: item[0],
)
def test_odd_documents_load(document):
    """Real files hold these, and nothing in them is in doubt."""
    loads(document[1])


def test_latin_1_names():
    """A declared encoding is followed."""
    text = (
        '<?xml version="1.0" encoding="ISO-8859-1"?><robot name="r"><link name="Träger"/></robot>'
    )
    assert load_urdf_string(text.encode("latin-1")).root_link == "Träger"


def test_non_ascii_names():
    """Names are opaque: no normalisation, no stripping."""
    model = load_urdf_string(robot('<link name=" 腕 é\u0301&quot;&#10;"/>'))
    assert model.root_link == ' 腕 é\u0301"\n'


@pytest.mark.parametrize("where", ["", "<!-- -->", "\n\n", "<?a?>", '<?xml version="1.0"?>'])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32"])
def test_document_types_are_refused(where, encoding):
    """A DOCTYPE is refused unread, wherever it stands and in whatever encoding."""
    document = where + ENTITIES + PLAIN
    with pytest.raises(ModelError, match=r"DOCTYPE.*entity") as caught:
        load_urdf_string(document.encode(encoding))
    assert caught.value.line == where.count("\n") + 1


@pytest.mark.parametrize(
    "document",
    [
        '<!DOCTYPE robot SYSTEM "file:///etc/passwd">' + PLAIN,
        "<!doctype robot>" + PLAIN,
        PLAIN.replace("</robot>", '<!ENTITY a "b"></robot>'),
        PLAIN.replace("\n", '\n<!-- --><!DOCTYPE a [<!ENTITY x SYSTEM "/dev/zero">]>', 1),
    ],
)
def test_other_document_types_are_refused(document):
    """External ones, misplaced ones, and ones in lower case."""
    with pytest.raises(ModelError, match="refused unread"):
        load_urdf_string(document)


@pytest.mark.parametrize("text", ["&a;", "&nbsp;", "&a"])
def test_undefined_entities_are_refused(text):
    """An entity that nothing defines is an error, in text as in an attribute."""
    for document in (robot(BASE, text), robot(f'<link name="{text}"/>')):
        with pytest.raises(ModelError, match="not well-formed") as caught:
            load_urdf_string(document)
        assert caught.value.line == document.count("\n", 0, document.index("&")) + 1


def test_entity_bomb_is_refused_at_once():
    """The refusal of ten to the tenth bytes takes neither time nor memory."""
    tracemalloc.start()
    began = time.perf_counter()
    with pytest.raises(ModelError, match="DOCTYPE"):
        load_urdf(CASES / "16a_entity_bomb.urdf")
    assert time.perf_counter() - began < 1.0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6


@pytest.mark.parametrize(
    ("document", "line", "message"),
    [
        ("", None, "empty"),
        (b"", None, "empty"),
        ("\ufeff \n\0", None, "empty"),
        ("robot.urdf", 1, "a URDF is XML text"),
        (robot(BASE).replace("</robot>", ""), 2, "not well-formed"),
        (robot(BASE, "<link>"), 4, "not well-formed"),
        (robot(BASE, '<link name="a" name="b"/>'), 3, "not well-formed"),
        (robot(BASE, "<link name=a/>"), 3, "not well-formed"),
        (robot(BASE, '<link name="<"/>'), 3, "not well-formed"),
        (robot(BASE, "<!-- never closed"), 3, "not well-formed"),
        (robot(BASE, "<a:b/>", "<link>"), 5, "not well-formed"),
        (robot(BASE) + "<robot/>", 3, "not well-formed"),
        (robot(BASE, "<a>" * 300 + "</a>" * 300), 3, "not well-formed"),
        (robot(BASE, "<?xml version='1.0'?>"), 3, "not well-formed"),
        (robot(BASE, "\0"), 3, r"U\+0000"),
        (robot(BASE, "\x1b"), 3, r"U\+001B"),
        (robot(BASE, "\ud800"), 3, r"U\+D800"),
        (robot(BASE, "\uffff"), 3, r"U\+FFFF"),
        (robot(BASE).encode() + b"\xff", 3, "0xff.*UTF-8"),
        (b'<?xml version="1.0" encoding="ascii"?>\n<robot name="\xc3\xa9"/>', 2, "ASCII"),
        (b'<?xml version="1.0" encoding="klingon"?><robot/>', 1, "'klingon'"),
        (b'<?xml version="1.0" encoding="hex"?><robot/>', 1, "'hex'"),
        (b'<?xml version="1.0" encoding="utf-7"?><robot/>', 1, "'utf-7'"),
        (b'<?xml version="1.0" encoding="unicode_escape"?><robot/>', 1, "not supported"),
        (robot(BASE).encode("utf-16") + b"x", None, "UTF-16"),
    ],
)
def test_malformed_documents(document, line, message):
    """Malformed text is refused with its line, the XML library's own error only as a cause."""
    with pytest.raises(ModelError, match=message) as caught:
        load_urdf_string(document, name="a.urdf")
    if line is not None:
        assert caught.value.line == line
    assert str(caught.value).startswith("a.urdf")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("<robot name='r'/>", "no <link>"),
        ("<robot><link name='a'/></robot>", "attribute 'name' is missing"),
        ("<sdf version='1.7'/>", "root element is <sdf>"),
        ("<mujoco/>", "root element is <mujoco>"),
        ("<a:robot name='r'/>", "root element is <a:robot>"),
        ("<Robot name='r'/>", "root element is <Robot>"),
    ],
)
def test_not_a_robot(document, message):
    """A document that is no URDF, or holds no robot, says so."""
    with pytest.raises(ModelError, match=message) as caught:
        load_urdf_string(document)
    assert caught.value.line == 1


@pytest.mark.parametrize(
    "document",
    [
        robot('<xacro:include filename="a.xacro"/>', BASE),
        robot('<xacro:property name="a" value="1"/>', BASE),
        robot(BASE, "<gazebo><xacro:if value='1'/></gazebo>"),
        robot(BASE, "<x:macro name='leg'/>").replace(
            "<robot", '<robot xmlns:x="http://www.ros.org/wiki/xacro"'
        ),
        robot('<link name="${prefix}base"/>'),
        robot('<link name="$(arg prefix)base"/>'),
        robot(BASE, ARM, joint("j1", "base", "arm", f'{LIMIT}<origin xyz="0 0 ${{length / 2}}"/>')),
        robot(BASE, ARM, joint("j1", "base", "arm", '<limit lower="${-pi}" upper="1"/>')),
        robot(BASE, ARM, joint("j1", "${parent}", "arm")),
    ],
)
def test_unexpanded_xacro(document):
    """An unexpanded xacro file is refused with the cure."""
    with pytest.raises(ModelError, match=r"expand (the file|it) with xacro"):
        load_urdf_string(document)


def test_line_is_where_the_element_starts():
    """Not where its start tag ends, and beyond what 16 bits hold."""
    filler = "\n" * 70_000
    document = robot(BASE, ARM, filler + '<joint\nname="j1"\ntype="odd"\n/>')
    with pytest.raises(ModelError) as caught:
        load_urdf_string(document)
    assert caught.value.line == 70_004


def test_huge_documents(tmp_path):
    """More than a robot can need is refused before it is parsed, as text and as a file."""
    document = robot(BASE, "<!--" + "x" * 100_000_000 + "-->")
    began = time.perf_counter()
    with pytest.raises(ModelError, match="larger than 32 MiB"):
        load_urdf_string(document)
    path = tmp_path / "huge.urdf"
    path.write_bytes(b" " * (MAX_BYTES + 1))
    with pytest.raises(ModelError, match="larger than 32 MiB"):
        load_urdf(path)
    assert time.perf_counter() - began < 2.0


@pytest.mark.parametrize(
    "piece", ["<!--", "<?", "<![CDATA[", "<", "</", "<!", "&", "<a>", "<a b='"]
)
def test_repeated_markup_takes_linear_time(piece):
    """No sequence of openings makes the reader look at the rest again and again."""
    began = time.perf_counter()
    with pytest.raises(ModelError):
        load_urdf_string("<robot name='r'>" + piece * 300_000)
    assert time.perf_counter() - began < 2.0


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("missing.urdf", "no such file"),
        (".", "directory"),
        ("a\0b", "cannot be read"),
        ("x" * 5000, "cannot be read"),
        ("<robot/>", "load_urdf_string"),
        (PLAIN, "load_urdf_string"),
        ("", "path is empty"),
        ("/dev/zero", "larger than"),
        (7, "a path is needed, not int"),
        (None, "a path is needed, not NoneType"),
    ],
)
def test_paths_that_are_no_robot(path, message, tmp_path, monkeypatch):
    """A path that cannot be read is an error of the model, with the reason."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=message) as caught:
        load_urdf(path)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("data", [b"solid x\nfacet normal 0 0 1\n", bytes(80) + b"\1\0\0\0\x99"])
def test_a_mesh_is_called_one(data, tmp_path):
    """Neither its encoding nor XML is what is wrong with it."""
    path = tmp_path / "gripper.STL"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=r"gripper\.STL: a mesh, where a URDF file is needed"):
        load_urdf(path)


def test_what_is_no_xml_is_told_by_where_it_came_from(tmp_path):
    """A file is not advised to be given as a file."""
    path = tmp_path / "robot.txt"
    path.write_text("robot")
    with pytest.raises(ModelError, match="a URDF is XML text, from its first tag on"):
        load_urdf(path)
    with pytest.raises(ModelError, match="to read a file, give its path instead of text"):
        load_urdf_string("robot.urdf")


@pytest.mark.parametrize("text", [None, 7, ["<robot/>"]])
def test_text_that_is_no_text(text):
    """What is no text is said to be none."""
    with pytest.raises(ModelError, match="text is needed"):
        load_urdf_string(text)


def test_file_and_text_agree(tmp_path):
    """A file is what its bytes are."""
    path = tmp_path / "größe.urdf"
    path.write_bytes(PLAIN.encode())
    assert load_urdf(path) == load_urdf(str(path)) == load_urdf_string(PLAIN)


def test_causes_are_chained():
    """The XML library's error is kept as the cause, for whoever wants it."""
    with pytest.raises(ModelError) as caught:
        load_urdf_string("<robot")
    assert type(caught.value.__cause__).__name__ == "XMLSyntaxError"
