#!/usr/bin/env python3
"""Holds metalmark to what real helm makes of a checkout of sylva-core.

    tests/interop/sylva_core.py CHECKOUT [FOLDER …] [--helm helm] [--kubectl kubectl] [--metalmark target/debug/metalmark]

Every folder of environment-values and environment-values/workload-clusters whose name holds capm3 or capo (or those named) is
built by `kubectl kustomize`; the values that its HelmRelease composes go through the checkout's own template files in a chart
that prints them, which takes `helm template` seconds rather than half a minute. The same folder goes through metalmark, in
both evaluations. Printed is a line a folder; the exit status is 1 where anything differs.

A workload cluster gets what its management cluster would tell it at run time: that of the folder with the same name, or else
of rke2-capm3. The checkout is only read; scratch files go to a folder of their own.
"""
import argparse, base64, json, os, shutil, subprocess, sys, tempfile

import yaml

# What exists at run time only, and the management cluster's value that it holds.
STATE = {
    ("ConfigMap", "mgmt-cluster-state-values"): "mgmt_cluster_state_values",
    ("ConfigMap", "shared-workload-clusters-settings"): "shared_workload_clusters_values",
    ("Secret", "shared-workload-clusters-settings"): "shared_workload_clusters_secret_values",
}
FIELDS = ["image_key", "os_image_selector", "machine_image_url", "machine_image_format", "machine_image_checksum", "machine_image_checksum_type"]
WHOLE = "{{- $all := set . \"Values\" (include \"interpret-values-gotpl\" . | fromJson) -}}\n{{- dict \"v\" .Values \"i\" %s | toJson }}\n"
# Where a folder's placeholders make the whole run fail: only what images need, evaluated by the same template files.
PARTS = """{{- $_ := set .Values "unit_templates" dict -}}
{{- $_ := set .Values._internal "state" (index (tuple . .Values._internal.state | include "interpret-inner-gotpl" | fromJson) "result") -}}
{{- $c := .Values.cluster -}}
{{- $infra := index (tuple . $c.capi_providers.infra_provider | include "interpret-inner-gotpl" | fromJson) "result" -}}
{{- $pools := dict -}}
{{- range $name, $pool := $c.machine_deployments -}}
{{- $_ := set $pools $name (dict $infra (pick (dig $infra dict $pool | default dict) FIELDS)) -}}
{{- end -}}
{{- $part := pick $c "k8s_version" "capi_providers" -}}
{{- $_ := set $part $infra (pick (dig $infra dict $c | default dict) FIELDS) -}}
{{- range $level := list "control_plane" "machine_deployment_default" -}}
{{- $_ := set $part $level (dict $infra (pick (dig $level $infra dict $c | default dict) FIELDS)) -}}
{{- end -}}
{{- $_ := set $part "machine_deployments" $pools -}}
{{- $values := dict "cluster" $part "sylva_diskimagebuilder_images" .Values.sylva_diskimagebuilder_images STATE -}}
{{- dict "v" (index (tuple . $values | include "interpret-inner-gotpl" | fromJson) "result") "i" %s | toJson }}
"""
IMAGES = '(include "generate-os-images" . | fromYaml)'


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    return done.stdout, done.stderr if done.returncode else None


