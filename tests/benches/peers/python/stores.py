"""Graphs with a store: checkpoints, many threads, resuming, questions to a human."""

import asyncio
import os
import sqlite3

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from measure import config
from shapes import Chat, Count, chain, looping, tick, tick_and_say


class Store:
    """A fresh store: none, memory, sqlite (full sync) or sqlite_normal."""

    def __init__(self, asked, kind):
        self.saver = self.path = None
        if kind == "memory":
            self.saver = InMemorySaver()
        elif kind.startswith("sqlite"):
            self.path = asked.fresh_file()
            self.connection = sqlite3.connect(self.path, check_same_thread=False)
            self.saver = SqliteSaver(self.connection)
            self.connection.execute(f"PRAGMA synchronous={'NORMAL' if kind == 'sqlite_normal' else 'FULL'}")
            self.saver.setup()

    def checkpoints(self, thread=0):
        return sum(1 for _ in self.saver.list(config(thread)))

    def close(self):
        """Bytes of the file, if there is one."""
        if self.path is None:
            return None
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.connection.close()
        size = os.path.getsize(self.path)
        os.remove(self.path)
        return size


def growing(store):
    return looping(Chat, tick_and_say).compile(checkpointer=store.saver)


def ckpt_loop(asked):
    kind, what = asked.variant.split("-")
    grow, kept = what == "grow", []

    def make():
        if kept:
            kept[-1] = kept[-1].close()
        kept.append(Store(asked, kind))
        return growing(kept[-1]) if grow else looping().compile(checkpointer=kept[-1].saver)

    def run(graph):
        end = graph.invoke({"n": 0, "limit": asked.n, **({"messages": []} if grow else {})}, config(), durability="sync")
        assert end["n"] == asked.n and (not grow or len(end["messages"]) == asked.n)

    times = asked.each(asked.n, make, run)
    assert kept[-1].checkpoints() > asked.n
    asked.answer(times, kept[-1].close())


def threads(asked):
    builder, kept = chain(5, tick), []

    def make():
        kept[:] = [Store(asked, asked.variant)]
        return builder.compile(checkpointer=kept[0].saver)

    def run(graph):
        async def all_threads():
            return await asyncio.gather(*[graph.ainvoke({"n": 0}, config(i)) for i in range(asked.n)])

        assert all(end["n"] == 5 for end in asyncio.run(all_threads()))

    times = asked.each(asked.n, make, run)
    assert kept[0].checkpoints(asked.n - 1) > 5
    asked.answer(times)


def resume(asked):
    kind, what = asked.variant.split("-")
    store = Store(asked, kind)
    graph = growing(store)
    graph.invoke({"n": 0, "limit": asked.n, "messages": []}, config(), durability="sync")
    assert store.checkpoints() > asked.n

    def get_state():
        assert len(graph.get_state(config()).values["messages"]) == asked.n

    def history10():
        assert len(list(graph.get_state_history(config(), limit=10))) == 10

    def go_on():
        assert len(graph.invoke({"limit": 0}, config(), durability="sync")["messages"]) > asked.n

    work = {"state": get_state, "history10": history10, "continue": go_on}[what]
    times = asked.times(1, work)
    store.close()
    asked.answer(times)


def ask_human(asked):
    builder = StateGraph(Count)
    builder.add_node("ask", lambda state: {"n": state["n"] + interrupt("how many?")})
    builder.add_edge(START, "ask")
    builder.add_conditional_edges("ask", lambda s: "ask" if s["n"] < s["limit"] else END, ["ask", END])
    graph = builder.compile(checkpointer=Store(asked, asked.variant).saver)
    thread = iter(range(1_000_000))

    def run():
        id = next(thread)
        graph.invoke({"n": 0, "limit": asked.n}, config(id))
        for _ in range(asked.n):
            end = graph.invoke(Command(resume=1), config(id))
        assert end["n"] == asked.n

    asked.answer(asked.times(asked.n, run))


WORKLOADS = {"ckpt_loop": ckpt_loop, "threads": threads, "resume": resume, "interrupt": ask_human}
