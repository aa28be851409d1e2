#!/usr/bin/env bash
# Makes .testenv/python, a Python with what programs of models use, and .testenv/uv.
. "$(dirname "$0")/lib"
part python "numpy pandas matplotlib pillow" venv python numpy pandas matplotlib pillow
