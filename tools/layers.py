"""Draw the layers of the package as its imports make them: ``python -m tools.layers`` writes docs/layers.svg."""

from pathlib import Path

from tools.imports import LAYERS, import_graph, read_sources, room_of

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "layers.svg"
WIDTH, HEIGHT, GAP, LEFT, TOP, ROW = 96, 34, 12, 96, 16, 92
TIP = (
    '<defs><marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0 0L6 3L0 6z"/></marker></defs>'
)
STYLE = """
    text { font: 13px system-ui, sans-serif; fill: #222 }
    .layer { font-weight: 600; fill: #555 }
    rect { fill: #eef3f8; stroke: #4a6785 }
    path { fill: none; stroke: #4a6785; stroke-opacity: .35; marker-end: url(#tip) }
    marker path { fill: #4a6785; stroke: none }
    @media (prefers-color-scheme: dark) {
      text { fill: #eee } .layer { fill: #bbb } rect { fill: #22303d; stroke: #8fb0d0 } path { stroke: #8fb0d0 }
    }
"""


def room_arrows(graph):
    """Pairs of rooms of which the first imports the second, less those that follow from others."""
    pairs = {(room_of(module), room_of(other)) for module, others in graph.items() for other in others}
    shown = {room for rooms in LAYERS.values() for room in rooms if not room.startswith("_")}
    pairs = {(a, b) for a, b in pairs if a != b and {a, b} <= shown}
    reach = {room: _below(room, pairs) for room in shown}
    return sorted(
        (a, b)
        for a, b in pairs
        if not any((a, c) in pairs and b in reach[c] and c not in reach[b] and a not in reach[c] for c in shown)
    )


def _below(room, pairs):
    """Rooms that a room imports, straight or through others."""
    found, ahead = set(), [room]
    while ahead:
        here = ahead.pop()
        new = {b for a, b in pairs if a == here} - found
        found |= new
        ahead += new
    return found


def places():
    """Left upper corner of every room, the highest layer first."""
    spots = {}
    for row, rooms in enumerate(reversed(LAYERS.values())):
        for column, room in enumerate(room for room in rooms if not room.startswith("_")):
            spots[room] = (LEFT + column * (WIDTH + GAP), TOP + row * ROW)
    return spots


def arrow(spots, above, below):
    (x0, y0), (x1, y1) = spots[above], spots[below]
    start, end = x0 + WIDTH / 2, x1 + WIDTH / 2
    if y0 == y1:  # neighbours in a layer: an arc under them
        depth = y0 + HEIGHT + 8 + abs(end - start) / 14
        return f'<path d="M{start:g} {y0 + HEIGHT} Q{(start + end) / 2:g} {depth:g} {end:g} {y1 + HEIGHT + 3}"/>'
    middle = (y0 + HEIGHT + y1) / 2
    return f'<path d="M{start:g} {y0 + HEIGHT} C{start:g} {middle:g} {end:g} {middle:g} {end:g} {y1 - 3}"/>'


def draw(graph):
    """Return the picture as SVG."""
    spots = places()
    width = max(x for x, _ in spots.values()) + WIDTH + GAP
    height = TOP + len(LAYERS) * ROW - (ROW - HEIGHT) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>Layers of the package: every arrow is an import, and none runs upwards</title>",
        f"<style>{STYLE}</style>",
        TIP,
        *(arrow(spots, a, b) for a, b in room_arrows(graph)),
    ]
    for row, name in enumerate(reversed(LAYERS)):
        parts.append(f'<text class="layer" x="8" y="{TOP + row * ROW + 22}">{name}</text>')
    for room, (x, y) in spots.items():
        parts.append(f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>')
        parts.append(f'<text x="{x + WIDTH / 2:g}" y="{y + 22}" text-anchor="middle">{room}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main():
    PICTURE.write_text(draw(import_graph(read_sources())), encoding="utf-8")
    print(PICTURE.relative_to(Path.cwd()) if PICTURE.is_relative_to(Path.cwd()) else PICTURE)


if __name__ == "__main__":
    main()