class Truth:
    """What real programs make of one checkout."""

    def __init__(self, options, scratch):
        self.options, self.scratch, self.known = options, scratch, {}

    def values(self, folder):
        if folder not in self.known:
            self.known[folder] = self.evaluate(folder)
        return self.known[folder]

    def objects(self, folder):
        text, error = run(self.options.kubectl, "kustomize", os.path.join(self.options.checkout, "environment-values", folder))
        if error:
            raise RuntimeError("kustomize: " + error.strip()[:300])
        # Only the objects are read here; values stay text, for helm to read.
        return [one for one in yaml.load_all(text, Loader=yaml.CSafeLoader) if one]

    def layers(self, folder):
        """The chart's values files, what stands over them, and the namespace."""
        objects = self.objects(folder)
        release = next(one for one in objects if one["kind"] == "HelmRelease")
        data = {}
        for one in objects:
            if one["kind"] in ("ConfigMap", "Secret"):
                texts = dict(one.get("data") or {})
                if one["kind"] == "Secret":
                    texts = {key: base64.b64decode(text).decode() for key, text in texts.items()} | (one.get("stringData") or {})
                data[one["kind"], one["metadata"]["name"]] = texts
        user = []
        for item in release["spec"].get("valuesFrom") or []:
            found = data.get((item["kind"], item["name"]))
            key = item.get("valuesKey", "values.yaml")
            if found is not None:
                if item.get("targetPath"):
                    raise RuntimeError("targetPath is not asked for here")
                if key not in found:
                    raise RuntimeError(f"{item['kind']} {item['name']} has no key {key}")
                user.append(found[key])
            elif (item["kind"], item["name"]) in STATE:
                user.append(json.dumps(self.state(folder, STATE[item["kind"], item["name"]])))
        user.append(json.dumps(release["spec"].get("values") or {}))
        namespace = release["spec"].get("targetNamespace") or release["metadata"].get("namespace", "default")
        spec = release["spec"]["chart"]["spec"]
        return [os.path.join(self.options.checkout, file) for file in spec["valuesFiles"]], user, namespace

    def states(self, folder):
        """Every object of the run time that a workload cluster is told."""
        if "workload-clusters" not in folder:
            return {}
        known = self.values(management(self.options.checkout, folder))[0]
        return {told: known.get(value) or {} for told, value in STATE.items()}

    def state(self, folder, value):
        return self.values(management(self.options.checkout, folder))[0].get(value) or {}

    def evaluate(self, folder):
        chart_files, user, namespace = self.layers(folder)
        merged = self.template("merge", "{{ .Values | toJson }}", "{}", chart_files, namespace)
        files = []
        for number, text in enumerate(user):
            files.append(os.path.join(self.scratch, f"user-{number}.yaml"))
            with open(files[-1], "w") as out:
                out.write(text)
        state = " ".join(f'"{key}" .Values.{key}' for key in STATE.values())
        parts = PARTS.replace("FIELDS", " ".join(f'"{field}"' for field in FIELDS))
        attempts = {"whole": WHOLE, "parts, with state": parts.replace("STATE", state), "parts": parts.replace("STATE", "")}
        errors = []
        for way, text in attempts.items():
            for images in (IMAGES, "dict"):
                try:
                    both = self.template("all", text % images, json.dumps(merged), files, namespace, True)
                except RuntimeError as error:
                    errors.append(str(error))
                    continue
                if "Error" in both["i"]:
                    # At some commits a list without images is not YAML (T16).
                    return both["v"], None, way + ", its list of images is not YAML", errors
                return both["v"], next(iter(both["i"].values()), {}) or {}, way, errors
        raise RuntimeError(errors[-1])

    def template(self, name, template, values, files, namespace, with_helpers=False):
        chart = os.path.join(self.scratch, name)
        shutil.rmtree(chart, ignore_errors=True)
        os.makedirs(os.path.join(chart, "templates"))
        source = os.path.join(self.options.checkout, "charts/sylva-units")
        write = lambda path, text: open(os.path.join(chart, path), "w").write(text)
        write("Chart.yaml", "apiVersion: v2\nname: sylva-units\nversion: 0.0.1\n")
        write("values.yaml", values)
        write("templates/out.yaml", template)
        if with_helpers:
            for file in os.listdir(os.path.join(source, "templates")):
                if file.endswith(".tpl"):
                    shutil.copy(os.path.join(source, "templates", file), os.path.join(chart, "templates"))
            if os.path.isdir(os.path.join(source, "charts")):
                shutil.copytree(os.path.join(source, "charts"), os.path.join(chart, "charts"))
        overrides = [part for file in files for part in ("-f", file)]
        text, error = run(self.options.helm, "template", "sylva-units", chart, "-n", namespace, *overrides)
        if error:
            raise RuntimeError("helm: " + error.strip()[-600:])
        start = text.index("{")
        return json.loads(text[start:])


def management(checkout, folder):
    name = os.path.basename(folder.rstrip("/"))
    return name if os.path.isdir(os.path.join(checkout, "environment-values", name)) else "rke2-capm3"


def flat(value, path=""):
    """A choice's fields, one a path, as metalmark tells them."""
    if isinstance(value, dict):
        return {key: leaf for part, below in value.items() for key, leaf in flat(below, f"{path}.{part}" if path else part).items()}
    return {} if value is None else {path: json.dumps(value) if isinstance(value, bool) else value}


def levels(values):
    """Where real values choose an image: each level's path, with the fields that it sets."""
    cluster = values.get("cluster") or {}
    infra = ((cluster.get("capi_providers") or {}).get("infra_provider")) or ""
    get = lambda *path: __import__("functools").reduce(lambda at, key: (at or {}).get(key) if isinstance(at, dict) else None, path, cluster)
    paths = [(infra,), ("control_plane", infra), ("machine_deployment_default", infra)]
    paths += [("machine_deployments", name, infra) for name in cluster.get("machine_deployments") or {}]
    found = {}
    for path in paths:
        fields = flat({field: value for field, value in (get(*path) or {}).items() if field in FIELDS})
        if fields:
            found["cluster." + ".".join(path)] = fields
    return found


