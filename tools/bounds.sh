#!/bin/sh
# Usage: tools/bounds.sh lowest|newest [PYTEST ARGUMENT...]
# Runs the fast tests, and those of what compiles, saves and samples, in an environment that is
# thrown away: with the lowest versions that pyproject.toml allows of what it names, or with the
# newest that there are of what samples, beyond its upper bounds too.
set -eu

which=$1
shift
cd "$(dirname "$0")/.."
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

case $which in
lowest) python=3.12 ;;
newest) python=3.13 ;;
*)
    echo "tools/bounds.sh lowest|newest, got $which" >&2
    exit 2
    ;;
esac

sh tools/venv.sh "$made/tools"
"$made/tools/bin/python" -m pip install -qq uv
uv() { "$made/tools/bin/uv" --quiet "$@"; }
for one in "python$python" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$python".*/bin/python3; do
    "$one" -c '' 2>/dev/null && break
done
uv venv --python "$one" "$made/venv"

all="--extra covariates --extra data --extra plots --extra scale"
case $which in
lowest) # shellcheck disable=SC2086
    uv pip compile $all --no-deps --resolution lowest-direct --python-version "$python" \
        --output-file "$made/versions" pyproject.toml
    set -- --constraint "$made/versions" "$@"
    ;;
newest)
    printf '%s\n' pymc pytensor nutpie numba >"$made/versions"
    set -- --override "$made/versions" "$@"
    ;;
esac
kind=$1 versions=$2
shift 2
uv pip install --python "$made/venv" "$kind" "$versions" --group dev --editable '.[plots]'
uv pip freeze --python "$made/venv" | grep -iE '^(arviz|h5|numba|numpy|nutpie|pandas|pymc|pytensor|scipy|xarray)'

export MPLBACKEND=Agg PYTENSOR_FLAGS="base_compiledir=$made/compiled"
# old versions beside new ones deprecate each other
run() {
    PYTHONPATH=$PWD "$made/venv/bin/python" -m pytest -q --numprocesses 2 \
        -W ignore::DeprecationWarning -W ignore::FutureWarning "$@"
}
run -m "not sampling and not slow and not study" --dist worksteal "$@" tests
run -m "(sampling or slow) and not study" --dist loadfile "$@" \
    tests/compiled tests/test_storage.py tests/test_pymc_and_arviz.py
