// Agents: the hotel, the prebuilt agent with tools, packets into a subgraph, streamed tool calls put together.

import assert from "node:assert";
import { randomUUID } from "node:crypto";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { Annotation, END, START, Send, StateGraph, messagesStateReducer } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { config, numbers, times } from "./measure.mjs";
import { appended } from "./shapes.mjs";
import { openStore } from "./stores.mjs";

const plain = (...names) => Object.fromEntries(names.map((name) => [name, Annotation()]));
const Hotel = Annotation.Root({
  messages: Annotation({ reducer: messagesStateReducer, default: () => [] }),
  ...plain("phase", "criteria", "hotel", "table", "turn", "retries", "ok"),
});
const TOOLS = { explore: "capture_choices", present: "chosen_hotel", compare: "generate_comparison" };
const BEGIN = { phase: "explore", criteria: {}, hotel: "", table: [], retries: 0, ok: true };

/** What the scripted model says: a call, a text after its result, nonsense at the first try of turns 3 and 7. */
function said(state, phase) {
  if (state.messages.at(-1).getType() === "tool") {
    return new AIMessage(`${phase}: reply for turn ${state.turn} ${"w".repeat(180)}`);
  }
  if ([3, 7].includes(state.turn) && state.retries === 0) return new AIMessage("BAD");
  const args = { turn: state.turn, city: "Lisbon", nights: 3 };
  return new AIMessage({ content: "", tool_calls: [{ id: randomUUID(), name: TOOLS[phase], args, type: "tool_call" }] });
}

function gate(state) {
  const bad = state.messages.at(-1).content === "BAD";
  return { ok: !bad, retries: bad ? state.retries + 1 : 0 };
}

function afterGate(state) {
  if (!state.ok) return state.phase;
  return state.messages.at(-1).tool_calls?.length ? "tools" : END;
}

function runTools({ messages, turn, criteria, table }) {
  const [call] = messages.at(-1).tool_calls;
  const result = new ToolMessage({ content: "ok " + "r".repeat(80), tool_call_id: call.id, name: call.name });
  const update = {
    capture_choices: () => ({
      criteria: { ...criteria, [`k${turn}`]: call.args.city },
      phase: turn === 4 ? "present" : "explore",
    }),
    chosen_hotel: () => ({ hotel: `hotel-${turn}`, phase: turn === 7 ? "compare" : "present" }),
    generate_comparison: () => ({ table: [...table, { turn, score: 4.5 }] }),
  };
  return { messages: [result], ...update[call.name]() };
}

async function hotel({ n, variant }) {
  const phases = Object.keys(TOOLS), builder = new StateGraph(Hotel), { checkpointer, close } = openStore(variant);
  for (const phase of phases) {
    builder.addNode(phase, (state) => ({ messages: [said(state, phase)] })).addEdge(phase, "gate");
  }
  builder.addNode("gate", gate).addNode("tools", runTools);
  builder.addConditionalEdges(START, (state) => state.phase, phases);
  builder.addConditionalEdges("gate", afterGate, [...phases, "tools", END]);
  builder.addConditionalEdges("tools", (state) => state.phase, phases);
  const graph = builder.compile({ checkpointer });
  let thread = 0;
  const conversation = async () => {
    thread++;
    let state = BEGIN;
    for (let turn = 1; turn <= n; turn++) {
      let input = { messages: [new HumanMessage(`turn ${turn} ${"q".repeat(60)}`)], turn };
      if (!checkpointer) input = { ...state, ...input, messages: [...(state.messages ?? []), ...input.messages] };
      else if (turn === 1) input = { ...BEGIN, ...input };
      state = await graph.invoke(input, { ...config(thread), ...(checkpointer ? { durability: "sync" } : {}) });
    }
    assert.deepEqual([state.phase, state.messages.length], ["compare", 4 * n + 2]);
    assert.deepEqual([Object.keys(state.criteria).length, state.hotel, state.table.length], [4, "hotel-7", 3]);
  };
  const measured = await times(n, conversation);
  close();
  return measured;
}

async function reactAgent({ n }) {
  class Scripted extends BaseChatModel {
    _llmType() {
      return "scripted";
    }

    bindTools() {
      return this;
    }

    async _generate(messages) {
      const more = messages.filter((message) => message.getType() === "tool").length < n;
      const call = () => ({ id: randomUUID(), name: "lookup", args: { query: randomUUID().repeat(100) }, type: "tool_call" });
      const what = more ? { content: "", tool_calls: [call()] } : { content: "done. ".repeat(100) };
      return { generations: [{ message: new AIMessage({ id: randomUUID(), ...what }), text: "" }] };
    }
  }
  const lookup = new DynamicStructuredTool({
    name: "lookup",
    description: "Looks it up.",
    schema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    func: async ({ query }) => `answer to ${query};`.repeat(10),
  });
  const graph = createReactAgent({ llm: new Scripted({}), tools: [lookup] });
  return times(1, async () => {
    const input = { messages: [new HumanMessage("hello")] };
    let read = 0;
    for await (const _ of await graph.stream(input, { ...config(), streamMode: "updates" })) read++;
    assert.equal(read, 2 * n + 1);
  });
}

async function fanoutToSubgraph({ n }) {
  const lines = (line) => ({ lines: [line] });
  const part = new StateGraph({ stateSchema: Annotation.Root(plain("topic", "lines")), output: Annotation.Root(plain("lines")) })
    .addNode("prepare", (state) => ({ topic: `${state.topic} (ready)` }))
    .addNode("write", (state) => lines(`on ${state.topic}`))
    .addNode("extend", (state) => lines(`${state.lines[0]} +`))
    .addEdge(START, "prepare")
    .addEdge("prepare", "write")
    .addEdge("write", "extend")
    .addConditionalEdges("extend", (s) => (s.lines[0].endsWith(" +".repeat(10)) ? END : "extend"), ["extend", END])
    .compile();
  const each = (state) => state.topics.map((topic) => new Send("one", { topic }));
  const graph = new StateGraph(Annotation.Root({ topics: Annotation(), lines: appended() }))
    .addNode("one", part)
    .addConditionalEdges(START, each, ["one"])
    .addEdge("one", END)
    .compile();
  const topics = numbers(n).map(() => "abcdefghij".repeat(100));
  return times(1, async () => assert.equal((await graph.invoke({ topics }, config())).lines.length, n));
}

async function assemble({ n }) {
  const piece = (index, args, name, id) =>
    new AIMessageChunk({ content: "", tool_call_chunks: [{ index, args, name, id, type: "tool_call_chunk" }] });
  const calls = numbers(4);
  const pieces = [
    ...calls.map((k) => piece(k, '{"q":"', "search", `c${k}`)),
    ...numbers(n - 8).map((i) => piece(i % 4, "abcdefgh")),
    ...calls.map((k) => piece(k, '"}')),
  ];
  return times(n, () => {
    const whole = pieces.reduce((before, next) => before.concat(next));
    assert.deepEqual(whole.tool_calls.map((call) => call.args.q.length), Array(4).fill(2 * (n - 8)));
  });
}

export const AGENTS = { hotel, lg_react_agent: reactAgent, lg_fanout_to_subgraph: fanoutToSubgraph, assemble };
