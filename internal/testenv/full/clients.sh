#!/usr/bin/env bash
# Makes .testenv/clients, the HTTP clients of Python that the table of docs/network.md
# names.
. "$(dirname "$0")/../lib"
clients=(requests==2.33.1 'httpx[http2]==0.28.1' aiohttp==3.14.1)
need keytool default-jdk-headless >/dev/null 2>&1
need curl curl >/dev/null 2>&1
need git git >/dev/null 2>&1
part clients "${clients[*]}" venv clients "${clients[@]}"
