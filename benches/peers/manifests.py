#!/usr/bin/env python3
"""The look-ups of a check of plain manifests as a careful script does them: PyYAML over libyaml, one process.

    manifests.py FOLDER

Reads all YAML below FOLDER; follows each control plane and MachineDeployment to the nearest machine template that it names;
compares the version in the image's name with the pool's; prints the pools that it compared. No kustomizations, no ClusterClasses,
no variables, no places.
"""

import os
import re
import sys

import yaml

try:
    from yaml import CSafeLoader as Loader
except ImportError:
    sys.exit("PyYAML is here without libyaml")

VERSION = re.compile(r"v?(\d+\.\d+\.\d+)")


def objects(root):
    for folder, _, files in os.walk(root):
        for file in files:
            if file.endswith((".yaml", ".yml")):
                with open(os.path.join(folder, file), "rb") as text:
                    if b"cluster.x-k8s.io" not in (content := text.read()):
                        continue
                for document in yaml.load_all(content, Loader):
                    if isinstance(document, dict) and "kind" in document:
                        yield folder, document


def at(node, *path):
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node


def main(root):
    pools, templates = [], {}
    for folder, document in objects(root):
        kind = document["kind"]
        if kind.endswith("MachineTemplate"):
            templates.setdefault((kind, at(document, "metadata", "name")), {})[folder] = document
        elif kind.endswith("ControlPlane"):
            pools.append((folder, at(document, "spec", "version"), at(document, "spec", "machineTemplate", "infrastructureRef")))
        elif kind == "MachineDeployment":
            spec = at(document, "spec", "template", "spec")
            pools.append((folder, at(spec, "version"), at(spec, "infrastructureRef")))
    compared = wrong = 0
    for folder, version, reference in pools:
        known = templates.get((at(reference, "kind"), at(reference, "name")), {})
        while folder not in known and folder != root:
            folder = os.path.dirname(folder)
        url = at(known.get(folder), "spec", "template", "spec", "image", "url") or ""
        held = VERSION.search(url.rsplit("/", 1)[-1].partition("K8S_")[2])
        if held and version:
            compared += 1
            wrong += held.group(1) != version.lstrip("v")
    print(f"{compared} pools, {wrong} mismatched")


main(sys.argv[1])
