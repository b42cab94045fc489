#!/usr/bin/env bash
# Installs Mermaid's parser from the lock file, and tells the test `pictures` by GRAPH_ENGINE_MERMAID where the checker
# is. To be sourced, any number of times. Called as a program, it only installs.
set -euo pipefail

mermaid_source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../mermaid" && pwd)
mermaid_target=${CARGO_TARGET_DIR:-$mermaid_source/../../target}/mermaid
mkdir -p "$mermaid_target"
mermaid_target=$(cd "$mermaid_target" && pwd)

# The copy of the lock file is made last, so it says what is installed completely.
cp "$mermaid_source/check.mjs" "$mermaid_target/"
if [[ -f $mermaid_target/installed-lock.json ]] &&
    cmp -s "$mermaid_source/package-lock.json" "$mermaid_target/installed-lock.json"; then
    echo "mermaid: already in $mermaid_target"
else
    echo "mermaid: installing into $mermaid_target"
    rm -f "$mermaid_target/installed-lock.json"
    cp "$mermaid_source"/{package.json,package-lock.json,.npmrc} "$mermaid_target/"
    (cd "$mermaid_target" && npm ci --ignore-scripts --no-audit --no-fund)
    cp "$mermaid_source/package-lock.json" "$mermaid_target/installed-lock.json"
fi

export GRAPH_ENGINE_MERMAID=$mermaid_target/check.mjs
echo "mermaid: GRAPH_ENGINE_MERMAID=$GRAPH_ENGINE_MERMAID"
