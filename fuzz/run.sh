#!/usr/bin/env bash
# Runs fuzz targets in libFuzzer, from the repository's seeds: those named, or all. What fails is printed as base64, with the
# command that repeats it. Writes to target only.
#
#     fuzz/run.sh [--seconds 300] [--seed 1] [TARGET]...
#
# The seconds are for all targets together, and not for the build. A run of ten minutes or more is built as released.
# One seed tries the same inputs, as far as they get in the time.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=300 seed=1 targets=()
while [ $# -gt 0 ]; do
  case $1 in
  --seconds) seconds=$2 && shift ;;
  --seed) seed=$2 && shift ;;
  -*) echo "usage: fuzz/run.sh [--seconds N] [--seed N] [TARGET]..." >&2 && exit 2 ;;
  *) targets+=("$1") ;;
  esac
  shift
done
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls fuzz/seeds)

# Our own crates are instrumented; of the others it takes what was built for tests.
export CARGO_TARGET_DIR=$PWD/target/fuzz CARGO_BUILD_BUILD_DIR=$PWD/target CARGO_INCREMENTAL=0 RUSTC_WRAPPER=$PWD/fuzz/instrument
profile=dev folder=debug
if [ "$seconds" -ge 600 ]; then profile=release folder=release; fi
cargo build --quiet --locked --manifest-path fuzz/Cargo.toml --profile "$profile"
program=$CARGO_TARGET_DIR/$folder/fuzz

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# As much as a thread of the real program has.
ulimit -s 2048
each=$(((seconds + ${#targets[@]} - 1) / ${#targets[@]}))
failed=0
for target in "${targets[@]}"; do
  mkdir "$scratch/$target"
  if TARGET=$target "$program" "$scratch/$target" "fuzz/seeds/$target" -max_total_time="$each" -timeout=60 -seed="$seed" \
    -dict=fuzz/words.dict -artifact_prefix="$scratch/input-" >"$scratch/log" 2>&1; then
    echo "$target: $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$scratch/log") inputs in $each s"
    continue
  fi
  failed=1
  tail -n 40 "$scratch/log"
  for input in "$scratch"/input-*; do
    [ -e "$input" ] || continue
    echo "$target fails. To repeat it: base64 -d <<<$(base64 -w 0 "$input") >/tmp/input"
    echo "  TARGET=$target $program /tmp/input"
    rm "$input"
  done
done
exit "$failed"
