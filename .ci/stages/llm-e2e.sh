#!/usr/bin/env bash
# The hotel with a real language model behind a real server: streamed tool calls, structured output, a gate that stops a
# model that can't do what is wanted, and the crash proof. Fails when the model can't be had.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
scripts/local-llm install
# Built before the server starts, which would only be slowed down.
cargo test --workspace --test llm_e2e --no-run
CI=true scripts/local-llm run cargo test --workspace --test llm_e2e -- --test-threads 1
