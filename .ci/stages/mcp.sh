#!/usr/bin/env bash
# Installs the protocol's own server for tests from the lock file, and tells the test `everything` by
# GRAPH_ENGINE_MCP_EVERYTHING where its program is. To be sourced, any number of times. Called as a program, it only
# installs. The test starts the server, on a free port of 127.0.0.1, and stops it by its process id.
set -euo pipefail

mcp_source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../mcp" && pwd)
mcp_target=${CARGO_TARGET_DIR:-$mcp_source/../../target}/mcp-everything
mkdir -p "$mcp_target"
mcp_target=$(cd "$mcp_target" && pwd)

# The copy of the lock file is made last, so it says what is installed completely.
if [[ -f $mcp_target/installed-lock.json ]] &&
    cmp -s "$mcp_source/package-lock.json" "$mcp_target/installed-lock.json"; then
    echo "mcp: already in $mcp_target"
else
    echo "mcp: installing into $mcp_target"
    rm -f "$mcp_target/installed-lock.json"
    cp "$mcp_source"/{package.json,package-lock.json,.npmrc} "$mcp_target/"
    (cd "$mcp_target" && npm ci --ignore-scripts --no-audit --no-fund)
    cp "$mcp_source/package-lock.json" "$mcp_target/installed-lock.json"
fi

export GRAPH_ENGINE_MCP_EVERYTHING=$mcp_target/node_modules/@modelcontextprotocol/server-everything/dist/index.js
echo "mcp: GRAPH_ENGINE_MCP_EVERYTHING=$GRAPH_ENGINE_MCP_EVERYTHING"
