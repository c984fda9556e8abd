"""Sylva's own templates, answered by a real Helm."""
import io, json, os, re, subprocess, tarfile, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = "charts/sylva-units"
# The class of a failure, by what its message says; what Go's templates say themselves is `template`.
CLASSES = {
    "no OS image could be found": "no-match",
    "we need one OS image, but": "several",
    "both .os_image_selector and .image_key are set": "disagree",
    "not among the supported base keys": "unknown-fact",
    "has unsupported type for key": "term-type",
    "OS attribute for key": "fact-type",
    "unknown k8s-flavor": "distribution",
    "os_images is empty": "empty",
    "is not defined in os_images_oci_registries": "unknown-registry",
}


def class_of(message):
    return next((name for text, name in CLASSES.items() if text in message), "template")


class Chart:
    """A scratch chart with one version of the library and one of the chart's own templates."""

    def __init__(self, folder, checkout, library, templates):
        self.folder = folder
        version, commit = library
        show = lambda commit, path: subprocess.run(["git", "-C", checkout, "show", f"{commit}:{path}"], capture_output=True, check=True).stdout
        os.makedirs(os.path.join(folder, "templates"))
        packed = io.BytesIO(show(commit, f"{UNITS}/charts/sylva-library-{version}.tgz"))
        with tarfile.open(fileobj=packed) as archive:
            archive.extractall(os.path.join(folder, "charts"), filter="data")
        for name in ("_interpret-values.tpl", "_helpers.tpl", "_values_helpers.tpl", "_os-images.tpl"):
            commit = templates.get(name, templates[""])
            self.write("templates/" + name, show(commit, f"{UNITS}/templates/{name}").decode())
        with open(os.path.join(HERE, "ask.yaml")) as template:
            self.write("templates/ask.yaml", template.read())
        dependency = f"- {{name: sylva-library, version: {version}, repository: 'file://none'}}"
        self.write("Chart.yaml", f"apiVersion: v2\nname: oracle\nversion: 0.0.1\ndependencies:\n{dependency}\n")

    def write(self, path, text):
        with open(os.path.join(self.folder, path), "w") as file:
            file.write(text)

    def ask(self, helm, batch):
        """The answer to each query by its id: what the templates print, or the class of the failure that stops them."""
        answers, left = {}, batch["queries"]
        while left:
            with tempfile.NamedTemporaryFile("w", suffix=".json") as values:
                # As text: no layer of Helm looks into it.
                json.dump({"batch": json.dumps(batch | {"queries": left})}, values)
                # Without it, Helm 4 reads nothing of a line of 4096 bytes, or of a multiple of that.
                values.write("\n")
                values.flush()
                done = subprocess.run([helm, "lint", self.folder, "-f", values.name], capture_output=True, text=True)
            reached = read(done.stderr, answers)
            if not reached:
                raise RuntimeError((done.stderr + done.stdout)[-2000:])
            # What stops the engine itself is the answer to the last query, unless the library had failed before.
            error = done.stdout[done.stdout.find("[ERROR] templates/") :]
            answers.setdefault(reached, {"error": class_of(error)})
            known = [query["id"] for query in left].index(reached) + 1
            left = left[known:]
        return answers


def read(log, answers):
    """Reads the log of a run into the answers; the id of the last query that it reached."""
    reached = None
    for message in messages(log):
        line = message.split("\n")[0]
        if message.startswith("@@query "):
            reached = line[8:]
        elif message.startswith("@@answer "):
            answers.setdefault(reached, {"answer": json.loads(line[9:])})
        else:
            answers.setdefault(reached, {"error": class_of(message)})
    return reached


def messages(log):
    """The texts that templates gave to `fail`, in the words of either Helm."""
    three = re.split(r"^engine\.go:\d+: \[INFO\] Fail: ", log, flags=re.MULTILINE)
    if len(three) > 1:
        return [text.removesuffix("\n") for text in three[1:]]
    four = re.findall(r'^level=INFO msg="funcMap fail" message=(".*"|\S+)$', log, flags=re.MULTILINE)
    return [json.loads(text) if text.startswith('"') else text for text in four]
