"""The image catalogs that the clusters of the oracle choose from.

Each is a dict: `values` (the catalog's layer of values, in metalmark's spelling), `info` (the annotations of built images as an
exported `os-images-info` has them) and `known` (what metalmark gets of `info`: all or nothing).
"""
URL = "oci://registry.example.org/os"
REGISTRIES = {
    "sylva": {"url": URL, "tag": "0.4.11", "cosign_publickey": "k"},
    "lab": {"url": "oci://lab.example.org:5000/a/b", "tag": "1.2", "cosign_publickey": "k"},
    "old.site": {"url": "oci://old.example.org", "tag": "0.4.12", "cosign_publickey": "k", "enabled": False},
}
# The builder's version is never a registry's tag, so that one taken for the other shows.
VERSION = "0.4.13"
BUILDS = {"rke2": "+rke2r1", "kubeadm": "", "ck8s": "", "openshift": ""}


def image(os, release, flavor, distribution, version, **facts):
    """An artifact's name and its annotations."""
    name = f"{os}-{release}-{flavor}-{distribution}-{version}".replace(".", "-")
    annotations = {
        "os": os,
        "os-release": release,
        "flavor": flavor,
        "hardened": "true" if flavor == "hardened" else "false",
        "k8s-flavor": distribution,
        "k8s-version": version + BUILDS[distribution],
        "commit-tag": "0.4.11",
        "image-format": "raw",
    }
    return name, annotations | facts


def builder():
    """What the builder publishes: Ubuntu and openSUSE, three distributions, two minors."""
    found = []
    for version in ("1.30.12", "1.31.8"):
        for distribution in ("rke2", "kubeadm"):
            found += [image("ubuntu", "noble", flavor, distribution, version) for flavor in ("plain", "hardened")]
        found += [image("opensuse", "15.6", flavor, "rke2", version) for flavor in ("plain", "hardened")]
        found.append(image("ubuntu", "jammy", "plain", "rke2", version))
    found += [image("ubuntu", "noble", "plain", "ck8s", "1.31.6"), image("rhcos", "4.18", "plain", "openshift", "1.31.8")]
    return dict(found)


def named(facts, name):
    """The facts with those that only the builder's name has."""
    of_name = ("os", "os-release", "flavor", "hardened", "k8s-flavor")
    return {key: fact for key, fact in builder().get(name, {}).items() if key in of_name} | facts


def built(info, registry=lambda name: "sylva"):
    return {name: {"os_images_oci_registry": registry(name)} for name in info}


def every():
    """All catalogs by name."""
    lists, version = "sylva_diskimagebuilder_images", "sylva_diskimagebuilder_version"
    all_built = builder()
    base = {"os_images_oci_registries": REGISTRIES, version: VERSION}
    plain = lambda info, **more: {"values": base | {lists: built(info)} | more, "info": info, "known": True}

    catalogs = {"builder": plain(all_built)}

    # Annotations of other releases: a build behind `-`, a leading `v`, no build at all, no annotation `hardened`.
    other = dict(all_built)
    for name, facts in all_built.items():
        text = facts["k8s-version"]
        if "noble-plain" in name:
            other[name] = facts | {"k8s-version": text.replace("+", "-")}
        elif "noble-hardened" in name:
            other[name] = facts | {"k8s-version": "v" + text}
        elif "opensuse" in name:
            other[name] = facts | {"k8s-version": text.split("+")[0]}
        else:
            other[name] = {key: fact for key, fact in facts.items() if key not in ("hardened", "commit-tag")}
    catalogs["other spellings"] = plain(other)

    # Several registries: two of them have the same image under other names, one is switched off.
    twins = {}
    for name, facts in all_built.items():
        if "noble" in name:
            twins |= {name: facts, "lab-" + name: facts | {"commit-tag": "1.2"}, "old-" + name: facts}
    registry = lambda name: {"lab": "lab", "old": "old.site"}.get(name.split("-")[0], "sylva")
    catalogs["registries"] = {"values": base | {lists: built(twins, registry)}, "info": twins, "known": True}

    # The user's own images beside built ones; an own image has what its entry says, and nothing else.
    own = {
        "own-a": all_built["ubuntu-noble-plain-rke2-1-31-8"] | {"os": "debian", "uri": "oci://own.example.org/x/own-a:1"},
        "own-b": {"uri": "https://own.example.org/b.qcow2", "os": "debian", "k8s-version": "1.31.8", "k8s-flavor": "kubeadm"},
        "img-a": {"uri": f"{URL}/img-a:7", "os": "arch", "os-release": "", "hardened": "yes", "oci-image-registry-key": "own"},
        "imgxa": {"uri": f"{URL}/imgxa:7", "os": "arch", "my-fact": "one", "k8s-version": "1x31y8", "k8s-flavor": "rke2"},
        "img-flag": {"uri": f"{URL}/img-flag:7", "os": "gentoo", "hardened": True, "k8s-version": "1.31.8+rke2r1", "k8s-flavor": "rke2"},
    }
    catalogs["own"] = {"values": {"os_images": own}, "info": {}, "known": True}
    some = {name: facts for name, facts in all_built.items() if "1-31" in name}
    catalogs["own and built"] = plain(some, os_images=own)

    # Facts that are no strings stop the library where it reaches them.
    mistyped = {
        "num-a": {"uri": f"{URL}/num-a:1", "os": "ubuntu", "os-release": 24.04, "hardened": "false", "k8s-flavor": "rke2", "k8s-version": "1.31.8+rke2r1"},
        "num-b": {"uri": f"{URL}/num-b:1", "os": "debian", "os-release": "trixie", "hardened": False, "k8s-flavor": "rke2", "k8s-version": 1.31},
        "num-c": {"uri": f"{URL}/num-c:1", "os": "arch", "os-release": "x", "hardened": None, "k8s-flavor": "rke2", "k8s-version": "1.31.8+rke2r1"},
        "num-d": {"uri": f"{URL}/num-d:1", "os": "gentoo", "os-release": "x", "k8s-flavor": "rke2", "k8s-version": "1.31.8+rke2r1", "my-fact": ["x"]},
    }
    catalogs["mistyped"] = {"values": {"os_images": mistyped}, "info": {}, "known": True}

    # metalmark gets the names alone; the library gets annotations that say what the names say, and the build.
    told = lambda facts: {key: fact for key, fact in facts.items() if key not in ("commit-tag", "image-format")}
    catalogs["names alone"] = plain({name: told(facts) for name, facts in all_built.items()}) | {"known": False}

    # Names with dots, as the builder wrote them until 2024-02: metalmark writes dashes in their keys.
    dotted = {}
    for name, facts in all_built.items():
        version = facts["k8s-version"].split("+")[0]
        dotted[name.replace(version.replace(".", "-"), version)] = facts
    catalogs["dotted names"] = plain(dotted)

    # The proposal's names of the list and of the version.
    catalogs["proposal"] = {
        "values": {"os_images_oci_registries": REGISTRIES, "diskimage_builder_version": VERSION, "diskimage_builder_os_images": built(all_built)},
        "info": all_built,
        "known": True,
    }
    nobody = dict(list(all_built.items())[:6])
    catalogs["unknown registry"] = {"values": base | {lists: built(nobody, lambda name: "nobody")}, "info": nobody, "known": True}
    catalogs["empty"] = {"values": {}, "info": {}, "known": True}
    return catalogs
