#!/usr/bin/env bash
# Builds Argo CD's programs in one (argocd-repo-server, argocd-application-controller, argocd-applicationset-controller,
# argocd-cmp-server: it is the one that it is started as) and a client of the last into the folder given, and prints the
# environment that tests find them by. The repo-server runs a script of Argo CD's image, which is put beside them. Needs Go and
# its module proxy. METALMARK_INTEROP_ARGOCD=no leaves them out.
set -euo pipefail
[ "${METALMARK_INTEROP_ARGOCD:-}" != no ] || exit 1
command -v go >/dev/null || exit 1
folder=$(mkdir -p "$1/argocd" && cd "$1/argocd" && pwd)
cd "$(dirname "$0")"
export GOFLAGS="-mod=readonly -buildvcs=false -trimpath" GOTOOLCHAIN=local CGO_ENABLED=0
for name in server client; do
  program=$folder/$name
  if [ ! -x "$program" ]; then
    go build -ldflags='-s -w' -o "$program.part" "./$name" >&2
    mv "$program.part" "$program"
  fi
done
if [ ! -x "$folder/git-verify-wrapper.sh" ]; then
  go mod download github.com/argoproj/argo-cd/v3
  install "$(go list -m -f '{{.Dir}}' github.com/argoproj/argo-cd/v3)/hack/git-verify-wrapper.sh" "$folder/"
fi
echo "export METALMARK_ARGOCD='$folder/server' METALMARK_CMP_CLIENT='$folder/client'"
