#!/usr/bin/env bash
# Builds kube-apiserver and finds or unpacks etcd into the folder given, and prints the environment that tests find them by.
# Needs Go with its module proxy, and Debian's packages where etcd is not installed. The build takes 8 minutes of CPU; that of
# apiextensions-apiserver alone, which serves CRDs and no Secrets, would take 5.
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")"
version=$(awk '$1 == "k8s.io/kubernetes" { print substr($2, 2); exit }' go.mod)

etcd=$(command -v etcd || echo "$folder/etcd/usr/bin/etcd")
if [ ! -x "$etcd" ]; then
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || exit 1
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  # Unpacked, not installed: the package would start a server.
  (cd "$scratch" && { apt-get download -qq etcd-server || { apt-get update -qq && apt-get download -qq etcd-server; }; }) >&2
  dpkg-deb -x "$scratch"/etcd-server_*.deb "$folder/etcd.part"
  rm -rf "$folder/etcd" && mv "$folder/etcd.part" "$folder/etcd"
fi

program="$folder/kube-apiserver-$version"
if [ ! -x "$program" ]; then
  command -v go >/dev/null || exit 1
  said=k8s.io/component-base/version
  IFS=. read -r major minor _ <<<"$version"
  GOFLAGS="-mod=readonly -buildvcs=false -trimpath" GOTOOLCHAIN=local CGO_ENABLED=0 go build -o "$program.part" \
    -ldflags="-s -w -X $said.gitVersion=v$version -X $said.gitMajor=$major -X $said.gitMinor=$minor" \
    k8s.io/kubernetes/cmd/kube-apiserver >&2
  mv "$program.part" "$program"
fi
echo "export METALMARK_ETCD='$etcd' METALMARK_KUBE_APISERVER='$program'"
