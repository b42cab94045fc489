// A state of fifteen channels with nested payloads, which six nodes hand on until the first list is long enough.

import assert from "node:assert";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { config, letters, numbers, times } from "./measure.mjs";
import { appended } from "./shapes.mjs";

// By first letter: L append list, O plain list, M merged map, K kept unless a truthy value comes, P plain.
const RULES = {
  L: appended,
  M: () => Annotation({ reducer: (old, more) => ({ ...old, ...more }), default: () => ({}) }),
  K: () => Annotation({ reducer: (old, value) => value || old, default: () => null }),
  O: () => Annotation(),
  P: () => Annotation(),
};
const CHANNELS = "L0 L1 L2 L3 O0 O1 M0 M1 K0 K1 K2 K3 P0 P1 P2".split(" ");
const TEXTS = ["K3", "P0", "P2"];
const STEPS = {
  one: ["L0", "L1 P2"],
  two: ["L1", "P1 K0"],
  three: ["P1", "O0"],
  four: ["L1", "L2 L3 O1"],
  five: ["L2", "K1 K2 K3 M0 P0 M1"],
  six: ["L3", "L0"],
};
const SIZES = { 300: [5, 5], 600: [3, 5], 1200: [3, 3] };

function payload(outer, inner) {
  const leaf = numbers(5).flatMap(() => ["abc".repeat(10), false, 7, 1234567890123, null]);
  const map = (size, value) => Object.fromEntries(numbers(size).map((i) => [String(i).padStart(10, "0"), value()]));
  return map(outer, () => map(inner, () => [...leaf]));
}

const node = (size, source, targets) => (state) => {
  const everything = [state[source]].flat();
  const written = (target) => {
    if ("LO".includes(target[0])) return everything;
    return TEXTS.includes(target) ? letters(everything.length, size) : everything.at(-1);
  };
  return Object.fromEntries(targets.split(" ").map((target) => [target, written(target)]));
};

async function wide({ n }) {
  const builder = new StateGraph(Annotation.Root(Object.fromEntries(CHANNELS.map((name) => [name, RULES[name[0]]()]))));
  for (const [name, [source, targets]] of Object.entries(STEPS)) builder.addNode(name, node(n, source, targets));
  builder.addEdge(START, "one").addEdge("one", "two").addEdge("two", "three").addEdge("two", "four");
  builder.addEdge(["three", "four"], "five").addEdge("five", "six");
  builder.addConditionalEdges("six", (state) => (state.L0.length <= n ? "one" : END), ["one", END]);
  const graph = builder.compile(), first = payload(...SIZES[n]);
  return times(1, async () => {
    const end = await graph.invoke({ L0: [first] }, config());
    assert(end.L0.length > n && end.P2.length === n);
  });
}

export const WIDE = { lg_wide: wide };
