#!/usr/bin/env bash
# Builds a program that answers what the admission webhooks of Cluster API say, into the folder given, and prints the environment
# that tests find it by. Needs Go with its module proxy. METALMARK_CAPM3 names a checkout of cluster-api-provider-metal3, whose
# webhooks it has then too: that module is not on the proxy. METALMARK_INTEROP_WEBHOOKS=no leaves it out.
set -euo pipefail
[ "${METALMARK_INTEROP_WEBHOOKS:-}" != no ] || exit 1
command -v go >/dev/null || exit 1
folder=$(mkdir -p "$1/webhooks" && cd "$1/webhooks" && pwd)
cd "$(dirname "$0")"
export GOFLAGS="-mod=readonly -buildvcs=false -trimpath" GOTOOLCHAIN=local CGO_ENABLED=0
program=$folder/webhooks${METALMARK_CAPM3:+-with-capm3}
if [ ! -x "$program" ]; then
  if [ -n "${METALMARK_CAPM3:-}" ]; then
    # Its webhooks are internal packages, which only its own module can import.
    scratch=$(mktemp -d)
    trap 'chmod -R u+w "$scratch" && rm -rf "$scratch"' EXIT
    cp -r "$METALMARK_CAPM3" "$scratch/capm3"
    mkdir "$scratch/capm3/reviews"
    cp main.go _capm3/capm3.go "$scratch/capm3/reviews"
    (cd "$scratch/capm3" && GOFLAGS="-mod=mod -buildvcs=false -trimpath" go build -ldflags="-s -w" -o "$program.part" ./reviews) >&2
  else
    go build -ldflags="-s -w" -o "$program.part" . >&2
  fi
  mv "$program.part" "$program"
fi
echo "export METALMARK_WEBHOOKS='$program'"
