"""A whole process: import, compile one node, run it once."""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    n: int


builder = StateGraph(State)
builder.add_node("tick", lambda state: {"n": state["n"] + 1})
builder.add_edge(START, "tick")
builder.add_edge("tick", END)
assert builder.compile().invoke({"n": 0})["n"] == 1
