"""Random clusters: settings at every level, the same key at several of them, and all that is easily got wrong."""
from collections import namedtuple

PROVIDERS = ["capm3"] * 5 + ["capo"] * 3 + ["capv", "capd"]
# Bootstrap provider, versions that its images have, others.
BOOTSTRAP = {
    "cabpr": ["v1.31.8+rke2r1", "v1.30.12+rke2r1", "1.31.8+rke2r1"],
    "cabpk": ["v1.31.8", "v1.30.12"],
    "cabpck": ["1.31.6", "v1.31.6"],
    "cabpoa": ["v1.31.8"],
}
DISTRIBUTION = {"cabpr": "rke2", "cabpk": "kubeadm", "cabpck": "ck8s", "cabpoa": "openshift"}
ODD_VERSIONS = ["v1.31.8", "v1.31.8-rke2r1", "vv1.31.8+rke2r1", "v1.31.8+rke2r2", "v1.32.0+rke2r1", "1.31", "", None, 1.31, True, "v1x31y8+rke2r1"]
FACTS = ["os", "os-release", "flavor", "hardened", "k8s-flavor", "k8s-version", "commit-tag", "oci-image-registry-key"]
INVALID_PATTERNS = ["(?!x)", "u++", r"\Z", "noble(", "[z-a]", "*", r"(?P<a>x)\1"]
Context = namedtuple("Context", "random images cluster odd")


def chance(random, share):
    return random.random() < share


def pattern(random, text):
    """A pattern that matches a fact, or nearly."""
    return random.choice(
        [
            text,
            text,
            text.replace(".", r"\.").replace("+", r"\+"),
            f"({text}|other)",
            text[:2] + ".*",
            ".*",
            f"({text})?",
            text[:-1],
            text.upper(),
            f"(?i){text.upper()}",
            f"{text})|(zzz",
            text.replace("1", r"\d"),
            "[a-z]+",
            "//unset",
            "",
            random.choice(INVALID_PATTERNS),
        ]
    )


def wanted(context):
    """The facts of an image to be chosen: mostly one that fits the cluster."""
    random, images = context.random, list(context.images.items())
    version, flavor = context.cluster["version"], context.cluster["flavor"]
    bare = lambda text: str(text).removeprefix("v").replace("-rke2", "+rke2").split("+")[0]
    fitting = [one for one in images if bare(one[1].get("k8s-version")) == bare(version) and one[1].get("k8s-flavor") == flavor]
    if fitting and chance(random, 0.95):
        # One of them more often than the others, so that a key and a selector agree at times.
        return fitting[0] if chance(random, 0.5) else random.choice(fitting)
    return random.choice(images) if images else ("no-image", {"os": "ubuntu", "hardened": "true"})


def selector(context):
    random, (key, facts) = context.random, wanted(context)
    if chance(random, 0.08 * context.odd):
        return random.choice([None, {}, False, "", True, "os: ubuntu", [], 0])
    strings = {name: fact for name, fact in facts.items() if name in FACTS and isinstance(fact, str)}
    names = [name for name in ("os", "os-release", "hardened") if name in strings]
    found = {name: strings[name] for name in names if chance(random, 0.93)}
    for name in ("flavor", "commit-tag", "k8s-version", "k8s-flavor"):
        if name in strings and chance(random, 0.06):
            found[name] = strings[name].replace("+", random.choice([r"\+", "+"]))
    if "hardened" in found and chance(random, 0.6):
        found["hardened"] = found["hardened"] == "true"
    for name in list(found):
        if isinstance(found[name], str) and chance(random, 0.12):
            found[name] = pattern(random, found[name])
    if chance(random, 0.05):
        found["_os_images_key_"] = random.choice([key, ".*", key.replace("-", "."), "none"])
    if chance(random, 0.06):
        found["oci-image-registry-key"] = random.choice(["sylva", "lab", "s.*", ".*", "//unset", "own", False])
    if chance(random, 0.05):
        found[random.choice(["my-fact", "os-version", "image-format", "size", "Os", "uri"])] = random.choice([".*", "one", "raw", "//unset", True])
        if chance(random, 0.7):
            found["_use_extra_keys_"] = random.choice([True, False, "", "x", "yes"])
    elif chance(random, 0.02):
        found["_use_extra_keys_"] = random.choice([True, False, None, 1])
    if chance(random, 0.03 * context.odd):
        found[random.choice(FACTS)] = random.choice([15.6, 24, None, {}, ["noble"], {"a": "b"}, True])
    return found


