#!/usr/bin/env bash
# Builds the real argocd-cmp-server and a client of it into the folder given, and prints the environment that tests find them by.
# Needs Go and its module proxy; takes some three minutes on two cores, and none where they are there already.
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
command -v go >/dev/null || exit 1
for program in server client; do
  if [ ! -x "$folder/argocd-cmp-$program" ] || [ go.mod -nt "$folder/argocd-cmp-$program" ] || [ "$program/main.go" -nt "$folder/argocd-cmp-$program" ]; then
    GOFLAGS="-mod=readonly -buildvcs=false" GOTOOLCHAIN=local go build -o "$folder/argocd-cmp-$program" "./$program" >&2
  fi
done
echo "export METALMARK_CMP_SERVER='$folder/argocd-cmp-server' METALMARK_CMP_CLIENT='$folder/argocd-cmp-client'"