def theirs(truth, folder):
    values, images, _, _ = truth.values(folder)
    return {
        "k8s_version": (values.get("cluster") or {}).get("k8s_version"),
        "levels": levels(values),
        "images": images and {key: entry.get("uri") for key, entry in images.items()},
    }


def has_switches(values):
    """Whether the catalog is of the time when `enabled` and `default_enabled` said what is served (up to 2025-03)."""
    images = (values.get("sylva_diskimagebuilder_images") or {}).values()
    return any({"enabled", "default_enabled"} & set(image or {}) for image in images)


def ours(options, folder, evaluation, only_served, states):
    """The same of metalmark: nodes with the state worked out from the management cluster, images with the state as files."""
    name = os.path.basename(folder)
    entry = {"name": name, "values": [f"environment-values/{folder}"]}
    base = {"version": 1, "evaluation": evaluation, "helm": int(options.major)}
    worked_out, given = dict(base, clusters=[entry]), dict(base, clusters=[entry])
    files = {"metalmark-given.yaml": given, "metalmark-worked-out.yaml": worked_out}
    if "workload-clusters" in folder:
        other = management(options.checkout, folder)
        told = dict(entry, name="workload-" + name, management=other)
        worked_out["clusters"] = [told, {"name": other, "values": [f"environment-values/{other}"]}]
        given["state"] = {}
        for number, ((kind, object_name), state) in enumerate(states.items()):
            files[f"metalmark-state-{number}.json"] = state
            given["state"][f"{kind}/{object_name}"] = f"metalmark-state-{number}.json"
    paths = {os.path.join(options.checkout, file): content for file, content in files.items()}
    ask = lambda project, *words: run(options.metalmark, "--project", os.path.join(options.checkout, project), *words, "--output", "json")
    try:
        for path, content in paths.items():
            with open(path, "w") as out:
                json.dump(content, out)
        explained, failed = ask("metalmark-worked-out.yaml", "explain", worked_out["clusters"][0]["name"])
        listed, unlisted = ask("metalmark-given.yaml", "images")
    finally:
        for path in paths:
            os.remove(path)
    pools = json.loads(explained) if explained.strip() else []
    found = {}
    for pool in pools:
        for level in pool["levels"]:
            found.setdefault(level["path"], {}).update({field: told["value"] for field, told in level["sets"].items()})
    version = next((pool["k8s_version"]["value"] for pool in pools if pool["k8s_version"]), None)
    images = {image["key"]: image["uri"] for image in json.loads(listed or "[]") if image["served"] or not only_served}
    return {"k8s_version": version, "levels": found, "images": images}, (failed or "") + (unlisted or "")


def folders(checkout):
    home = os.path.join(checkout, "environment-values")
    for below in ("", "workload-clusters"):
        for name in sorted(os.listdir(os.path.join(home, below))):
            folder = os.path.join(below, name)
            is_cluster = os.path.isdir(os.path.join(home, folder)) and not name.startswith("base")
            if is_cluster and ("capm3" in name or "capo" in name):
                yield folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--helm", default="helm")
    parser.add_argument("--kubectl", default="kubectl")
    parser.add_argument("--metalmark", default="target/debug/metalmark")
    options = parser.parse_args()
    options.checkout, options.metalmark = map(os.path.abspath, (options.checkout, options.metalmark))
    version = run(options.helm, "version", "--template", "{{.Version}}")[0]
    options.major = "4" if version.startswith("v4") else "3"
    same = different = 0
    with tempfile.TemporaryDirectory() as scratch:
        truth = Truth(options, scratch)
        for folder in options.folders or folders(options.checkout):
            try:
                wanted = theirs(truth, folder)
            except RuntimeError as error:
                print(f"{folder:40} not built by the real programs: {error}")
                continue
            for evaluation in ("lazy", "exact"):
                only_served = has_switches(truth.values(folder)[0])
                got, told = ours(options, folder, evaluation, only_served, truth.states(folder))
                wrong = [part for part in wanted if wanted[part] is not None and got[part] != wanted[part]]
                same, different = (same + 1, different) if not wrong else (same, different + 1)
                shape = f"{wanted['k8s_version']}, {len(wanted['levels'])} levels, {len(wanted['images'] or {})} images ({truth.values(folder)[2]})"
                print(f"{folder:40} {evaluation:6} {'equal    ' if not wrong else 'DIFFERENT'} {shape}", flush=True)
                for part in wrong:
                    print(f"    {part}\n      helm      {json.dumps(wanted[part])[:1500]}\n      metalmark {json.dumps(got[part])[:1500]}")
                if wrong and told:
                    print("    " + told.strip()[:1500].replace("\n", "\n    "))
    print(f"{same} equal, {different} different")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
