#!/usr/bin/env python3
"""Writes the fields that one version of a kind has and the other lacks: `fields.py FOLDER > crates/capi/src/fields/fields.tsv`.

FOLDER has the CustomResourceDefinitions of Cluster API and its kubeadm providers as `GROUP/PLURAL.yaml`. A field is listed where its parent
is in both versions. What a field is called instead is in the table below, by the end of its path, as Cluster API's conversion
functions (`api/core/v1beta1/conversion.go` and those of the providers) write it; it is an error if the other version lacks that too.
Needs PyYAML.
"""

import pathlib
import sys

import yaml

GROUPS = ("cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io")
VERSIONS = ("v1beta1", "v1beta2")
SOURCE = "https://github.com/kubernetes-sigs/cluster-api, v1.14.2 (no field of v1.11.0 is gone), read on 2026-11-28"

# The end of a path in v1beta1, and what it is in v1beta2. The first that fits counts.
RENAMED = [
    ("topology.class", "topology.classRef.name"),
    ("topology.classNamespace", "topology.classRef.namespace"),
    ("topology.rolloutAfter", ""),
    ("machineTemplate.infrastructureRef", "machineTemplate.spec.infrastructureRef"),
    ("machineTemplate.readinessGates", "machineTemplate.spec.readinessGates"),
    ("machineTemplate.taints", "machineTemplate.spec.taints"),
    *[
        (f"machineTemplate.{name}", f"machineTemplate.spec.deletion.{name}Seconds")
        for name in ("nodeDeletionTimeout", "nodeDrainTimeout", "nodeVolumeDetachTimeout")
    ],
    *[
        (name, f"deletion.{name}Seconds")
        for name in ("nodeDeletionTimeout", "nodeDrainTimeout", "nodeVolumeDetachTimeout")
    ],
    ("Ref.apiVersion", "Ref.apiGroup"),
    ("machineHealthCheck", "healthCheck"),
    ("controlPlane.ref", "controlPlane.templateRef"),
    ("nfrastructure.ref", "nfrastructure.templateRef"),
    ("spec.infrastructureNamingStrategy", "spec.infrastructure.naming"),
    ("machineNamingStrategy", "machineNaming"),
    ("namingStrategy", "naming"),
    ("spec.deletePolicy", "spec.deletion.order"),
    ("bootstrapTokens[].ttl", "bootstrapTokens[].ttlSeconds"),
    ("clusterConfiguration.apiServer.timeoutForControlPlane", "initConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds"),
    ("joinConfiguration.discovery.timeout", "joinConfiguration.timeouts.tlsBootstrapSeconds"),
    ("spec.maxUnhealthy", "spec.remediation.triggerIf.unhealthyLessThanOrEqualTo"),
    ("spec.unhealthyRange", "spec.remediation.triggerIf.unhealthyInRange"),
    ("spec.nodeStartupTimeout", "spec.checks.nodeStartupTimeoutSeconds"),
    ("spec.unhealthyConditions", "spec.checks.unhealthyNodeConditions"),
    ("spec.unhealthyMachineConditions", "spec.checks.unhealthyMachineConditions"),
    ("spec.remediationTemplate", "spec.remediation.templateRef"),
    ("spec.remediationStrategy", "spec.remediation"),
    ("spec.minReadySeconds", "spec.template.spec.minReadySeconds"),
    ("external.generateExtension", "external.generatePatchesExtension"),
    ("external.validateExtension", "external.validateTopologyExtension"),
    ("spec.rolloutAfter", "spec.rollout.after"),
    ("spec.rolloutBefore", "spec.rollout.before"),
    ("spec.rolloutStrategy", "spec.rollout.strategy"),
    ("strategy", "rollout.strategy"),
    ("machineDeployments[].template", "machineDeployments[].infrastructure"),
    ("machinePools[].template", "machinePools[].infrastructure"),
]


def fields(schema, path=""):
    """The paths of all fields, and of those whose keys are the user's."""
    found, free = set(), set()
    if "properties" in schema and "x-kubernetes-preserve-unknown-fields" not in schema:
        for key, below in schema["properties"].items():
            own = f"{path}.{key}" if path else key
            found.add(own)
            for kind, more in zip((found, free), fields(below, own)):
                kind |= more
    elif "items" in schema:
        return fields(schema["items"], f"{path}[]")
    elif schema.get("type") == "object":
        free.add(path)
    return found, free


def above(path):
    parts = path.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def rename(path, pairs, known):
    for old, new in pairs:
        # `Ref` and `nfrastructure` are ends of words.
        if f".{path}".endswith(f".{old}") or path.endswith(old) and old.startswith(("Ref", "nfra")):
            instead = path[: len(path) - len(old)] + new
            if new and instead in known:
                return instead
    return ""


def rows(definition):
    kind = definition["spec"]["names"]["kind"]
    schemas = {one["name"]: one["schema"]["openAPIV3Schema"] for one in definition["spec"]["versions"]}
    if not set(VERSIONS) <= set(schemas):
        return
    spec = {version: fields({"properties": {"spec": schemas[version]["properties"]["spec"]}}) for version in VERSIONS}
    for version, other in (VERSIONS, VERSIONS[::-1]):
        (own, free), (others, _) = spec[version], spec[other]
        lacking = {path for path in others - own if not any(it.replace("[]", "") in {f.replace("[]", "") for f in free} for it in above(path))}
        pairs = RENAMED if version == "v1beta2" else [(new, old) for old, new in RENAMED if new]
        for path in sorted(lacking):
            instead = rename(path, pairs, own)
            # One below another that lacks is reported with that one, unless it has a name of its own.
            if not instead and any(it in lacking or it.removesuffix("[]") in lacking for it in above(path)):
                continue
            yield kind, version, path, instead


def main():
    folder = pathlib.Path(sys.argv[1])
    print("# kind\tthe version that lacks it\tfield\twhat that version has instead\t" + SOURCE)
    for group in GROUPS:
        for path in sorted((folder / group).glob("*.yaml")):
            definition = yaml.safe_load(path.read_text())
            kind = definition["spec"]["names"]["kind"]
            if group == "cluster.x-k8s.io" or kind.startswith("Kubeadm"):
                for row in rows(definition):
                    print("\t".join(row))


main()
