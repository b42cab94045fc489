// A whole process: import, compile one node, run it once.

import assert from "node:assert";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const state = Annotation.Root({ n: Annotation() });
const builder = new StateGraph(state).addNode("tick", (s) => ({ n: s.n + 1 }));
const graph = builder.addEdge(START, "tick").addEdge("tick", END).compile();
assert.equal((await graph.invoke({ n: 0 })).n, 1);
console.log(JSON.stringify({ peak_kib: process.resourceUsage().maxRSS }));
