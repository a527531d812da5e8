#!/bin/sh
# Usage: [THIRD=0|1|2|all] tools/checks.sh DIR [PYTEST ARGUMENT...]
# Every check that CI makes, cheapest first, with the tools of the virtual environment DIR. Stops at
# the first that fails; types are checked beside the first tests, and told of at the end.
# "tools/checks.sh DIR --lint" leaves the tests out.
set -u

bin=$1/bin
shift

step() {
    name=$1
    shift
    printf '\n== %s: %s\n' "$name" "$*"
    begin=$(date +%s)
    if ! "$@"; then
        printf '== %s FAILED after %d s\n' "$name" $(($(date +%s) - begin)) >&2
        exit 1
    fi
    printf '== %s passed in %d s\n' "$name" $(($(date +%s) - begin))
}

step lint "$bin/ruff" check .
step format "$bin/ruff" format --check .
step imports "$bin/lint-imports" --no-logo
if [ "${1:-}" = --lint ]; then
    step types "$bin/mypy"
    exit 0
fi
types=$(mktemp)
trap 'rm -f "$types"' EXIT
"$bin/mypy" >"$types" 2>&1 &
mypy=$!

# Chains and processes use the cores already: threads of matrix products would wait for each other.
export MKL_NUM_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# Tests start a hundred processes: without files of bytecode each would compile the package anew.
unset PYTHONDONTWRITEBYTECODE

# Tests (slow ones too), notebooks, README and the examples of docstrings live in tests/.
# Two processes share them, and what either compiles the other finds on disk. Those that compile have
# two of their own: what compilers leave in memory would add to what tables do.
# Coverage is not measured: it takes half as much time again and fails no run (PYTEST=--cov does, and
# adds both up).
# Of a slow test with many settings a third is run, which the commit names; all where THIRD=all, where
# pytest is told what to run, and where nothing is committed.
[ $# = 0 ] || THIRD=${THIRD:-all}
commit=$(git rev-parse --short=6 HEAD 2>/dev/null) || THIRD=${THIRD:-all}
THIRD=${THIRD:-$((0x$commit % 3))}
[ "$THIRD" = all ] || set -- --third "$THIRD" "$@"
# pytest prints its own time, so that its closing line closes the run where types are right.
tests=5 # what pytest says where it was asked for no test, as may be so of one of the two
run() {
    printf '\n== tests: pytest %s\n' "$*"
    "$bin/python" -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations=100 "$@" tests
    ended=$?
    case $ended in
    0) [ "$tests" != 5 ] || tests=0 ;;
    5) ;;
    *) tests=$ended ;;
    esac
}
run -m "not sampling and not study" "$@"
run -m "sampling and not study" --cov-append "$@"
if ! wait "$mypy"; then
    cat "$types"
    printf '== types FAILED\n' >&2
    exit 1
fi
exit "$tests"
