"""A whole process: import, compile one node, run it once."""

import json
import resource
from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    n: int


builder = StateGraph(State)
builder.add_node("tick", lambda state: {"n": state["n"] + 1})
builder.add_edge(START, "tick")
builder.add_edge("tick", END)
assert builder.compile().invoke({"n": 0})["n"] == 1
print(json.dumps({"peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
