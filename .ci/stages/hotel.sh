#!/usr/bin/env bash
# A piped session with the hotel concierge answers: offers, a comparison, a goodbye.
set -euo pipefail

answer=$(printf 'a double room in Lisbon 3-6 July for 2 under 200 with wifi\ncompare the first two\nquit\n' |
    cargo run --quiet --package demos --bin hotel)
printf '%s\n' "$answer"
# What the guest said is echoed, so only words of the answers count.
for words in '^I found [0-9]* hotels' '^ 1\. ' '^amenities ' '^distance ' '^Goodbye'; do
    grep --quiet "$words" <<<"$answer" || { echo "no line of the session matches '$words'"; exit 1; }
done
