// The question on the command line, clocks, messages, the line of the answer.

import { mkdtempSync } from "node:fs";
import { join } from "node:path";

const SHORTEST = 50_000_000; // nanoseconds; shorter work is done several times in one sample
const WARM = 500_000_000; // so long is work done before it is measured, for the compiler
const LONG = 2_000_000_000; // work that takes longer needs no other work to warm up

const [workload, n, variant, samples, folder] = process.argv.slice(2);
export const asked = { workload, n: Number(n), variant, samples: Number(samples) };

const wallClock = () => Number(process.hrtime.bigint());

export const freshFile = () => join(mkdtempSync(join(folder, "js-")), "threads.sqlite");

/** Does work again and again, after some to warm up. What it needs is made outside of the time. */
export async function each(units, make, work) {
  const once = async () => {
    const thing = await make();
    const cpu = process.cpuUsage(), wall = wallClock();
    await work(thing);
    const took = wallClock() - wall, used = process.cpuUsage(cpu);
    return [(used.user + used.system) * 1000, took];
  };
  const times = { cpu: [], wall: [] };
  let cpu = 0, wall = 0;
  for (let warmed = 0; warmed < WARM; warmed += wall) [cpu, wall] = await once();
  const add = (repeats) => (times.cpu.push(cpu / repeats / units), times.wall.push(wall / repeats / units));
  if (wall > LONG) add(1); // it has warmed up on its way
  const repeats = Math.max(1, Math.min(1000, Math.floor(SHORTEST / wall)));
  while (times.cpu.length < asked.samples) {
    cpu = wall = 0;
    for (let i = 0; i < repeats; i++) {
      const [moreCpu, moreWall] = await once();
      cpu += moreCpu;
      wall += moreWall;
    }
    add(repeats);
  }
  return times;
}

export const times = (units, work) => each(units, () => {}, work);

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
