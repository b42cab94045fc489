"""Processes, one a measurement, and the machine that they run on."""

import datetime
import json
import os
import platform
import statistics
import subprocess
import time
from pathlib import Path

TIMEOUT = 300  # seconds that one process may take


def line(times):
    """Best and median of samples."""
    return {"best": round(min(times), 1), "median": round(statistics.median(times), 1)}


def whole_process(command, samples):
    """Runs a program several times: its CPU and wall time, and its largest size, which it says itself.

    The kernel's own figure for a child is never less than the size of the process that began it.
    """
    cpu, wall, peak = [], [], 0
    for _ in range(samples):
        begin = time.perf_counter_ns()
        child = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        said = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        wall.append(time.perf_counter_ns() - begin)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise RuntimeError(f"ended with {child.returncode}")
        cpu.append((used.ru_utime + used.ru_stime) * 1e9)
        peak = max(peak, json.loads(said)["peak_kib"])
    return {"cpu": cpu, "wall": wall, "bytes": None, "peak_kib": peak}


def measure(side, row, samples, folder):
    """One measurement of one side, as the line that is written."""
    about = {"impl": side.name, "workload": row.workload, "n": row.n, "variant": row.variant, "unit": row.unit}
    try:
        if row.workload == "cold":
            said = whole_process(side.cold(), samples)
        else:
            command = [*side.command(), row.workload, row.n, row.variant, samples, folder]
            ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT)
            if ran.returncode:
                raise RuntimeError("\n".join(ran.stderr.strip().splitlines()[-6:]))
            said = json.loads(ran.stdout)
    except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as error:
        return {**about, "error": str(error)}
    times = {f"{clock}_{what}": value for clock in ("cpu", "wall") for what, value in line(said[clock]).items()}
    return {**about, **times, "samples": len(said["cpu"]), "bytes": said["bytes"], "peak_kib": said["peak_kib"]}


def field(path, key):
    lines = Path(path).read_text().splitlines()
    found = (text.partition(":" if ":" in text else "=")[2] for text in lines if text.startswith(key))
    return next(found, "unknown").strip().strip('"')


def machine():
    return {
        "cpu": field("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "memory_gb": round(int(field("/proc/meminfo", "MemTotal").split()[0]) / 2**20),
        "os": field("/etc/os-release", "PRETTY_NAME"),
        "kernel": platform.release().partition("-")[0],
        "date": datetime.date.today().isoformat(),
    }


def load():
    return round(os.getloadavg()[0], 1)
