"""Records what Sylva's own library selects for random clusters: fixtures/oracle/selection.jsonl.

    python3 tests/interop/selection CHECKOUT [--helm3 helm] [--helm4 helm] [--seed N] [--cases N] [--out FILE]

CHECKOUT is a git clone of sylva-core with all its branches, bare or not; it is only read. The clusters are random and of our own
making, the same for the same seed. Every answer is Sylva's: the library in two versions, and the chart's own list of images,
through `helm lint`, which renders like `helm template` and goes on after a failure.
"""
import argparse, collections, json, os, random, re, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import catalogs, clusters
from ask import Chart

MAIN = "fd968edcf883a7d74df352e86c88a4d2788aa3be"
LIBRARIES = {"0.3.5": MAIN, "0.9.0": "d5970156961cf6c6615bec2f05ec22a8fade954d"}
# The last list of images that looked at `enabled`.
SWITCHED = "8f772a5ec^"
# Clusters of each group, of 100.
GROUPS = {"levels": 26, "selectors": 22, "odd": 14, "templated": 8, "spellings": 6, "registries": 6, "own": 8, "names": 5, "dotted": 2, "proposal": 3}
CATALOGS = {
    "spellings": ["other spellings"],
    "registries": ["registries", "registries", "registries", "unknown registry"],
    "own": ["own", "own and built", "mistyped", "empty"],
    "names": ["names alone"],
    "dotted": ["dotted names"],
    "proposal": ["proposal"],
    "odd": ["builder", "builder", "other spellings", "own", "mistyped", "empty"],
    "switched": ["builder"],
}
BATCH = 30
LISTS = {"diskimage_builder_os_images": "sylva_diskimagebuilder_images", "diskimage_builder_version": "sylva_diskimagebuilder_version"}
DEFAULTS = {"os_images": {}, "os_images_oci_registries": {}, "sylva_diskimagebuilder_images": {}, "sylva_diskimagebuilder_version": "", "os_image_server_additional_selectors": {}}


