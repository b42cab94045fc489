"""The lines of measurements as a Markdown table in the document of the project's performance."""

from rows import ENGINE, ROWS, SIDES

BEGIN, END = "<!-- peers: begin -->", "<!-- peers: end -->"
HEADING = "## Beside the peers"
TITLES = ["graph-engine", "LangGraph Python", "LangGraph JS", "adk-graph", "juncture-core", "graph-flow"]


def time(ns):
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 1000 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


SHOWN = {
    "cpu": ("", lambda line, _: line["cpu_best"], time),
    "wall": (", wall time", lambda line, _: line["wall_best"], time),
    "bytes": (", stored", lambda line, row: line["bytes"] / row.n, lambda value: f"{value:,.0f} B"),
    "peak": (", peak memory", lambda line, _: line["peak_kib"] / 1024, lambda value: f"{number(value)} MB"),
}


def cells(lines, row, what):
    """The smallest value of each side that has one, and what the others have in its place."""
    _, value, _ = SHOWN[what]
    found, missing = {}, {}
    for side in SIDES:
        own = [l for l in lines if (l["impl"], l["workload"], l["n"], l["variant"]) == (side, row.workload, row.n, row.variant)]
        good = [value(line, row) for line in own if "error" not in line]
        if any("error" in line for line in own):
            missing[side] = "failed"
        elif good:
            found[side] = min(good)
        else:
            missing[side] = "-" if side not in row.sides else "not run"
    return found, missing


def markdown(lines):
    """The table alone."""
    yield "| row | unit | " + " | ".join(TITLES) + " | best peer / graph-engine |"
    yield "|" + " --- |" * (len(SIDES) + 3)
    for row in ROWS:
        for what in row.shown:
            suffix, _, write = SHOWN[what]
            found, missing = cells(lines, row, what)
            if not found:
                continue
            peers = {side: value for side, value in found.items() if side != ENGINE}
            ratio = "-"
            if ENGINE in found and peers:
                best = min(peers, key=peers.get)
                ratio = f"{number(peers[best] / found[ENGINE])} ({best})"
            texts = [write(found[side]) if side in found else missing[side] for side in SIDES]
            unit = "process" if what == "peak" else row.unit
            yield f"| {row.name}{suffix} | {unit} | " + " | ".join(texts) + f" | {ratio} |"


def section(about, lines):
    machine = about["machine"]
    yield BEGIN
    yield "Made by `tests/benches/peers/run --table`; [peers.md](peers.md) describes the rows and gives the reason of every `-`. CPU time"
    yield "of a unit, or wall time, bytes or memory where the row says so, the smallest of all samples. The last column says how"
    yield f"many times as much the best peer takes. Whole rounds, in which all sides take turns: {about['rounds']}."
    yield ""
    yield from markdown(lines)
    yield ""
    yield f"- {machine['date']}: {machine['cores']} cores of {machine['cpu']}, {machine['memory_gb']} GB, {machine['os']}, kernel"
    yield f"  {machine['kernel']}; load average {about['load_begin']} at the beginning, {about['load_end']} at the end."
    for versions in about["versions"]:
        yield "- " + ", ".join(versions) + "."
    yield END


def write(document, about, lines):
    """Puts the section between its marks, or at the end."""
    text, new = document.read_text(), "\n".join(line.rstrip() for line in section(about, lines))
    if BEGIN in text and END in text:
        text = text[: text.index(BEGIN)] + new + text[text.index(END) + len(END) :]
    else:
        text = f"{text.rstrip()}\n\n{HEADING}\n\n{new}\n"
    document.write_text(text)
