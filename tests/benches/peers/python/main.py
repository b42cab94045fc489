"""LangGraph for Python: one workload a process, one JSON line.

    main.py WORKLOAD N VARIANT SAMPLES FOLDER
"""

import agents
import shapes
import stores
import wide
from measure import Asked

WORKLOADS = {**shapes.WORKLOADS, **stores.WORKLOADS, **agents.WORKLOADS, **wide.WORKLOADS}

if __name__ == "__main__":
    asked = Asked()
    WORKLOADS[asked.workload](asked)