def make(seed, count):
    """The clusters, each with its group, its catalog and its own layer of values."""
    known, rng, cases = catalogs.every(), random.Random(seed), []
    weights = list(GROUPS.values())
    for number in range(count):
        group = rng.choices(list(GROUPS), weights)[0]
        catalog = rng.choice(CATALOGS.get(group, ["builder"]))
        images = known[catalog]["info"] | known[catalog]["values"].get("os_images", {})
        values = clusters.cluster(rng, images, group)
        if group == "registries":
            values |= {"os_images_oci_registries": rng.choice([{}, {"lab": {"enabled": False}}, {"sylva": {"tag": "9.9"}}, {"old.site": {"enabled": True}}, {"lab": {"url": "oci://else.example.org/c"}}])}
            values |= rng.choice([{}, {"sylva_diskimagebuilder_version": "0.4.14"}])
        cases.append({"id": f"{group}-{number:04}", "catalog": catalog, "values": values})
    for number in range(count // 40):
        values = clusters.switches(rng, known["builder"]["info"])
        cases.append({"id": f"switched-{number:04}", "catalog": "switched", "values": values})
    for number in range(count // 9):
        values = clusters.empties(rng, known["builder"]["info"])
        cases.append({"id": f"empties-{number:04}", "catalog": "builder", "values": values})
    for number in range(count // 72):
        values = clusters.versions(rng, known["names alone"]["info"])
        cases.append({"id": f"names-{count + number:04}", "catalog": "names alone", "values": values})
    known["switched"] = {"values": {"os_images_oci_registries": catalogs.REGISTRIES, "sylva_diskimagebuilder_version": catalogs.VERSION}, "info": {}, "known": True}
    return known, cases


def over(lower, upper):
    """One layer over another, as Helm merges `-f` files."""
    if not (isinstance(lower, dict) and isinstance(upper, dict)):
        return upper
    return lower | {key: over(lower[key], value) if key in lower else value for key, value in upper.items()}


def upstream(node):
    """The values in Sylva's words alone: the proposal's name of an image key is Sylva's, unless that is there too."""
    if not isinstance(node, dict):
        return node
    found = {LISTS.get(key, key): upstream(value) for key, value in node.items()}
    if "os_image_key" in found:
        key = found.pop("os_image_key")
        found.setdefault("image_key", key)
    return found


VERSION = re.compile(r"v*(\d+)\\?\.(\d+)\\?\.(\d+)(?:(?:[-+]|\\\+|\\-)(rke2r\d+))?")


def one_spelling(node, key="", cluster=("k8s_version",)):
    """The same values with every Kubernetes version spelled alike: no `v`, the build behind `+`, which selectors escape."""
    if isinstance(node, dict):
        version = node.get("cluster", {}).get("k8s_version") if isinstance(node.get("cluster"), dict) else None
        if isinstance(version, str):
            cluster += tuple(re.findall(r"\.Values\.(v\d+)", version))
        return {name: one_spelling(value, name, cluster) for name, value in node.items()}
    is_version = key == "k8s-version" or key in cluster or re.fullmatch(r"v\d+", key)
    match = VERSION.fullmatch(node) if isinstance(node, str) and is_version else None
    if not match:
        return node
    build = match[4] and ("+" if key in cluster else "\\+") + match[4]
    return ".".join(match.group(1, 2, 3)) + (build or "")


def facts_alike(facts, name):
    """An image's facts with its version spelled like all others, and what its annotations leave out as its name has it."""
    version = {"k8s-version": one_spelling(facts.get("k8s-version"), "k8s_version")} if "k8s-version" in facts else {}
    return catalogs.named(facts, name) | version


def pools(cluster):
    """Each pool with the levels above the cluster's, in their order."""
    found = {"control-plane": [["control_plane"]]}
    deployments = cluster.get("machine_deployments")
    for name in sorted(deployments) if isinstance(deployments, dict) else []:
        found[name] = [["machine_deployment_default"], ["machine_deployments", name]]
    return found


def images(entries, case, info):
    """What the library is given: the list that the chart makes, with the annotations of built images, as the job `os-images-info` joins them."""
    lists, found = case["values"]["sylva_diskimagebuilder_images"], {}
    for key, entry in (entries or {}).items():
        facts = dict(info.get(key, {})) if "sylva_dib_image" in entry else {}
        if facts:
            facts["oci-image-registry-key"] = lists[key]["os_images_oci_registry"]
        found[key] = facts | {name: value for name, value in entry.items() if name not in ("sylva_dib_image", "cosign_publickey")}
    return found


def queries(case):
    """What the library is asked of one case: its pools, then all of it."""
    values, found = case["values"], []
    ask = lambda what, **more: found.append({"id": f"{case['id']}/{what}/{more.get('name', '')}", "case": case["id"], "what": what} | more)
    paths = pools(values["cluster"])
    for name, path in paths.items():
        ask("pool", name=name, path=path)
    ask("selectors", paths=list(paths.values()))
    ask("served")
    for name in values["os_image_server_additional_selectors"] or {}:
        ask("additional", name=name)
    return found


def ask(chart, helm, cases, lists, queries):
    """All answers to the queries of these cases, in batches, two at a time."""
    def part(start):
        some = cases[start : start + BATCH]
        batch = {"cases": {case["id"]: case for case in some}, "images": {case["images"]: lists[case["images"]] for case in some if lists}}
        return chart.ask(helm, batch | {"queries": [query for case in some for query in queries(case)]})

    with ThreadPoolExecutor(2) as threads:
        parts = threads.map(part, range(0, len(cases), BATCH))
        return {query: answer for answers in parts for query, answer in answers.items()}


def ask_all(chart, helm, cases, lists):
    """The answers to all queries. Where a template stops at a pool, it would stop at the whole cluster too: that is not asked."""
    is_part = lambda query: query["what"] in ("pool", "additional")
    answers = ask(chart, helm, cases, lists, lambda case: list(filter(is_part, queries(case))))
    stops = lambda case: any(answers.get(query["id"], {}).get("error") == "template" for query in queries(case))
    whole = [case for case in cases if not stops(case)]
    return answers | ask(chart, helm, whole, lists, lambda case: [query for query in queries(case) if not is_part(query)])


def record(case, answers):
    """The answers to one case, as the fixture has them."""
    found = {"pools": {}, "additional": {}}
    for query in queries(case):
        if query["id"] not in answers:
            continue
        answer, name = answers[query["id"]], query.get("name")
        said = answer.get("answer", {})
        if query["what"] == "pool":
            url = {"url": True} if said.get("url") else {}
            found["pools"][name] = {"image": said["key"]} | url if said.get("key") else url if "answer" in answer else answer
        elif query["what"] == "selectors":
            if said and (said["selectors"] or []) != (said["each"] or []):
                raise RuntimeError(f"{case['id']}: the levels are not merged as the library merges them: {said}")
            found["selectors"] = said["selectors"] or [] if said else answer
        elif query["what"] == "additional":
            found["additional"][name] = said.get("keys", answer)
        else:
            found["served"] = said.get("keys", answer)
    return {key: value for key, value in found.items() if value or key != "additional"}


def differing(answers, usual):
    """The answers that are not the usual ones."""
    return {key: answers.get(key) for key in sorted(answers | usual) if answers.get(key) != usual.get(key)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--helm3", default="helm")
    parser.add_argument("--helm4")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--cases", type=int, default=2160)
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "../../../fixtures/oracle/selection.jsonl"))
    options = parser.parse_args()
    known, made = make(options.seed, options.cases)
    for case in made:
        case["layer"], case["templated"] = case["values"], case["id"].startswith("templated")
        case["values"] = over(DEFAULTS, upstream(over(known[case["catalog"]]["values"], case["layer"])))
        touched = set(case["layer"]) - {"cluster", "os_image_server_additional_selectors"}
        case["images"] = case["id"] if touched and not case["templated"] else case["catalog"]
    with tempfile.TemporaryDirectory() as scratch:
        chart = lambda name, library, templates: Chart(os.path.join(scratch, name), options.checkout, (library, LIBRARIES[library]), {"": MAIN} | templates)
        charts = {library: chart(library, library, {}) for library in LIBRARIES}
        first = {case["images"]: case for case in made}
        listed, one = {}, lambda case: [{"id": case["images"], "case": case["id"], "what": "images"}]
        for switched, of in [(False, charts["0.9.0"]), (True, chart("switched", "0.3.5", {"_os-images.tpl": SWITCHED}))]:
            some = [case for case in first.values() if (case["catalog"] == "switched") == switched]
            listed |= ask(of, options.helm3, some, None, one)
        lists = {name: images(listed[name].get("answer", {}).get("os_images"), case, known[case["catalog"]]["info"]) for name, case in first.items()}
        asked = [case for case in made if case["catalog"] != "switched"]
        answers = {}
        for library in LIBRARIES:
            for helm in filter(None, (options.helm3, options.helm4)):
                answers[library, helm] = ask_all(charts[library], helm, asked, lists)
        spelled = [case | {"values": one_spelling(case["values"])} for case in asked]
        alike = {name: {key: facts_alike(facts, key) for key, facts in images.items()} for name, images in lists.items()}
        answers["normalized"] = ask_all(charts["0.9.0"], options.helm3, spelled, alike)
    write(options, known, made, first, listed, answers)


def references(answer):
    """The references of the images that the chart lists; with nothing to list, its text was no YAML at times."""
    said = answer.get("answer", {})
    if "os_images" in said:
        return {key: entry["uri"] for key, entry in (said["os_images"] or {}).items()}
    return {"error": "not-yaml"} if said else answer


def write(options, known, made, first, listed, answers):
    line = lambda data: json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n"
    counts = collections.Counter()
    with open(options.out, "w") as out:
        for name, catalog in known.items():
            info = {"info": catalog["info"]} if catalog["known"] and catalog["info"] else {}
            out.write(line({"catalog": name, "values": catalog["values"]} | info | ({"images": references(listed[name])} if name in first else {})))
        for case in made:
            data = {"id": case["id"], "catalog": case["catalog"], "values": case["layer"]}
            if case["images"] == case["id"]:
                data["images"] = references(listed[case["id"]])
            if case["catalog"] != "switched":
                usual = record(case, answers["0.9.0", options.helm3])
                data["answers"] = usual
                other = {"0.3.5": record(case, answers["0.3.5", options.helm3]), "normalized": record(case, answers["normalized"])}
                if options.helm4:
                    for library in LIBRARIES:
                        four, three = (record(case, answers[library, helm]) for helm in (options.helm4, options.helm3))
                        if four != three:
                            raise RuntimeError(f"{case['id']}: Helm 3 and 4 differ under {library}: {differing(four, three)}")
                for name, recorded in other.items():
                    if name == "0.3.5" and isinstance(recorded.get("selectors"), list) and isinstance(usual.get("selectors"), list):
                        added = lambda own, old: {key: value for key, value in own.items() if key in old or key != "oci-image-registry-key"}
                        if recorded["selectors"] == [added(*both) for both in zip(usual["selectors"], recorded["selectors"])]:
                            recorded["selectors"] = usual["selectors"]
                    if recorded != usual:
                        data[name] = differing(recorded, usual)
                for answer in usual["pools"].values():
                    counts["image" if "image" in answer else answer.get("error", "url" if answer else "none")] += 1
            out.write(line(data))
    print(f"{len(made)} clusters, {os.path.getsize(options.out)} bytes; pools: {dict(counts.most_common())}")


if __name__ == "__main__":
    main()
