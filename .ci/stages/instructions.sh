#!/usr/bin/env bash
# Counts the instructions that a unit of each workload executes (tests/benches/instructions) and compares them with
# .ci/instructions.txt: more than 5 % above fails, more than 5 % below says that the file should be tightened. With
# UPDATE_EXPECT=1 it writes the file instead. May be called any number of times.
#
# A unit is the difference of two sizes, so the start of the process is no part of it. Addresses are not random and the
# environment is empty; the C library chooses its functions as on a processor without vector instructions of 256 bits, so
# that processors agree. What stays are the seeds of hash maps, and threads that wait for each other: some tenths of a percent.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

expected=.ci/instructions.txt

if command -v valgrind >/dev/null; then
    echo "valgrind: $(valgrind --version), already here"
else
    echo "valgrind: installing Debian's package"
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends valgrind
    echo "valgrind: $(valgrind --version)"
fi

cargo build --profile bench --package behaviour-tests --bin instructions
target=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
program=$target/release/instructions

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# count NAME SIZE: the instructions of all threads of the process.
count() {
    local log=$folder/$1.$2
    if ! env -i PATH="$PATH" TMPDIR="$folder" GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-AVX,-ERMS,-FSRM \
        setarch -R valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" >"$log" 2>&1; then
        cat "$log" >&2
        return 1
    fi
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$log"
}

# One workload after the other on each processor; each writes "name unit count" into a file of its own.
measure() {
    local name=$1 unit=$2 small=$3 large=$4 per=$5 less more
    less=$(count "$name" "$small")
    more=$(count "$name" "$large")
    printf '%s\t%s\t%s\n' "$name" "$unit" $(((more - less + (large - small) * per / 2) / ((large - small) * per))) \
        >"$folder/$name.counted"
}
export -f count measure
export folder program
"$program" >"$folder/list"
tr '\t' '\n' <"$folder/list" | tr ' ' '_' |
    xargs -P "$(nproc)" -n 5 bash -euo pipefail -c 'measure "$1" "${2//_/ }" "$3" "$4" "$5"' measure
while IFS=$'\t' read -r name _; do cat "$folder/$name.counted"; done <"$folder/list" >"$folder/counted"

if [ "${UPDATE_EXPECT:-}" = 1 ]; then
    {
        echo "# Instructions a unit: workload, unit, count. Written by UPDATE_EXPECT=1 .ci/stages/instructions.sh"
        echo "# $(rustc --version)"
        cat "$folder/counted"
    } >"$expected"
    cat "$expected"
    exit
fi

awk -F '\t' '
    /^#/ { next }
    FILENAME == ARGV[1] { expected[$1] = $3; next }
    {
        counted[$1] = 1
        if (!($1 in expected)) { printf "%-20s %8d per %s: not in the file\n", $1, $3, $2; bad = 1; next }
        change = ($3 / expected[$1] - 1) * 100
        verdict = ""
        if (change > 5) { verdict = "  TOO MANY"; bad = 1 }
        if (change < -5) { verdict = "  fewer: tighten the file"; less = 1 }
        printf "%-20s %8d per %s, expected %d (%+.1f %%)%s\n", $1, $3, $2, expected[$1], change, verdict
    }
    END {
        for (name in expected) if (!(name in counted)) { printf "%-20s is in the file and was not counted\n", name; bad = 1 }
        if (bad || less) print "UPDATE_EXPECT=1 .ci/stages/instructions.sh writes what was counted into .ci/instructions.txt"
        exit bad
    }
' "$expected" "$folder/counted"
