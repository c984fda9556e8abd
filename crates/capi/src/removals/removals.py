#!/usr/bin/env python3
"""Makes removals.tsv: the flags, feature gates, admission plugins and API versions that Kubernetes had and has no more.

    git clone --bare https://github.com/openshift/microshift && python3 removals.py microshift.git > removals.tsv

The source of Kubernetes is read as MicroShift carries it: one branch a minor, each with the code of every component. A name is
removed in a minor if its component registers it in an earlier one, and no file of options of a later one holds it. What a
release note says better than the code is in NOTES, with its address.
"""

import re
import subprocess
import sys

MINORS = {"1.23": "4.10.0-0.microshift-2022-09-08-132255", "1.24": "3b51810738"}
MINORS |= {f"1.{minor}": f"release-4.{minor - 13}" for minor in range(25, 37)}

# Of each component the folders whose files register its flags.
COMPONENTS = {
    "kubelet": ["cmd/kubelet/", "pkg/kubelet/config/", "pkg/credentialprovider/"],
    "kube-apiserver": ["cmd/kube-apiserver/", "pkg/kubeapiserver/options/", "pkg/controlplane/", "staging/apiserver/pkg/server/options/",
                       "staging/apiserver/pkg/util/feature/", "pkg/cloudprovider/"],
    "kube-controller-manager": ["cmd/kube-controller-manager/", "staging/controller-manager/", "staging/cloud-provider/",
                                "staging/apiserver/pkg/server/options/"],
    "kube-scheduler": ["cmd/kube-scheduler/", "staging/apiserver/pkg/server/options/"],
}
FLAG = re.compile(r'\b\w+\.(?:Bool|Duration|Float64|Int|Int32|Int64|IPNet|IP|String|StringArray|StringSlice|StringToString|Uint|Uint32|)'
                  r'(?:Var(?:P)?\(\s*[^"\n;]{1,200}?,\s*|(?<=flag\.String)\()"([a-z][a-z0-9-]+)"')
GATE = re.compile(r'\b[A-Za-z]\w*\s+(?:featuregate|utilfeature|feature)\.Feature\s*=\s*"([A-Z]\w+)"')
PLUGIN = re.compile(r'PluginName\s*=\s*"([A-Z][A-Za-z]+)"')
KUBEADM_GATE = re.compile(r'^\s*([A-Z]\w+)\s*=\s*"\1"', re.M)
VERSION = re.compile(r"pkg/scheduler/apis/config/(v\w+)/|staging/apiserver/pkg/apis/audit/(v\w+)/|cmd/kubeadm/app/apis/kubeadm/(v\w+)/")
GROUPS = ["kubescheduler.config.k8s.io", "audit.k8s.io", "kubeadm.k8s.io"]
# Code that no component calls any more.
DEAD = re.compile(r"deprecated_insecure_serving")
READ = re.compile(r"option|features?/|feature\w*\.go|admission|cmd/kubelet|pkg/kubelet/config/|credentialprovider|plugins\.go")

DAY = "2026-11-27"
PULL = "https://github.com/kubernetes/kubernetes/pull/"
KLOG = """add-dir-header alsologtostderr log-backtrace-at log-dir log-file log-file-max-size logtostderr one-output skip-headers
skip-log-headers stderrthreshold""".split()
NOTES = [("kube-apiserver", "flag", flag, "1.24", PULL + "106859") for flag in ["address", "insecure-bind-address", "insecure-port", "port"]]
# klog registers them, not a component.
NOTES += [(component, "flag", flag, "1.26", PULL + "112120") for component in COMPONENTS for flag in KLOG]
NOTES += [
    # The copy lacks it a minor earlier.
    ("kube-apiserver", "plugin", "PodSecurityPolicy", "1.25", PULL + "109798"),
    ("kubernetes", "version", "kubeadm.k8s.io/v1beta2", "1.27", PULL + "114540"),
]


def git(repository, *words, data=None):
    return subprocess.run(["git", "-C", repository, *words], input=data, capture_output=True, check=False).stdout


def read(repository, revision):
    """The Go files of a release: their paths in Kubernetes, each with its path there and its text."""
    copy = "deps/github.com/openshift/kubernetes/"
    is_copy = git(repository, "ls-tree", revision, copy + "cmd")
    root, staging = (copy, copy + "staging/src/k8s.io/") if is_copy else ("vendor/k8s.io/kubernetes/", "vendor/k8s.io/")
    files = []
    for line in git(repository, "ls-tree", "-r", revision, "--", root, staging).decode().splitlines():
        head, path = line.split("\t")
        if path.endswith("_test.go") or not path.endswith(".go"):
            continue
        if path.startswith(staging):
            name = "staging/" + path[len(staging):]
        if path.startswith(root) and not (is_copy and path.startswith(staging)):
            name = path[len(root):]
        files.append((name, path, head.split()[2]))
    wanted = [file for file in files if READ.search(file[0])]
    blobs = git(repository, "cat-file", "--batch", data="\n".join(blob for *_, blob in wanted).encode())
    texts, at = {name: (path, "") for name, path, _ in files}, 0
    for name, path, _ in wanted:
        end = blobs.index(b"\n", at)
        size = int(blobs[at:end].split()[2])
        texts[name] = (path, blobs[end + 1:end + 1 + size].decode(errors="replace"))
        at = end + 2 + size
    return texts


def names(texts):
    """What a release has: (component, what, name) and the path of a file with it."""
    found, words = {}, {}
    for name, (path, text) in sorted(texts.items()):
        if DEAD.search(name):
            continue
        for component, folders in COMPONENTS.items():
            if any(name.startswith(folder) for folder in folders):
                words.setdefault(component, set()).update(re.findall(r'"([a-z][a-z0-9-]+)"', text))
                for flag in FLAG.findall(text):
                    found.setdefault((component, "flag", flag), path)
        gates = KUBEADM_GATE.findall(text) if name.startswith("cmd/kubeadm/app/features") else []
        found |= {("kubeadm", "gate", gate): path for gate in gates}
        if "kubeadm" not in name:
            found |= {("kubernetes", "gate", gate): path for gate in GATE.findall(text)}
        if "admission" in name:
            found |= {("kube-apiserver", "plugin", plugin): path for plugin in PLUGIN.findall(text)}
        if match := VERSION.match(name):
            group = next(group for group, version in zip(GROUPS, match.groups()) if version)
            version = next(version for version in match.groups() if version)
            found.setdefault(("kubernetes", "version", f"{group}/{version}"), path)
    return found, words


def main():
    repository = sys.argv[1]
    releases = {minor: names(read(repository, revision)) for minor, revision in MINORS.items()}
    minors = list(MINORS)
    rows = {}
    for before, after in zip(minors, minors[1:]):
        later = minors[minors.index(after):]
        for row, path in releases[before][0].items():
            component, what, name = row
            # The copies of some minors lack kubeadm.
            if (what == "version" and "kubeadm" in name or component == "kubeadm") and after < "1.32":
                continue
            is_word = what == "flag" and any(name in releases[minor][1].get(component, ()) for minor in later)
            if not is_word and not any(row in releases[minor][0] for minor in later):
                revision = MINORS[before]
                rows[row] = (after, f"https://github.com/openshift/microshift/blob/{revision}/{path}")
    for component, what, name, minor, source in NOTES:
        rows[(component, what, name)] = (minor, source)
    print("# component\twhat\tname\tremoved in\tsource\tread on")
    for (component, what, name), (minor, source) in sorted(rows.items()):
        print(component, what, name, minor, source, DAY, sep="\t")


if __name__ == "__main__":
    main()
