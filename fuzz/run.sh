#!/usr/bin/env bash
# Runs all fuzz targets from the repository's seeds, in SECONDS together (300). What fails is printed as base64, with the
# command that repeats it. Writes to target/fuzz only.
set -euo pipefail
cd "$(dirname "$0")/.."
# libFuzzer needs options of the compiler that a stable one has too, behind this variable.
export RUSTC_BOOTSTRAP=1
if ! command -v cargo-fuzz >/dev/null && ! cargo install --quiet --locked cargo-fuzz; then
  echo "skipped: fuzzing, for cargo-fuzz is not installed and cannot be"
  exit
fi
cargo metadata --quiet --locked --format-version 1 --manifest-path fuzz/Cargo.toml >/dev/null
folder=$PWD/target/fuzz
# Unoptimized: built in minutes, and overflows are checked. Each of the targets contains the whole program: without symbols.
export CARGO_PROFILE_DEV_DEBUG=none CARGO_PROFILE_DEV_STRIP=symbols CARGO_INCREMENTAL=0
cargo fuzz build --dev --sanitizer none --target-dir "$folder"
mapfile -t targets < <(cargo fuzz list)
seconds=$(((${1:-300} + ${#targets[@]} - 1) / ${#targets[@]}))
programs=$folder/$(rustc -vV | sed -n 's/^host: //p')/debug
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# As much as a thread of the real program has.
ulimit -s 2048
failed=0
for target in "${targets[@]}"; do
  mkdir "$scratch/$target"
  if "$programs/$target" "$scratch/$target" "fuzz/seeds/$target" -max_total_time="$seconds" -timeout=60 -seed=1 \
    -dict=fuzz/words.dict -artifact_prefix="$scratch/input-" >"$scratch/log" 2>&1; then
    echo "$target: $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$scratch/log") inputs in $seconds s"
    continue
  fi
  failed=1
  tail -n 40 "$scratch/log"
  for input in "$scratch"/input-*; do
    echo "$target fails. To repeat it: base64 -d <<<$(base64 -w 0 "$input") >/tmp/input"
    echo "  RUSTC_BOOTSTRAP=1 cargo fuzz run --dev --sanitizer none $target /tmp/input"
    rm "$input"
  done
done
exit "$failed"
