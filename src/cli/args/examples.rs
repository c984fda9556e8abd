//! The examples at the end of each command's help.

pub(super) const ALONE: &str = "Examples:
  metalmark                     what this project has, and the next command
  metalmark init                a first project file for this repository
  metalmark check               every finding
  metalmark render              check, then write the manifests";

/// What the exit status means, of every command.
pub(super) const EXIT_STATUS: &str = "Exit status:
  0  no error; warnings are allowed
  1  findings at error level, drift, or nothing was checked
  2  usage, I/O or network error, or the run took more than its budget";

pub(super) const RENDER: &str = "Examples:
  metalmark render              check everything, then write the outputs
  metalmark render --check      for CI: exit 1 where the tree is out of date
  metalmark render --target manifests --out rendered
                                without `outputs` in a project file
  metalmark render --stdout | kubectl apply -f -";

pub(super) const CHECK: &str = "Examples:
  metalmark check               every finding, with file and line
  metalmark check --fix         and the edits that findings are sure of
  metalmark check --frozen      for CI: every image must be locked
  metalmark check --output github --report sarif=findings.sarif";

pub(super) const LOCK: &str = "Examples:
  metalmark lock                resolve what is not locked yet
  metalmark lock --check        say whether the lock is complete
  metalmark lock --upgrade ubuntu-noble-plain-kubeadm-1-31-8";

pub(super) const VERIFY: &str = "Examples:
  metalmark verify              the lock against the registries
  metalmark verify --bytes      and every byte of every image
  metalmark verify --key sylva-2025
                                what rests on that key; queries nothing
  metalmark verify --output json";

pub(super) const MIRROR: &str = "Examples:
  metalmark mirror              to the mirrors that the project file names
  metalmark mirror --to oci-layout:images
                                into a folder, to carry it to a site
  metalmark mirror --to oci://registry.site.example/os --dry-run";

pub(super) const UPDATE: &str = "Examples:
  metalmark update 0.6.3        to that version of the image builder
  metalmark update 0.6.3 --check
                                say what it would change
  metalmark update kiwi=0.4.2   of the builder whose images the registry `kiwi` has
  metalmark update --from-renovate
                                the version is raised already";

pub(super) const CLUSTERS: &str = "Examples:
  metalmark clusters            every node pool with its judgment
  metalmark clusters 'edge-*' --judgment unknown
                                what was not compared, and why
  metalmark clusters --k8s-version 1.32 --output json";

pub(super) const IMAGES: &str = "Examples:
  metalmark images              the catalog: facts, and who uses what
  metalmark images --output json";

pub(super) const NAMES: &str = "Examples:
  metalmark names               the schemes that are read
  metalmark names sylva-dib     the catalog's names by a scheme, each tested
  metalmark names 'golden-{os}{release}-{k8s}'
                                by a form of one's own
  metalmark names ib-kube --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8
                                the name of one image, for its builder
  metalmark names ubuntu-2404-kube-v1.31.8.qcow2
                                what a name says";

pub(super) const IMPACT: &str = "Examples:
  metalmark impact              since the default branch
  metalmark impact --against v1.2.0
  metalmark impact --against main --output markdown
                                as the comment of a merge request";

pub(super) const PAGE: &str = "Examples:
  metalmark page --to fleet.html
  metalmark page --to change.html --against main
  metalmark page --to plan.html --plan 1.32";

pub(super) const PLAN: &str = "Examples:
  metalmark plan --to 1.32      the steps of each cluster, and what is missing
  metalmark plan --to 1.32 --apply 1
                                edit the first wave
  metalmark plan --status       what is merged, and what is next
  metalmark plan --patch-only   to the newest patch of the minor that runs";

pub(super) const EXPLAIN: &str = "Examples:
  metalmark explain k8s-version-mismatch
                                a rule
  metalmark explain edge-1      a cluster
  metalmark explain edge-1/md0  why this node pool boots this image";

pub(super) const RULES: &str = "Examples:
  metalmark rules               every rule and its level here
  metalmark explain version-skew
                                the page of one";

pub(super) const VALUES: &str = "Examples:
  metalmark values edge-1       merged and evaluated
  metalmark values edge-1 cluster.k8s_version --why
                                every layer that sets it
  metalmark values edge-1 --origin
                                each value with its file and line";

pub(super) const STAMP: &str = "Examples:
  metalmark stamp               the images that markers name, in place
  metalmark stamp --check       for hooks: exit 1 where something would change
  metalmark stamp --rotate --set-version clusters/
                                under new names, with the version";

pub(super) const FUNCTION: &str = "Examples:
  metalmark fn <resources.yaml  what kustomize and kpt run";

pub(super) const CMP: &str = "Examples:
  metalmark cmp simulate --app application.yaml
                                what Argo CD would get, without a cluster
  metalmark cmp plugin-config   the sidecar's plugin.yaml";

pub(super) const REGISTRY: &str = "Examples:
  metalmark registry ls oci://registry.example.org/os-images
  metalmark registry facts oci://registry.example.org/os-images/noble:1.0";

pub(super) const BUNDLE: &str = "Examples:
  metalmark bundle pack manifests/ --to bundle.tgz
  metalmark bundle inspect bundle.tgz
  metalmark bundle push bundle.tgz oci://registry.example.org/bundles/edge:1.0";

pub(super) const INIT: &str = "Examples:
  metalmark init --dry-run      print what it would write
  metalmark init --pre-commit --renovate --ci
                                with the settings of these hosts";

pub(super) const LSP: &str = "Examples:
  metalmark lsp                 what an editor runs";

pub(super) const SCHEMA: &str = "Examples:
  metalmark schema >metalmark.schema.json";

pub(super) const MAN: &str = "Examples:
  metalmark man | man -l -
  metalmark man --dir /usr/local/share/man/man1";

pub(super) const COMPLETIONS: &str = "Examples:
  metalmark completions bash >~/.local/share/bash-completion/completions/metalmark
  metalmark completions zsh >~/.zfunc/_metalmark";
