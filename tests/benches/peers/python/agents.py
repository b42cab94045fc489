"""Agents: the hotel, the prebuilt agent with tools, packets into a subgraph, streamed tool calls put together."""

import operator
import uuid
import warnings
from typing import Annotated, Any, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send

from measure import config
from stores import Store


class Hotel(TypedDict):
    messages: Annotated[list, add_messages]
    phase: str
    criteria: dict
    hotel: str
    table: list
    turn: int
    retries: int
    ok: bool


TOOLS = {"explore": "capture_choices", "present": "chosen_hotel", "compare": "generate_comparison"}
BEGIN = {"phase": "explore", "criteria": {}, "hotel": "", "table": [], "retries": 0, "ok": True}


def answer(state, phase):
    """What the scripted model says: a call, a text after its result, nonsense at the first try of turns 3 and 7."""
    if state["messages"][-1].type == "tool":
        return AIMessage(f"{phase}: reply for turn {state['turn']} " + "w" * 180)
    if state["turn"] in (3, 7) and state["retries"] == 0:
        return AIMessage("BAD")
    arguments = {"turn": state["turn"], "city": "Lisbon", "nights": 3}
    return AIMessage("", tool_calls=[{"id": uuid.uuid4().hex, "name": TOOLS[phase], "args": arguments}])


def gate(state):
    bad = state["messages"][-1].content == "BAD"
    return {"ok": not bad, "retries": state["retries"] + 1 if bad else 0}


def after_gate(state):
    if not state["ok"]:
        return state["phase"]
    return "tools" if state["messages"][-1].tool_calls else END


def run_tools(state):
    (call,), turn = state["messages"][-1].tool_calls, state["turn"]
    update = {"messages": [ToolMessage("ok " + "r" * 80, tool_call_id=call["id"], name=call["name"])]}
    if call["name"] == "capture_choices":
        update["criteria"] = {**state["criteria"], f"k{turn}": call["args"]["city"]}
        update["phase"] = "present" if turn == 4 else "explore"
    elif call["name"] == "chosen_hotel":
        update["hotel"] = f"hotel-{turn}"
        update["phase"] = "compare" if turn == 7 else "present"
    else:
        update["table"] = [*state["table"], {"turn": turn, "score": 4.5}]
    return update


def hotel(asked):
    builder = StateGraph(Hotel)
    for phase in TOOLS:
        builder.add_node(phase, lambda state, phase=phase: {"messages": [answer(state, phase)]})
        builder.add_edge(phase, "gate")
    builder.add_node("gate", gate)
    builder.add_node("tools", run_tools)
    builder.add_conditional_edges(START, lambda state: state["phase"], list(TOOLS))
    builder.add_conditional_edges("gate", after_gate, [*TOOLS, "tools", END])
    builder.add_conditional_edges("tools", lambda state: state["phase"], list(TOOLS))
    store = Store(asked, asked.variant)
    graph, thread = builder.compile(checkpointer=store.saver), iter(range(1_000_000))

    def conversation():
        id, state = next(thread), BEGIN
        for turn in range(1, asked.n + 1):
            said = {"messages": [HumanMessage(f"turn {turn} " + "q" * 60)], "turn": turn}
            if store.saver is None:
                said = {**state, **said, "messages": state.get("messages", []) + said["messages"]}
            elif turn == 1:
                said = {**BEGIN, **said}
            state = graph.invoke(said, config(id), **({"durability": "sync"} if store.saver else {}))
        assert (state["phase"], len(state["messages"])) == ("compare", 4 * asked.n + 2)
        assert (len(state["criteria"]), state["hotel"], len(state["table"])) == (4, "hotel-7", 3)

    times = asked.times(asked.n, conversation)
    store.close()
    asked.answer(times)


def lg_react_agent(asked):
    class Scripted(BaseChatModel):
        @property
        def _llm_type(self):
            return "scripted"

        def bind_tools(self, tools, **_):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **_):
            if sum(1 for message in messages if message.type == "tool") < asked.n:
                arguments = {"query": str(uuid.uuid4()) * 100}
                calls = [{"id": str(uuid.uuid4()), "name": "lookup", "args": arguments}]
                said = AIMessage("", id=str(uuid.uuid4()), tool_calls=calls)
            else:
                said = AIMessage("done. " * 100, id=str(uuid.uuid4()))
            return ChatResult(generations=[ChatGeneration(message=said)])

    warnings.simplefilter("ignore")
    from langgraph.prebuilt import create_react_agent

    lookup = StructuredTool.from_function(
        lambda query: f"answer to {query};" * 10, name="lookup", description="Looks it up."
    )
    graph = create_react_agent(Scripted(), [lookup])

    def run():
        said = {"messages": [HumanMessage("hello")]}
        assert sum(1 for _ in graph.stream(said, config(), stream_mode="updates")) == 2 * asked.n + 1

    asked.answer(asked.times(1, run))


class Topic(TypedDict):
    topic: Any


class Lines(TypedDict):
    lines: list


class Part(Topic, Lines):
    pass


class Whole(TypedDict):
    topics: list
    lines: Annotated[list, operator.add]


def lg_fanout_to_subgraph(asked):
    part = StateGraph(Part, input_schema=Topic, output_schema=Lines)
    part.add_node("prepare", lambda state: {"topic": f"{state['topic']} (ready)"})
    part.add_node("write", lambda state: {"lines": [f"on {state['topic']}"]})
    part.add_node("extend", lambda state: {"lines": [state["lines"][0] + " +"]})
    part.add_edge(START, "prepare")
    part.add_edge("prepare", "write")
    part.add_edge("write", "extend")
    full = lambda state: END if state["lines"][0].endswith(" +" * 10) else "extend"
    part.add_conditional_edges("extend", full, ["extend", END])
    builder = StateGraph(Whole)
    builder.add_node("one", part.compile())
    builder.add_conditional_edges(START, lambda s: [Send("one", {"topic": t}) for t in s["topics"]], ["one"])
    builder.add_edge("one", END)
    graph = builder.compile()
    topics = ["abcdefghij" * 100] * asked.n

    def run():
        assert len(graph.invoke({"topics": topics}, config())["lines"]) == asked.n

    asked.answer(asked.times(1, run))


def assemble(asked):
    def piece(index, text, **more):
        call = {"index": index, "args": text, "name": None, "id": None, "type": "tool_call_chunk", **more}
        return AIMessageChunk("", tool_call_chunks=[call])

    pieces = [piece(k, '{"q":"', name="search", id=f"c{k}") for k in range(4)]
    pieces += [piece(i % 4, "abcdefgh") for i in range(asked.n - 8)]
    pieces += [piece(k, '"}') for k in range(4)]

    def run():
        whole = pieces[0]
        for one in pieces[1:]:
            whole = whole + one
        assert [len(call["args"]["q"]) for call in whole.tool_calls] == [2 * (asked.n - 8)] * 4

    asked.answer(asked.times(asked.n, run))


WORKLOADS = {
    "hotel": hotel,
    "lg_react_agent": lg_react_agent,
    "lg_fanout_to_subgraph": lg_fanout_to_subgraph,
    "assemble": assemble,
}
