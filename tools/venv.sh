#!/bin/sh
# Usage: tools/venv.sh DIR
# Makes a virtual environment in DIR with the first Python that can hold it, or says what to install.
# Does nothing where DIR already holds one that works.
set -u

dir=$1

# Prints the interpreter's own path when it fits: a CPython in range that can make a virtual
# environment with pip in it (Debian ships venv and ensurepip apart from python3) and has the GIL
# (numba needs it). It is run, not looked at, because a pyenv shim exists even where it leads nowhere.
fits() {
    "$1" -c '
import sys, sysconfig, ensurepip, venv
fits = (3, 12) <= sys.version_info[:2] < (3, 15) and sys.implementation.name == "cpython"
if not fits or sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit(1)
print(sys.executable)' 2>/dev/null
}

candidates() {
    printf '%s\n' python3 python3.14 python3.13 python3.12
    for root in "${PYENV_ROOT:-}" "${HOME:-}/.pyenv"; do
        for minor in 3.13 3.14 3.12; do
            printf '%s\n' "$root/versions/$minor".*/bin/python3
        done
    done
}

find_python() {
    candidates | while read -r candidate; do
        fits "$candidate" && break
    done
}

# An environment that works stays, whoever made it (uv leaves pip out of those it makes).
if fits "$dir/bin/python" >/dev/null; then
    "$dir/bin/python" -m pip --version >/dev/null 2>&1 || "$dir/bin/python" -m ensurepip >/dev/null
    exit
fi
rm -rf "$dir"

python=$(find_python)
if [ -n "$python" ]; then
    echo "Making $dir with $python"
    "$python" -m venv "$dir" || exit 2
elif command -v uv >/dev/null 2>&1 && uv venv --quiet --seed --python 3.13 "$dir"; then
    echo "Made $dir with uv"
else
    echo "bayesjudge needs Python 3.12, 3.13 or 3.14 with venv and pip: apt install python3-venv" \
        "(Debian 13 or later), pyenv install 3.13, or install uv (https://docs.astral.sh/uv), then" \
        "run make again." >&2
    exit 2
fi

