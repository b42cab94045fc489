#!/usr/bin/env bash
# A piped session with the hotel concierge answers: offers, a comparison, a goodbye.
set -euo pipefail

answer=$(printf 'a double room in Lisbon 3-6 July for 2 under 200 with wifi\ncompare the first two\nquit\n' |
    cargo run --quiet --package demos --bin hotel)
printf '%s\n' "$answer"
for word in Lisbon wifi price; do
    grep --quiet --ignore-case "$word" <<<"$answer" || { echo "the session does not mention '$word'"; exit 1; }
done
