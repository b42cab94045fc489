// Graphs with a store: checkpoints, many threads, resuming, questions to a human.

import assert from "node:assert";
import { rmSync, statSync } from "node:fs";
import { Command, END, MemorySaver, START, StateGraph, interrupt } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { config, each, freshFile, numbers, times } from "./measure.mjs";
import { Count, chain, counting, growing, tick } from "./shapes.mjs";

/** A fresh store: none, memory, sqlite (full sync) or sqlite_normal. */
export function openStore(kind) {
  if (kind === "none") return { close: () => null };
  if (kind === "memory") return { checkpointer: new MemorySaver(), close: () => null };
  const path = freshFile(), checkpointer = SqliteSaver.fromConnString(path);
  checkpointer.setup();
  checkpointer.db.pragma(`synchronous = ${kind === "sqlite_normal" ? "NORMAL" : "FULL"}`);
  const close = () => {
    checkpointer.db.pragma("wal_checkpoint(TRUNCATE)");
    checkpointer.db.close();
    const { size } = statSync(path);
    rmSync(path);
    return size;
  };
  return { checkpointer, close };
}

async function checkpoints({ checkpointer }, thread = 0) {
  let count = 0;
  for await (const _ of checkpointer.list(config(thread))) count++;
  return count;
}

const sync = (thread = 0) => ({ ...config(thread), durability: "sync" });

async function ckptLoop({ n, variant }) {
  const [kind, what] = variant.split("-"), grow = what === "grow";
  let store = openStore("none");
  const make = () => {
    store.close();
    store = openStore(kind);
    return (grow ? growing() : counting()).compile({ checkpointer: store.checkpointer });
  };
  const run = async (graph) => {
    const end = await graph.invoke({ n: 0, limit: n, ...(grow ? { messages: [] } : {}) }, sync());
    assert(end.n === n && (!grow || end.messages.length === n));
  };
  const measured = await each(n, make, run);
  assert((await checkpoints(store)) > n);
  return { ...measured, bytes: store.close() };
}

async function threads({ n, variant }) {
  const builder = chain(5, tick);
  let store;
  const make = () => {
    store = openStore(variant);
    return builder.compile({ checkpointer: store.checkpointer });
  };
  const run = async (graph) => {
    const ends = await Promise.all(numbers(n).map((i) => graph.invoke({ n: 0 }, config(i))));
    assert(ends.every((end) => end.n === 5));
  };
  const measured = await each(n, make, run);
  assert((await checkpoints(store, n - 1)) > 5);
  return measured;
}

async function resume({ n, variant }) {
  const [kind, what] = variant.split("-"), store = openStore(kind);
  const graph = growing().compile({ checkpointer: store.checkpointer });
  await graph.invoke({ n: 0, limit: n, messages: [] }, sync());
  assert((await checkpoints(store)) > n);
  const calls = {
    state: async () => assert.equal((await graph.getState(config())).values.messages.length, n),
    history10: async () => {
      let count = 0;
      for await (const _ of graph.getStateHistory(config(), { limit: 10 })) count++;
      assert.equal(count, 10);
    },
    continue: async () => assert((await graph.invoke({ limit: 0 }, sync())).messages.length > n),
  };
  return times(1, calls[what]);
}

async function askHuman({ n, variant }) {
  const ask = (state) => ({ n: state.n + interrupt("how many?") }), { checkpointer } = openStore(variant);
  const builder = new StateGraph(Count).addNode("ask", ask).addEdge(START, "ask");
  builder.addConditionalEdges("ask", (state) => (state.n < state.limit ? "ask" : END), ["ask", END]);
  const graph = builder.compile({ checkpointer });
  let thread = 0;
  const run = async () => {
    thread++;
    let end = await graph.invoke({ n: 0, limit: n }, config(thread));
    for (const _ of numbers(n)) end = await graph.invoke(new Command({ resume: 1 }), config(thread));
    assert.equal(end.n, n);
  };
  return times(n, run);
}

export const STORES = { ckpt_loop: ckptLoop, threads, resume, interrupt: askHuman };
