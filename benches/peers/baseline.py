#!/usr/bin/env python3
"""The benchmark's job as a careful script does it: PyYAML over libyaml, one process, each shared file parsed once.

    baseline.py FOLDER OUT

Reads FOLDER/values.yaml, FOLDER/os-images-info.yaml and FOLDER/clusters/*/values.yaml; finds each node pool's image by
key or by selector; refuses a Kubernetes version or flavor that the image does not hold; writes OUT/NAME.yaml with one
Metal3MachineTemplate a pool, named after its content. It does what the fleet needs and no more: no expressions, no
places in messages, one rule of metalmark's, nothing pruned. The objects are the ones that metalmark writes.
"""

import hashlib
import json
import os
import re
import sys

import yaml

try:
    from yaml import CSafeDumper as Dumper, CSafeLoader as Loader
except ImportError:
    sys.exit("PyYAML is here without libyaml")

FLAVORS = {"cabpr": "rke2", "cabpk": "kubeadm"}
URL = "https://os-images.example.org/"


def read(path):
    with open(path, "rb") as file:
        return yaml.load(file, Loader) or {}


def merge(below, above):
    """The values of one layer over another, maps key by key; what is not touched is shared."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


class Images:
    def __init__(self, images):
        self.images = images
        self.found = {}

    def named(self, key):
        if key not in self.images:
            raise ValueError(f"unknown image {key}")
        return self.images[key]

    def selected(self, selector):
        """The one image that a selector matches; patterns are anchored, answers are kept."""
        asked = tuple(sorted((key, text(value)) for key, value in selector.items()))
        if asked not in self.found:
            patterns = [(key, re.compile(pattern)) for key, pattern in asked]
            self.found[asked] = [
                image
                for image in self.images.values()
                if all(pattern.fullmatch(text(image.get(key, ""))) for key, pattern in patterns)
            ]
        found = self.found[asked]
        if len(found) != 1:
            raise ValueError(f"{len(found)} images match {selector}")
        return found[0]


def pools(cluster):
    """Each pool's name with its settings: the cluster's, then its own over them."""
    base = cluster.get("capm3", {})
    yield "control-plane", merge(base, cluster.get("control_plane", {}).get("capm3", {}))
    for name, pool in sorted(cluster.get("machine_deployments", {}).items()):
        yield name, merge(base, pool.get("capm3", {}))


def image_of(settings, version, flavor, images):
    if "image_key" in settings:
        image = images.named(settings["image_key"])
    else:
        selector = {"k8s-version": re.escape(version), "k8s-flavor": flavor}
        image = images.selected({**settings["os_image_selector"], **selector})
    if image["k8s-version"] != version or image["k8s-flavor"] != flavor:
        raise ValueError(f"the image holds {image['k8s-version']}, {version} is asked for")
    return image


def template(cluster, pool, settings, image, kind):
    fields = {
        "checksum": image["sha256"],
        "checksumType": kind,
        "format": image["image-format"],
        "url": URL + image["filename"],
    }
    spec = {"template": {"spec": {"hostSelector": settings.get("hostSelector", {}), "image": fields}}}
    content = json.dumps(spec, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(content.encode()).hexdigest()[:10]
    return {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
        "kind": "Metal3MachineTemplate",
        "metadata": {
            "name": f"{cluster}-{pool}-{digest}",
            "namespace": cluster,
            "labels": {"cluster.x-k8s.io/cluster-name": cluster},
        },
        "spec": spec,
    }


def write(path, content):
    temporary = path + ".tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(content)
    os.replace(temporary, path)


def main(folder, out):
    shared = read(f"{folder}/values.yaml")
    images = Images(read(f"{folder}/os-images-info.yaml")["os_images"])
    os.makedirs(out, exist_ok=True)
    errors = 0
    for name in sorted(os.listdir(f"{folder}/clusters")):
        values = merge(shared, read(f"{folder}/clusters/{name}/values.yaml"))
        cluster = values["cluster"]
        version = cluster["k8s_version"].removeprefix("v")
        flavor = FLAVORS[cluster["capi_providers"]["bootstrap_provider"]]
        kind = cluster["capm3"]["machine_image_checksum_type"]
        try:
            objects = [
                template(name, pool, settings, image_of(settings, version, flavor, images), kind)
                for pool, settings in pools(cluster)
            ]
        except ValueError as error:
            print(f"{name}: {error}", file=sys.stderr)
            errors += 1
            continue
        write(f"{out}/{name}.yaml", yaml.dump_all(objects, Dumper=Dumper, sort_keys=False))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
