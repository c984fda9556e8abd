#!/usr/bin/env bash
# Builds kustomize-controller and helm-controller of Flux into the folder given, and prints the environment that tests find them
# by. Needs Go with its module proxy. METALMARK_INTEROP_FLUX=no leaves them out.
set -euo pipefail
[ "${METALMARK_INTEROP_FLUX:-}" != no ] || exit 1
command -v go >/dev/null || exit 1
folder=$(mkdir -p "$1/flux" && cd "$1/flux" && pwd)
cd "$(dirname "$0")"
export GOFLAGS="-mod=readonly -buildvcs=false -trimpath" GOTOOLCHAIN=local CGO_ENABLED=0

for name in kustomize-controller helm-controller; do
  version=$(awk -v module="github.com/fluxcd/$name" '$1 == module && $2 { print $2; exit }' go.mod)
  program=$folder/$name-$version/$name
  if [ ! -x "$program" ]; then
    go mod download "github.com/fluxcd/$name"
    # With our decryptor instead of its own.
    scratch=$(mktemp -d)
    cp go.mod go.sum "$scratch"
    cp -r "$(go list -m -f '{{.Dir}}' "github.com/fluxcd/$name")" "$scratch/source"
    chmod -R u+w "$scratch/source"
    if [ -d "$scratch/source/internal/decryptor" ]; then
      rm -r "$scratch/source/internal/decryptor"
      cp -r decryptor "$scratch/source/internal/"
    fi
    go mod edit -replace="github.com/fluxcd/$name=$scratch/source" "$scratch/go.mod"
    go build -modfile="$scratch/go.mod" -ldflags="-s -w" -o "$program.part" "github.com/fluxcd/$name" >&2
    mv "$program.part" "$program"
    rm -rf "$scratch"
  fi
  variable=METALMARK_$(echo "$name" | tr 'a-z-' 'A-Z_')
  echo "export $variable='$program'"
done
