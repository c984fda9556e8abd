#!/usr/bin/env python3
"""Writes the seeds that come from fixtures into seeds/TARGET/of-NAME; those written by hand have other names and stay.

With --all, also every row of the oracle's data into corpus/TARGET, which is not committed: for a long run."""

import base64
import gzip
import json
import pathlib
import sys

FUZZ = pathlib.Path(__file__).resolve().parent
FIXTURES = FUZZ.parent / "fixtures"
CAPM3, PARIS = FIXTURES / "workspaces/sylva-baremetal", "environment-values/workload-clusters/edge-paris"
PART = b"\n===\n"


def text(path):
    return (FIXTURES / path).read_bytes()


def rows(name):
    return [json.loads(line) for line in text(f"oracle/{name}.jsonl").splitlines()]


def document(row):
    """The bytes of a row of scalars."""
    return base64.b64decode(row["yaml_b64"]) if "yaml_b64" in row else row["yaml"].encode()


def first_of_groups(rows, most=1):
    seen = {}
    for row in rows:
        group = row.get("group")
        seen[group] = seen.get(group, 0) + 1
        if seen[group] <= most:
            yield row


def put(folder, target, name, data):
    path = FUZZ / folder / target / f"of-{name}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def workspace(folder):
    """A repository as one text. What is rendered from it is no part of it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    below = [path for path in files if not {"expected", "registry"} & set(path.relative_to(folder).parts)]
    parts = [b"=== %s\n%s" % (str(path.relative_to(folder)).encode(), path.read_bytes()) for path in below]
    return b"\n".join(parts)


def layout(name):
    """The manifests and blobs of an image layout, by digest."""
    blobs = FIXTURES / "registry" / name / "blobs/sha256"
    return {f"sha256:{path.name}": path.read_bytes() for path in sorted(blobs.iterdir())}


def signatures(name, at_tag):
    index = json.loads(text(f"registry/{name}/index.json"))
    blobs = layout(name)
    manifests = [blobs[entry["digest"]] for entry in index["manifests"] if entry["digest"] in blobs][1:]
    layers = [layer["digest"] for manifest in manifests for layer in json.loads(manifest)["layers"]]
    first = [manifests[0], b"{}"] if at_tag else [b"{}", manifests[0]]
    return PART.join(first + [blobs[digest] for digest in layers if digest in blobs])


def tar(*entries):
    """A tar stream; each entry is a type, a name, a link's target and its bytes."""
    out = b""
    for kind, name, target, data in entries:
        head = name.ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + b"%011o\0" % len(data) + b"0" * 11 + b"\0"
        head += b" " * 8 + kind + target.ljust(100, b"\0") + b"ustar\x0000"
        out += head.ljust(512, b"\0") + data + b"\0" * (-len(data) % 512)
    return out


def archives(put):
    pax = lambda *records: b"".join(b"%d %s\n" % (len(record) + 3 + (len(record) > 6), record) for record in records)
    files = tar((b"5", b"a/", b"", b""), (b"0", b"a/b.yaml", b"", b"a: 1\n"), (b"0", b"run", b"", b"#!x"))
    put("archives", "files", b"T" + files + bytes(1024))
    put("archives", "odd", b"T" + tar((b"0", b"../x", b"", b"1"), (b"2", b"l", b"/etc/passwd", b""), (b"1", b"h", b"l", b"")))
    put("archives", "long", b"T" + tar((b"L", b"././@LongLink", b"", b"d/" * 60 + b"x\0"), (b"0", b"d", b"", b"1")))
    put("archives", "pax", b"T" + tar((b"x", b"p", b"", pax(b"path=n/\xc3\xa9", b"size=3")), (b"0", b"q", b"", b"abc")))
    over = tar((b"0", b"a/.wh.b.yaml", b"", b""), (b"0", b"c/.wh..wh..opq", b"", b""), (b"0", b"c/d", b"", b"2"))
    put("archives", "layers", b"L" + files + PART + over)
    put("archives", "gzip", b"Z" + gzip.compress(files + bytes(1024), 6, mtime=0))
    put("archives", "bomb", b"Z" + gzip.compress(tar((b"0", b"z", b"", bytes(1 << 19))), 9, mtime=0))


