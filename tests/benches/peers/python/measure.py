"""The question on the command line, clocks, messages, the line of the answer."""

import json
import os
import resource
import sys
import tempfile
import time

SHORTEST = 20_000_000  # nanoseconds; shorter work is done several times in one sample


class Asked:
    def __init__(self):
        self.workload, n, self.variant, samples, self.folder = sys.argv[1:6]
        self.n, self.samples = int(n), int(samples)

    def fresh_file(self):
        return os.path.join(tempfile.mkdtemp(dir=self.folder), "threads.sqlite")

    def each(self, units, make, work, warm=True):
        """Does work again and again. What it needs is made outside of the time."""
        repeats = 1
        if warm:
            thing, begin = make(), time.perf_counter_ns()
            work(thing)
            repeats = max(1, min(1000, SHORTEST // (time.perf_counter_ns() - begin)))
        cpus, walls = [], []
        for _ in range(self.samples):
            cpu = wall = 0
            for _ in range(repeats):
                thing = make()
                wall_begin, cpu_begin = time.perf_counter_ns(), time.process_time_ns()
                work(thing)
                cpu += time.process_time_ns() - cpu_begin
                wall += time.perf_counter_ns() - wall_begin
            cpus.append(cpu / repeats / units)
            walls.append(wall / repeats / units)
        return cpus, walls

    def times(self, units, work, warm=True):
        return self.each(units, lambda: None, lambda _: work(), warm)

    def answer(self, times, bytes=None):
        print(json.dumps({
            "impl": "langgraph-py", "workload": self.workload, "n": self.n, "variant": self.variant,
            "cpu": times[0], "wall": times[1], "bytes": bytes,
            "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        }))


def letters(seed, size):
    x, out = (seed * 2654435761 + 12345) & 0xFFFFFFFF, []
    for _ in range(size):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        out.append("abcdefghijklmnopqrstuvwxyz012345"[x >> 27])
    return "".join(out)


def message(i):
    return {"role": "assistant" if i % 2 else "user", "id": i, "content": letters(i, 100)}


def config(thread=0):
    return {"recursion_limit": 10**9, "configurable": {"thread_id": str(thread)}}
