"""Pictures: well-formed, everything in its place, the user's lines in tooltips."""

import xml.etree.ElementTree as ET

import pytest

from graphify.ir.draw import COLOURS, kind_of, mimebundle, to_dot, to_html, to_mermaid, to_svg
from graphify.ir.layout import place
from graphify.ops import elementwise
from tests.ir.building import build
from tests.ir.test_pretty import CASES, graph_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", CASES)
def test_svg_is_well_formed_and_shows_every_node(name):
    graph = graph_of(name)
    root = ET.fromstring(to_svg(graph))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    for value in graph.params:
        assert value.node.attrs["name"] in texts
    assert sum(text.startswith("return") for text in texts) >= len(graph.results)


def test_tooltips_name_the_users_line():
    root = ET.fromstring(to_svg(graph_of("straight_line")))
    titles = [element.text for element in root.iter(f"{SVG}title")]
    assert any("test_pretty.py" in title and "hidden = x @ w + b" in title for title in titles)


@pytest.mark.parametrize("name", CASES)
def test_boxes_do_not_overlap_and_stay_inside(name):
    areas = [place(graph_of(name))]
    while areas:
        area = areas.pop()
        boxes = [box for box in area.boxes if box.kind != "waypoint"]
        for i, a in enumerate(boxes):
            assert 0 <= a.x and a.x + a.width <= area.width
            assert 0 <= a.y and a.y + a.height <= area.height
            for b in boxes[i + 1 :]:
                apart_x = a.x + a.width <= b.x or b.x + b.width <= a.x
                apart_y = a.y + a.height <= b.y or b.y + b.height <= a.y
                assert apart_x or apart_y
            for _, inner in a.areas:
                assert inner.width <= a.width and inner.height <= a.height
                areas.append(inner)


def test_results_stand_below_what_they_come_from():
    area = place(graph_of("loops"))
    for edge in area.edges:
        assert edge.source.y + edge.source.height <= edge.target.y


def test_kinds_have_colours():
    graph = graph_of("loops")
    assert {kind_of(node) for node in graph.nodes} <= set(COLOURS)
    assert kind_of(graph.nodes[-1]) == "control"
    assert kind_of(graph_of("effectful").nodes[0]) in ("effect", "constant", "elementwise")


def test_dot_text(golden):
    golden("graphs/branches.dot", to_dot(graph_of("branches")))


def test_mermaid_text(golden):
    golden("graphs/branches.mmd", to_mermaid(graph_of("branches")))


def test_names_are_quoted_for_each_language():
    graph = build(lambda x: x, name='say "hi" <b>', x="f64[]")
    assert '\\"hi\\"' in to_dot(graph)
    ET.fromstring(to_svg(graph))
    assert "&lt;b&gt;" in to_html(graph)


def test_notebooks_get_picture_page_and_text():
    bundle = mimebundle(graph_of("branches"))
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
    assert bundle["text/plain"].startswith("graph branches(")
    assert "<svg" in bundle["text/html"]


def test_large_graphs_are_shown_as_text():
    def function(x):
        for _ in range(500):
            x = elementwise.sin(x)
        return x

    bundle = mimebundle(build(function, x="f64[]"))
    assert "image/svg+xml" not in bundle
    assert "<details open>" in bundle["text/html"]
