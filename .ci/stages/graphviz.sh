#!/usr/bin/env bash
# Makes Graphviz's `dot` available to the test `pictures`. May be called or sourced, any number of times.
set -euo pipefail

if command -v dot >/dev/null; then
    echo "graphviz: $(dot -V 2>&1), already here"
else
    echo "graphviz: installing Debian's package"
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends graphviz
    echo "graphviz: $(dot -V 2>&1)"
fi
