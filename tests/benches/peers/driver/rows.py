"""The rows of the table: which workload, what is compared, who can do it."""

from dataclasses import dataclass

ENGINE, PYTHON, JS, ADK, JUNCTURE, FLOW = (
    "graph-engine", "langgraph-py", "langgraph-js", "adk-graph", "juncture-core", "graph-flow",
)
SIDES = [ENGINE, PYTHON, JS, ADK, JUNCTURE, FLOW]
LANGGRAPH = {ENGINE, PYTHON, JS}
ALL = set(SIDES)


@dataclass(frozen=True)
class Row:
    workload: str
    n: int
    variant: str
    unit: str
    sides: frozenset
    samples: int = 3
    shown: tuple = ("cpu",)  # a line of the table for each: cpu, wall, bytes, peak

    @property
    def name(self):
        return ":".join([self.workload, str(self.n), *([] if self.variant == "-" else [self.variant])])


def row(workload, n, variant, unit, sides, **more):
    return Row(workload, n, variant, unit, frozenset(sides), **more)


ROWS = [
    row("loop", 10_000, "-", "super-step", ALL, samples=1),
    row("chain_run", 1_000, "-", "super-step", ALL),
    row("chain_compile", 1_000, "-", "node", ALL),
    row("export_mermaid", 1_000, "-", "node", LANGGRAPH | {JUNCTURE}),
    row("fanout", 1_000, "-", "branch", ALL),
    row("send", 1_000, "-", "packet", LANGGRAPH),
    row("invoke_small", 3, "seq", "invoke", ALL),
    row("invoke_small", 5, "par", "invoke", LANGGRAPH | {ADK}),
    row("state_size", 200, "idle-1m", "super-step", ALL),
    row("state_size", 200, "append-1m", "super-step", ALL),
    row("ckpt_loop", 1_000, "memory-small", "super-step", LANGGRAPH | {ADK, FLOW}, samples=2),
    row("ckpt_loop", 1_000, "memory-grow", "super-step", LANGGRAPH | {ADK, FLOW}, samples=2, shown=("cpu", "peak")),
    row("ckpt_loop", 1_000, "sqlite_normal-grow", "super-step", LANGGRAPH, samples=1),
    row("ckpt_loop", 1_000, "sqlite-grow", "super-step", LANGGRAPH | {ADK}, samples=1, shown=("wall", "bytes")),
    row("threads", 1_000, "memory", "thread", LANGGRAPH | {ADK, FLOW}, samples=1),
    row("resume", 1_000, "sqlite-state", "call", LANGGRAPH),
    row("resume", 1_000, "sqlite-history10", "call", LANGGRAPH),
    row("resume", 1_000, "sqlite-continue", "call", LANGGRAPH),
    row("stream", 10_000, "custom", "event", LANGGRAPH),
    row("hotel", 10, "none", "turn", LANGGRAPH),
    row("hotel", 10, "memory", "turn", LANGGRAPH),
    row("hotel", 10, "sqlite", "turn", LANGGRAPH, shown=("cpu", "wall")),
    row("interrupt", 100, "memory", "round trip", LANGGRAPH),
    row("assemble", 4_000, "-", "delta", LANGGRAPH, samples=1),
    row("lg_sequential", 1_000, "-", "run", LANGGRAPH),
    row("lg_fanout_to_subgraph", 100, "-", "run", LANGGRAPH),
    row("lg_react_agent", 100, "-", "run", LANGGRAPH),
    row("lg_wide", 300, "dict", "run", LANGGRAPH),
    row("lg_wide", 600, "dict", "run", LANGGRAPH),
    row("lg_wide", 1_200, "dict", "run", LANGGRAPH),
    row("cold", 1, "-", "process", ALL, shown=("cpu", "wall", "peak")),
]
