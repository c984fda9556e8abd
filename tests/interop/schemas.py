#!/usr/bin/env python3
"""Writes the schemas that are built in: `schemas.py FOLDER > crates/capi/src/schema/builtin.yaml.gz`.

FOLDER has CustomResourceDefinitions as `GROUP/PLURAL.yaml`, and a README.md whose tables name the repository and the commit of
each file. Taken are the kinds that are rendered, without descriptions, status and rules that need an earlier object; the same input gives the
same bytes. Needs PyYAML.
"""

import gzip
import json
import pathlib
import re
import sys

import yaml

INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
OTHERS = {
    ("kustomize.toolkit.fluxcd.io", "Kustomization"),
    ("helm.toolkit.fluxcd.io", "HelmRelease"),
    ("source.extensions.fluxcd.io", "ArtifactGenerator"),
    ("argoproj.io", "Application"),
}
MAPS = {"properties", "patternProperties"}
DROPPED = {"description", "title", "example", "externalDocs"}
KEPT_EXTENSIONS = {
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
}


def is_rendered(group, kind):
    of_provider = group.endswith(INFRASTRUCTURE) and (
        re.search("(MachineTemplate|Cluster|ClusterTemplate)$", kind) or kind == "ElementalRegistration"
    )
    return of_provider or (group, kind) in OTHERS


def rules(found):
    """Those of one object, with what is shown where one is broken."""
    kept = [rule for rule in found if "oldSelf" not in rule["rule"]]
    return [{key: rule[key] for key in ("rule", "message") if key in rule} for rule in kept]


def pruned(schema):
    if isinstance(schema, list):
        return [pruned(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {}
    for key, value in schema.items():
        if key in MAPS:
            found[key] = {name: pruned(below) for name, below in value.items()}
        elif key in ("default", "enum", "required"):
            found[key] = value
        elif key == "x-kubernetes-validations":
            if kept := rules(value):
                found[key] = kept
        elif key not in DROPPED and (not key.startswith("x-") or key in KEPT_EXTENSIONS):
            found[key] = pruned(value)
    return found


def sources(readme):
    """The repository and commit of each file, by its path."""
    repositories = dict(re.findall(r"^\| (\S+/\S+) \| ([0-9a-f]{40}) \|", readme, re.M))
    by_commit = {commit[:12]: (name, commit) for name, commit in repositories.items()}
    # One repository may have two commits.
    for name, commit in re.findall(r"^\| (\S+/\S+) \| ([0-9a-f]{40}) \|", readme, re.M):
        by_commit[commit[:12]] = (name, commit)
    rows = re.findall(r"^\| (\S+\.yaml) \| .*? \| (\S+) @ ([0-9a-f]{12}) \|", readme, re.M)
    return {path: (*by_commit[commit], source) for path, source, commit in rows}


def definition(document):
    spec = document["spec"]
    versions = []
    for version in spec["versions"]:
        if version.get("served", True):
            schema = pruned(version["schema"]["openAPIV3Schema"])
            schema.get("properties", {}).pop("status", None)
            versions.append({"name": version["name"], "schema": {"openAPIV3Schema": schema}})
    lines = [
        "kind: CustomResourceDefinition",
        "spec:",
        f"  group: {spec['group']}",
        "  names:",
        f"    kind: {spec['names']['kind']}",
        "  versions: " + json.dumps(versions, separators=(",", ":"), sort_keys=True),
    ]
    return "\n".join(lines) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    known = sources((folder / "README.md").read_text())
    parts = []
    for path in sorted(folder.glob("*/*.yaml")):
        document = yaml.safe_load(path.read_text())
        if is_rendered(document["spec"]["group"], document["spec"]["names"]["kind"]):
            repository, commit, source = known[str(path.relative_to(folder))]
            parts.append(f"# https://github.com/{repository}/blob/{commit}/{source}\n{definition(document)}")
    text = "---\n".join(parts)
    sys.stdout.buffer.write(gzip.compress(text.encode(), 9, mtime=0))


main()
