"""The question on the command line, clocks, messages, the line of the answer."""

import json
import os
import resource
import sys
import tempfile
import time

SHORTEST = 50_000_000  # nanoseconds; shorter work is done several times in one sample
WARM = 200_000_000  # so long is work done before it is measured
LONG = 500_000_000  # work that takes longer needs no other work to warm up


class Asked:
    def __init__(self):
        self.workload, n, self.variant, samples, self.folder = sys.argv[1:6]
        self.n, self.samples = int(n), int(samples)

    def fresh_file(self):
        return os.path.join(tempfile.mkdtemp(dir=self.folder), "threads.sqlite")

    def each(self, units, make, work):
        """Does work again and again, after some to warm up. What it needs is made outside of the time."""

        def once():
            thing = make()
            wall, cpu = time.perf_counter_ns(), time.process_time_ns()
            work(thing)
            return time.process_time_ns() - cpu, time.perf_counter_ns() - wall

        warmed, cpus, walls = 0, [], []
        while warmed < WARM:
            cpu, wall = once()
            warmed += wall
        if wall > LONG:  # it has warmed up on its way
            cpus, walls = [cpu / units], [wall / units]
        repeats = max(1, min(1000, SHORTEST // wall))
        while len(cpus) < self.samples:
            cpu, wall = map(sum, zip(*(once() for _ in range(repeats))))
            cpus.append(cpu / repeats / units)
            walls.append(wall / repeats / units)
        return cpus, walls

    def times(self, units, work):
        return self.each(units, lambda: None, lambda _: work())

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
