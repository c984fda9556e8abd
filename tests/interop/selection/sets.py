"""Asks sylva-library 0.9.0, through a real Helm, which images the pools of Sylva's input sets boot, and prints its answers as JSON.

    python3 tests/interop/selection/sets.py CHECKOUT HELM SETS

CHECKOUT is a git clone of sylva-core with all its branches, and SETS the folder with the sets. An answer is the key of an image, or the
class of the error.
"""
import glob, json, os, sys, tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
from selection.__main__ import LIBRARIES, MAIN, over, pools
from ask import Chart

FOLDERS = {"1-two-builders": [""], "2-n-1-n-2": [""], "3-missing-images": [""], "5-version-map-drift": ["before", "bot", "human"]}


def read(*path):
    with open(os.path.join(*path)) as file:
        return yaml.safe_load(file)


def images(values, artifacts):
    """The images with their facts, as the chart gathers them; none for a reference that does not exist."""
    registries, found = values["os_images_oci_registries"], {}
    for name, entry in values.get("sylva_diskimagebuilder_images", {}).items():
        key = entry["os_images_oci_registry"]
        tag = registries[key]["tag"]
        tag = values[tag.split(".Values.")[1].split()[0]] if "{{" in tag else tag
        found[name] = {"uri": f"{registries[key]['url']}/{name}:{tag}", "oci-image-registry-key": key}
    found |= values.get("os_images", {})
    annotations = {key: artifacts[image["uri"]]["annotations"] for key, image in found.items() if image["uri"] in artifacts}
    facts = lambda key: {name.split("/")[-1]: text for name, text in annotations[key].items() if "sylva" in name}
    return {key: facts(key) | found[key] for key in annotations}


def main():
    checkout, helm, sets = sys.argv[1:]
    lists, cases, queries = {}, {}, []
    for name, folder in [(name, folder) for name, folders in FOLDERS.items() for folder in folders]:
        chart, artifacts = read(sets, name, folder, "values.yaml"), read(sets, name, "artifacts.json")
        lists[f"{name}/{folder}"] = images(chart, artifacts)
        for path in sorted(glob.glob(os.path.join(sets, name, "clusters", "*"))):
            case = f"{name}/{folder}/{os.path.basename(path)}"
            values = over(chart, read(path, "values.yaml"))
            cases[case] = {"values": values, "templated": True, "images": f"{name}/{folder}"}
            queries += [{"id": f"{case}/{pool}", "case": case, "what": "pool", "path": levels} for pool, levels in pools(values["cluster"]).items()]
    with tempfile.TemporaryDirectory() as scratch:
        library = Chart(os.path.join(scratch, "chart"), checkout, ("0.9.0", LIBRARIES["0.9.0"]), {"": MAIN})
        answers = library.ask(helm, {"cases": cases, "images": lists, "queries": queries})
    print(json.dumps({pool: answer.get("error") or answer["answer"]["key"] for pool, answer in answers.items()}, indent=1))


main()
