// Graphs without a store: chains, loops, fan-outs, streams, diagrams.

import assert from "node:assert";
import { Annotation, END, MessagesAnnotation, START, Send, StateGraph } from "@langchain/langgraph";
import { config, each, message, numbers, times } from "./measure.mjs";

export const appended = () => Annotation({ reducer: (old, items) => old.concat(items), default: () => [] });

const count = () => ({ n: Annotation(), limit: Annotation() });
export const Count = Annotation.Root(count());
const Chat = Annotation.Root({ ...count(), messages: appended() });
const Items = Annotation.Root({ n: Annotation(), out: appended() });

const rest = () => ({});
export const tick = (state) => ({ n: state.n + 1 });
const say = (state) => ({ n: state.n + 1, messages: [message(state.n)] });

export function chain(length, node = rest, state = Count) {
  const builder = new StateGraph(state);
  let before = START;
  for (const i of numbers(length)) {
    builder.addNode(`n${i}`, node).addEdge(before, `n${i}`);
    before = `n${i}`;
  }
  return builder.addEdge(before, END);
}

/** One node, again until the limit of its state is reached. */
function again(state, node) {
  const route = (s) => (s.n < s.limit ? "tick" : END);
  return new StateGraph(state).addNode("tick", node).addEdge(START, "tick").addConditionalEdges("tick", route, ["tick", END]);
}

export const counting = () => again(Count, tick);
export const growing = () => again(Chat, say);

async function loop({ n }) {
  const graph = counting().compile();
  return times(n, async () => assert.equal((await graph.invoke({ n: 0, limit: n }, config())).n, n));
}

async function chainRun({ n }) {
  const graph = chain(n, tick).compile();
  return times(n, async () => assert.equal((await graph.invoke({ n: 0 }, config())).n, n));
}

const chainCompile = ({ n }) =>
  each(n, () => chain(n), (builder) => assert.equal(Object.keys(builder.compile().nodes).length, n + 1));

/** So many nodes at once behind `from`, and a join. */
function fan(builder, from, width) {
  const names = numbers(width).map((i) => `w${i}`);
  names.forEach((name, i) => builder.addNode(name, () => ({ out: [i] })).addEdge(from, name));
  return builder.addEdge(names, "join").addEdge("join", END).compile();
}

const around = () => new StateGraph(Items).addNode("source", rest).addNode("join", rest).addEdge(START, "source");

function packets(width) {
  const route = () => numbers(width).map((i) => new Send("work", { i }));
  const builder = around().addNode("work", (packet) => ({ out: [packet.i] }));
  return builder.addConditionalEdges("source", route, ["work"]).addEdge("work", "join").addEdge("join", END).compile();
}

const spread = (make) => async ({ n }) => {
  const graph = make(n);
  return times(n, async () => {
    const { out } = await graph.invoke({ n: 0, out: [] }, config());
    assert.deepEqual(out.sort((a, b) => a - b), numbers(n));
  });
};

async function invokeSmall({ n, variant }) {
  const sum = (state) => ({ n: state.out.length });
  const graph = variant === "seq" ? chain(n, tick).compile() : fan(new StateGraph(Items).addNode("join", sum), START, n);
  return times(1, async () => assert.equal((await graph.invoke({ n: 0 }, config())).n, n));
}

async function stateSize({ n, variant }) {
  const append = variant.startsWith("append"), messages = numbers(variant.endsWith("1m") ? 10_000 : 0).map(message);
  const graph = again(Chat, append ? say : tick).compile();
  return times(n, async () => {
    const end = await graph.invoke({ n: 0, limit: n, messages }, config());
    assert.deepEqual([end.n, end.messages.length], [n, messages.length + (append ? n : 0)]);
  });
}

async function stream({ n }) {
  const node = (_, { writer }) => {
    for (let token = 0; token < n; token++) writer({ token });
    return { n: 1 };
  };
  const graph = new StateGraph(Count).addNode("x", node).addEdge(START, "x").addEdge("x", END).compile();
  return times(n, async () => {
    let read = 0;
    for await (const _ of await graph.stream({ n: 0 }, { ...config(), streamMode: "custom" })) read++;
    assert.equal(read, n);
  });
}

async function exportMermaid({ n }) {
  const graph = chain(n).compile();
  const work = async () => assert((await graph.getGraphAsync()).drawMermaid().includes(`n${n - 1}`));
  return times(n, work);
}

async function sequential({ n }) {
  const graph = chain(n, rest, MessagesAnnotation).compile();
  return times(1, async () => {
    let read = 0;
    for await (const _ of await graph.stream({ messages: [] }, { ...config(), streamMode: "updates" })) read++;
    assert.equal(read, n);
  });
}

export const SHAPES = {
  loop,
  chain_run: chainRun,
  chain_compile: chainCompile,
  fanout: spread((n) => fan(around(), "source", n)),
  send: spread(packets),
  invoke_small: invokeSmall,
  state_size: stateSize,
  stream,
  export_mermaid: exportMermaid,
  lg_sequential: sequential,
};