def seeds(put):
    archives(put)
    for row in first_of_groups(rows("expressions")):
        put("expressions", row["id"], row["expression"].encode())
    for row in first_of_groups(rows("scalars"), 2):
        put("values", row["id"], document(row))
    put("values", "paris", (CAPM3 / PARIS / "values.yaml").read_bytes())
    put("values", "units", (CAPM3 / "charts/sylva-units/management.values.yaml").read_bytes())
    for number, path in enumerate(sorted((FIXTURES / "stamp/shapes").glob("[012]*.yaml"))):
        put("manifests", path.stem, path.read_bytes())
        put("edits", path.stem, bytes([number % 4, 3 + 5 * number, number, number]) + path.read_bytes())
    put("edits", "paris", b"\0\x07\x05\0" + (CAPM3 / PARIS / "values.yaml").read_bytes())
    put("manifests", "kube-vip", (FIXTURES / "workspaces/endpoints-capm3/metalmark.yaml").read_bytes())
    blocks = (CAPM3 / "metalmark.lock").read_bytes().split(b"\n\n")
    put("lock", "baremetal", b"\n\n".join(blocks[:3]) + b"\n")
    for folder in sorted((FIXTURES / "workspaces").iterdir()):
        if (folder / "metalmark.yaml").is_file() and folder.name != "sylva-baremetal":
            put("workspaces", folder.name, workspace(folder))
            put("project", folder.name, (folder / "metalmark.yaml").read_bytes())
    put("project", "sylva-baremetal", (CAPM3 / "metalmark.yaml").read_bytes())
    put("project", "shapes", text("stamp/shapes/metalmark.yaml"))
    for name in ["transformer", "validator", "refused"]:
        put("krm", name, text(f"krm/{name}.in.yaml"))
    for name in ["cosign-v2-tag", "cosign-v3-tag"]:
        put("signatures", name, signatures(name, True))
    for name in ["cosign-v2-referrer", "cosign-v3-referrer", "cosign-v3-bundle", "cosign-v3-attestation"]:
        put("signatures", name, signatures(name, False))
    put("signatures", "key", text("registry/cosign.pub"))
    for digest, blob in list(layout("cosign-v3-bundle").items()):
        if blob.startswith(b"{"):
            put("oci", digest[7:15], blob)
    put("oci", "index", text("registry/cosign-v3-tag/index.json"))
    manifest = layout("cosign-v3-tag")["sha256:9277abd0a5e89fd9590cf3de3244e5bf71b9ebcddbaa6b05eba281d1a6dbe5df"]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.oci.image.manifest.v1+json\r\n\r\n"
    challenge = b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm="http://localhost/token",service="r"\r\n\r\n'
    put("registry", "manifest", b"\0" + head + manifest)
    put("registry", "challenge", b"\0" + PART.join([challenge, b'HTTP/1.1 200 OK\r\n\r\n{"token":"x"}', head + manifest]))


def more(put):
    for row in rows("expressions"):
        put("expressions", row["id"], row["expression"].encode())
    for row in rows("scalars"):
        put("values", row["id"], document(row))
    for row in rows("layers"):
        for number, layer in enumerate(row["layers"]):
            put("values", f"{row['id']}-{number}", layer.encode())
            put("edits", f"{row['id']}-{number}", bytes([number, number, 4, 0]) + layer.encode())


for old in (FUZZ / "seeds").glob("*/of-*"):
    old.unlink()
seeds(lambda *seed: put("seeds", *seed))
if "--all" in sys.argv[1:]:
    more(lambda *seed: put("corpus", *seed))
