"""A state of fifteen channels with nested payloads, which six nodes hand on until the first list is long enough."""

import operator
import random
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph

from measure import config

# By first letter: L append list, O plain list, M merged map, K kept unless a truthy value comes, P plain.
RULES = {
    "L": Annotated[list, operator.add],
    "O": Any,
    "M": Annotated[dict, operator.or_],
    "K": Annotated[Any, lambda old, new: new or old],
    "P": Any,
}
CHANNELS = "L0 L1 L2 L3 O0 O1 M0 M1 K0 K1 K2 K3 P0 P1 P2".split()
TEXTS = {"K3", "P0", "P2"}
STEPS = {
    "one": ("L0", "L1 P2"),
    "two": ("L1", "P1 K0"),
    "three": ("P1", "O0"),
    "four": ("L1", "L2 L3 O1"),
    "five": ("L2", "K1 K2 K3 M0 P0 M1"),
    "six": ("L3", "L0"),
}
SIZES = {300: (5, 5), 600: (3, 5), 1200: (3, 3)}


def payload(outer, inner):
    leaf = ["abc" * 10, False, 7, 1234567890123, None] * 5
    return {f"{x:010d}": {f"{y:010d}": list(leaf) for y in range(inner)} for x in range(outer)}


def node(size, source, targets):
    def run(state):
        value = state.get(source)
        everything = value if isinstance(value, list) else [value]

        def written(target):
            if target[0] in "LO":
                return everything
            if target in TEXTS:
                return "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=size))
            return everything[-1]

        return {target: written(target) for target in targets.split()}

    return run


def lg_wide(asked):
    builder = StateGraph(TypedDict("Wide", {name: RULES[name[0]] for name in CHANNELS}, total=False))
    for name, (source, targets) in STEPS.items():
        builder.add_node(name, node(asked.n, source, targets))
    for before, after in ((START, "one"), ("one", "two"), ("two", "three"), ("two", "four"), ("five", "six")):
        builder.add_edge(before, after)
    builder.add_edge(["three", "four"], "five")
    builder.add_conditional_edges("six", lambda s: "one" if len(s["L0"]) <= asked.n else END, ["one", END])
    graph, first = builder.compile(), payload(*SIZES[asked.n])

    def run():
        end = graph.invoke({"L0": [first]}, config())
        assert len(end["L0"]) > asked.n and len(end["P2"]) == asked.n, len(end["L0"])

    asked.answer(asked.times(1, run))


WORKLOADS = {"lg_wide": lg_wide}
