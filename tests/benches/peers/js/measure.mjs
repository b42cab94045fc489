// The question on the command line, clocks, messages, the line of the answer.

import { mkdtempSync } from "node:fs";
import { join } from "node:path";

const SHORTEST = 20_000_000; // nanoseconds; shorter work is done several times in one sample

const [workload, n, variant, samples, folder] = process.argv.slice(2);
export const asked = { workload, n: Number(n), variant, samples: Number(samples) };

const wallClock = () => Number(process.hrtime.bigint());

export const freshFile = () => join(mkdtempSync(join(folder, "js-")), "threads.sqlite");

/** Does work again and again. What it needs is made outside of the time. */
export async function each(units, make, work, warm = true) {
  let repeats = 1;
  if (warm) {
    const thing = await make();
    const begin = wallClock();
    await work(thing);
    repeats = Math.max(1, Math.min(1000, Math.floor(SHORTEST / (wallClock() - begin))));
  }
  const times = { cpu: [], wall: [] };
  for (let sample = 0; sample < asked.samples; sample++) {
    let cpu = 0, wall = 0;
    for (let i = 0; i < repeats; i++) {
      const thing = await make();
      const cpuBegin = process.cpuUsage(), wallBegin = wallClock();
      await work(thing);
      wall += wallClock() - wallBegin;
      const used = process.cpuUsage(cpuBegin);
      cpu += (used.user + used.system) * 1000;
    }
    times.cpu.push(cpu / repeats / units);
    times.wall.push(wall / repeats / units);
  }
  return times;
}

export const times = (units, work, warm = true) => each(units, () => {}, work, warm);

export function answer(times, bytes = null) {
  const { workload, n, variant } = asked;
  const peak_kib = process.resourceUsage().maxRSS;
  console.log(JSON.stringify({ impl: "langgraph-js", workload, n, variant, ...times, bytes, peak_kib }));
}

export function letters(seed, size) {
  let x = (Math.imul(seed, 2654435761) + 12345) >>> 0, text = "";
  for (let i = 0; i < size; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    text += "abcdefghijklmnopqrstuvwxyz012345"[x >>> 27];
  }
  return text;
}

export const message = (i) => ({ role: i % 2 ? "assistant" : "user", id: i, content: letters(i, 100) });

export const config = (thread = 0) => ({ recursionLimit: 1e9, configurable: { thread_id: String(thread) } });

export const numbers = (count) => Array.from({ length: count }, (_, i) => i);
