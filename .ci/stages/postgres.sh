#!/usr/bin/env bash
# Makes PostgreSQL's programs available to scripts/postgres. May be called any number of times. No server is started:
# scripts/postgres does that, for one command.
set -euo pipefail

server() { ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | sort -V | tail -1; }

if command -v postgres >/dev/null || [ -n "$(server)" ]; then
    echo "postgres: $("$(command -v postgres || server)" --version), already here"
else
    echo "postgres: installing Debian's package"
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql-common
    # The package would make a cluster of its own and start it.
    sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql
    echo "postgres: $("$(server)" --version)"
fi
