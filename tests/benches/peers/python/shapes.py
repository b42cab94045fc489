"""Graphs without a store: chains, loops, fan-outs, streams, diagrams."""

import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Send, StreamWriter

from measure import config, message


class Count(TypedDict):
    n: int
    limit: int


class Chat(Count):
    messages: Annotated[list, operator.add]


class Items(TypedDict):
    n: int
    out: Annotated[list, operator.add]


def rest(_):
    return None


def tick(state):
    return {"n": state["n"] + 1}


def tick_and_say(state):
    return {"n": state["n"] + 1, "messages": [message(state["n"])]}


def chain(length, node=rest, state=Count):
    builder, before = StateGraph(state), START
    for i in range(length):
        builder.add_node(f"n{i}", node)
        builder.add_edge(before, f"n{i}")
        before = f"n{i}"
    builder.add_edge(before, END)
    return builder


def looping(state=Count, node=tick):
    """One node, again until the limit of its state is reached."""
    builder = StateGraph(state)
    builder.add_node("tick", node)
    builder.add_edge(START, "tick")
    builder.add_conditional_edges("tick", lambda s: "tick" if s["n"] < s["limit"] else END, ["tick", END])
    return builder


def loop(asked):
    graph = looping().compile()

    def run():
        assert graph.invoke({"n": 0, "limit": asked.n}, config())["n"] == asked.n

    asked.answer(asked.times(asked.n, run))


def chain_run(asked):
    graph = chain(asked.n, tick).compile()

    def run():
        assert graph.invoke({"n": 0}, config())["n"] == asked.n

    asked.answer(asked.times(asked.n, run))


def chain_compile(asked):
    def run(builder):
        assert len(builder.compile().nodes) == asked.n + 1

    asked.answer(asked.each(asked.n, lambda: chain(asked.n), run))


def fan(width):
    """A source, so many nodes at once, a join."""
    builder, names = StateGraph(Items), [f"w{i}" for i in range(width)]
    builder.add_node("source", rest)
    builder.add_node("join", rest)
    for i, name in enumerate(names):
        builder.add_node(name, lambda _, i=i: {"out": [i]})
        builder.add_edge("source", name)
    builder.add_edge(START, "source")
    builder.add_edge(names, "join")
    builder.add_edge("join", END)
    return builder.compile()


def packets(width):
    builder = StateGraph(Items)
    builder.add_node("source", rest)
    builder.add_node("work", lambda packet: {"out": [packet["i"]]})
    builder.add_node("join", rest)
    builder.add_edge(START, "source")
    builder.add_conditional_edges("source", lambda _: [Send("work", {"i": i}) for i in range(width)], ["work"])
    builder.add_edge("work", "join")
    builder.add_edge("join", END)
    return builder.compile()


def spread(make):
    def measured(asked):
        graph = make(asked.n)

        def run():
            assert sorted(graph.invoke({"n": 0, "out": []}, config())["out"]) == list(range(asked.n))

        asked.answer(asked.times(asked.n, run))

    return measured


def invoke_small(asked):
    if asked.variant == "seq":
        graph = chain(asked.n, tick).compile()
    else:
        builder, names = StateGraph(Items), [f"w{i}" for i in range(asked.n)]
        for name in names:
            builder.add_node(name, lambda _: {"out": [1]})
            builder.add_edge(START, name)
        builder.add_node("sum", lambda state: {"n": len(state["out"])})
        builder.add_edge(names, "sum")
        builder.add_edge("sum", END)
        graph = builder.compile()

    def run():
        assert graph.invoke({"n": 0}, config())["n"] == asked.n

    asked.answer(asked.times(1, run))


def state_size(asked):
    kind, size = asked.variant.split("-")
    history = [message(i) for i in range({"0": 0, "1m": 10_000}[size])]
    graph = looping(Chat, tick_and_say if kind == "append" else tick).compile()
    length = len(history) + (asked.n if kind == "append" else 0)

    def run():
        end = graph.invoke({"n": 0, "limit": asked.n, "messages": history}, config())
        assert (end["n"], len(end["messages"])) == (asked.n, length)

    asked.answer(asked.times(asked.n, run))


def stream(asked):
    def node(_, writer: StreamWriter):
        for i in range(asked.n):
            writer({"token": i})

    builder = StateGraph(Count)
    builder.add_node("x", node)
    builder.add_edge(START, "x")
    builder.add_edge("x", END)
    graph = builder.compile()

    def run():
        assert sum(1 for _ in graph.stream({"n": 0}, config(), stream_mode="custom")) == asked.n

    asked.answer(asked.times(asked.n, run))


def export_mermaid(asked):
    graph = chain(asked.n).compile()

    def run():
        assert f"n{asked.n - 1}" in graph.get_graph().draw_mermaid()

    asked.answer(asked.times(asked.n, run))


def lg_sequential(asked):
    graph = chain(asked.n, state=MessagesState).compile()

    def run():
        assert sum(1 for _ in graph.stream({"messages": []}, config(), stream_mode="updates")) == asked.n

    asked.answer(asked.times(1, run))


WORKLOADS = {
    "loop": loop,
    "chain_run": chain_run,
    "chain_compile": chain_compile,
    "fanout": spread(fan),
    "send": spread(packets),
    "invoke_small": invoke_small,
    "state_size": state_size,
    "stream": stream,
    "export_mermaid": export_mermaid,
    "lg_sequential": lg_sequential,
}