def level(context, share):
    """The settings that one level gives for the provider."""
    random, found = context.random, {}
    if chance(random, share):
        found["os_image_selector"] = selector(context)
    if chance(random, share * 0.45):
        key = wanted(context)[0]
        key = random.choice([key] * 7 + ["no-such-image"])
        if chance(random, 0.15 * context.odd):
            key = random.choice(["", None, False, key.replace("-1-3", "-1.3")])
        # The proposal's name of the key means the same; where a level has both, Sylva's counts.
        found[random.choice(["image_key", "image_key", "os_image_key"])] = key
        if chance(random, 0.04):
            found = found | {"image_key": key, "os_image_key": "ubuntu-noble-plain-rke2-1-31-8"}
    if chance(random, 0.12):
        found["machine_image_url"] = random.choice(["http://images.example.org/a.raw"] * 3 + ["", None, False])
    if chance(random, 0.1):
        found["machine_image_format"] = "raw"
        found["networks"] = {"primary": {"interface": "bond0"}}
    return found


def holder(context, provider, share):
    """A part of the cluster with the provider's settings, and settings of another provider, which count for nothing."""
    random, found = context.random, {}
    if chance(random, 0.85):
        found[provider] = level(context, share)
    if chance(random, 0.15):
        found["capo" if provider == "capm3" else "capm3"] = level(context, 0.5)
    if chance(random, 0.04 * context.odd):
        found[provider] = random.choice([None, {}, "", []])
    if chance(random, 0.03):
        found["infra_provider"] = "capo"
    if chance(random, 0.04):
        found["k8s_version"] = "v1.29.1"
    return found


def templated(random, values):
    """Expressions instead of some texts; what they read is literal, so that the order of evaluation does not matter."""
    variables = {}

    def visit(node, depth):
        if isinstance(node, dict):
            return {key: visit(inner, depth + 1) for key, inner in node.items()}
        if isinstance(node, str) and chance(random, 0.35) and "{{" not in node:
            name = f"v{len(variables)}"
            variables[name] = node
            return random.choice(["{{ .Values.%s }}", "{{ .Values.%s | include \"preserve-type\" }}", "{{ printf \"%%s\" .Values.%s }}"]) % name
        if isinstance(node, bool) and chance(random, 0.5):
            name = f"v{len(variables)}"
            variables[name] = node
            return random.choice(["{{ .Values.%s }}", "{{ .Values.%s | include \"preserve-type\" }}", "{{ not .Values.%s }}"]) % name
        return node

    return values | {"cluster": visit(values["cluster"], 0)} | variables


def cluster(random, images, group):
    """The values of one cluster, as its own layer has them."""
    odd = 1.0 if group == "odd" else 0.15
    bootstrap = random.choice(["cabpr"] * 6 + ["cabpk"] * 3 + ["cabpck", "cabpoa"])
    version = random.choice(BOOTSTRAP[bootstrap])
    provider = random.choice(PROVIDERS)
    images = dict(random.sample(sorted(images.items()), len(images)))
    context = Context(random, images, {"version": version, "flavor": DISTRIBUTION[bootstrap]}, odd)
    if chance(random, 0.35 * odd):
        version = random.choice(ODD_VERSIONS)
    if chance(random, 0.1 * odd):
        bootstrap = random.choice(["cabpx", "", None, "rke2"])
    found = {"k8s_version": version, "capi_providers": {"infra_provider": provider, "bootstrap_provider": bootstrap}}
    for key in ("k8s_version", "capi_providers"):
        if chance(random, 0.03 * odd):
            del found[key]
    # The same keys at several levels are the rule here, so that a wrong order of levels shows.
    many = group == "levels"
    found |= {name: value for name, value in holder(context, provider, 0.8 if many else 0.85).items() if name not in ("infra_provider", "k8s_version")}
    if chance(random, 0.85 if many else 0.35):
        found["control_plane"] = holder(context, provider, 0.6 if many else 0.3)
    if chance(random, 0.9 if many else 0.3):
        found["machine_deployment_default"] = holder(context, provider, 0.7 if many else 0.3)
    names = ["md0", "md1", "md.x"][: random.choice([0, 1, 1, 2, 2, 3] if not many else [1, 1, 2, 2, 3])]
    deployments = {name: holder(context, provider, 0.6 if many else 0.3) for name in names}
    if names or chance(random, 0.5):
        found["machine_deployments"] = deployments
    for part in ("control_plane", "machine_deployment_default", "machine_deployments"):
        if chance(random, 0.03 * odd):
            found[part] = None
    if deployments and found.get("machine_deployments") and chance(random, 0.03 * odd):
        found["machine_deployments"] = deployments | {"md0": None}
    if chance(random, 0.2):
        found["os_image_selector_autoselect_registries"] = random.choice(["", "sylva", "lab", "(sylva|lab)", ".*", "//unset", "none", None, "sylva"])
    values = {"cluster": found}
    if chance(random, 0.3):
        additional = {f"s{number}": selector(context) for number in range(random.choice([1, 1, 2]))}
        values["os_image_server_additional_selectors"] = random.choice([additional] * 9 + [{} if odd < 1 else None])
    return templated(random, values) if group == "templated" else values


