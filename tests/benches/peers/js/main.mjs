// LangGraph for JavaScript: one workload a process, one JSON line.
//
//   node main.mjs WORKLOAD N VARIANT SAMPLES FOLDER

import { AGENTS } from "./agents.mjs";
import { answer, asked } from "./measure.mjs";
import { SHAPES } from "./shapes.mjs";
import { STORES } from "./stores.mjs";
import { WIDE } from "./wide.mjs";

const { bytes, ...times } = await { ...SHAPES, ...STORES, ...AGENTS, ...WIDE }[asked.workload](asked);
answer(times, bytes);
process.exit(0);
