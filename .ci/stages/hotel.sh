#!/usr/bin/env bash
# A piped session with the hotel concierge answers: offers, a comparison, a goodbye. Twice in a row it says the same, and
# what was killed goes on.
set -euo pipefail

repository=$PWD
CARGO_TARGET_DIR=$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR
# Conversations are kept in the working folder: this one is new, as on a fresh machine.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

session() {
    printf 'a double room in Lisbon 3-6 July for 2 under 200 with wifi\ncompare the first two\nquit\n' |
        cargo run --quiet --manifest-path "$repository/Cargo.toml" --package demos --bin hotel
}
answer=$(session)
printf '%s\n' "$answer"
# What the guest said is echoed, so only words of the answers count.
for words in '^I found [0-9]* hotels' '^ 1\. ' '^amenities ' '^distance ' '^Goodbye'; do
    grep --quiet "$words" <<<"$answer" || { echo "no line of the session matches '$words'"; exit 1; }
done
[[ -s hotel.sqlite ]] || { echo "the session was not kept in hotel.sqlite"; exit 1; }
[[ $(session) == "$answer" ]] || { echo "the second session said something else"; exit 1; }

# Killed at an open question, the next start asks it again and books once.
hotel=$CARGO_TARGET_DIR/debug/hotel
mkfifo guest
"$hotel" --today 2026-06-10 --thread killed <guest >said &
program=$!
exec 3>guest
printf 'Lisbon 3-6 July for 2\nbook the first\nyes\n' >&3
for _ in {1..200}; do
    grep --quiet '^Please say yes or no' said 2>/dev/null && break
    sleep 0.1
done
kill -9 "$program"
wait "$program" || true
exec 3>&-
answer=$(printf 'yes\n' | "$hotel" --today 2026-06-10 --thread killed)
printf '%s\n' "$answer"
grep --quiet '^Your reference is GX-' <<<"$answer" || { echo "the killed talk did not go on"; exit 1; }