def empties(random, images):
    """Settings that are there and empty, in every form, over and under those that are not."""
    images = dict(random.sample(sorted(images.items()), len(images)))
    context = Context(random, images, {"version": "v1.31.8+rke2r1", "flavor": "rke2"}, 0)

    def settings():
        empty = lambda *more: random.choice([None, "", False, *more])
        found = {}
        for key in random.sample(["image_key", "os_image_key", "os_image_selector", "machine_image_url"], random.choice([1, 1, 2])):
            full = {"os_image_selector": lambda: selector(context), "machine_image_url": lambda: "http://images.example.org/a.raw"}
            is_full = chance(random, 0.45)
            found[key] = full.get(key, lambda: wanted(context)[0])() if is_full else empty(*([{}] if key == "os_image_selector" else []))
        return found

    level = lambda share: {"capm3": settings()} if chance(random, share) else {}
    found = {"k8s_version": "v1.31.8+rke2r1", "capi_providers": {"infra_provider": "capm3", "bootstrap_provider": "cabpr"}} | level(0.95)
    found |= {"control_plane": level(0.8), "machine_deployment_default": level(0.7)}
    found["machine_deployments"] = {name: level(0.8) for name in ("md0", "md1")}
    return {"cluster": found}


def versions(random, images):
    """Additional selectors that name a version in full, which an image's name has without its build."""
    found = {}
    for number in range(2):
        facts = random.choice([facts for facts in images.values() if facts["k8s-flavor"] != "openshift"])
        found[f"s{number}"] = {"os": facts["os"], "k8s-version": facts["k8s-version"].replace("+", r"\+"), "k8s-flavor": facts["k8s-flavor"]}
    infra = {"infra_provider": "capm3", "bootstrap_provider": "cabpr"}
    return {"cluster": {"k8s_version": "v1.31.8+rke2r1", "capi_providers": infra}, "os_image_server_additional_selectors": found}


def switches(random, info):
    """Entries of the builder's list as they were until 2025-03, and perhaps an image of the user's own."""
    some = random.sample(sorted(info), random.choice([1, 2, 3, 4]))
    flags = [{}, {"enabled": True}, {"enabled": False}, {"default_enabled": True}, {"default_enabled": False}]
    flags += [{"enabled": False, "default_enabled": True}, {"enabled": True, "default_enabled": False}]
    off = chance(random, 0.3)
    entries = {name: {"enabled": False} if off else dict(random.choice(flags)) for name in some}
    for entry in entries.values():
        entry["os_images_oci_registry"] = random.choice(["sylva", "lab"])
    # What a pool boots was not served for that.
    cluster = {"capi_providers": {"infra_provider": "capm3", "bootstrap_provider": "cabpr"}, "capm3": {"image_key": some[0]}}
    values = {"sylva_diskimagebuilder_images": entries, "cluster": cluster}
    if chance(random, 0.3):
        values["os_images"] = {"own-z": {"uri": "oci://own.example.org/own-z:1", "sha256": "00"}}
    return values
