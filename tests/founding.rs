//! The wishes that the project was founded on, each with a command that shows it: docs/founding.md is made of what they print.
//!
//! `BLESS=1 cargo i founding` writes the page.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::LazyLock;
use std::{fs, iter};

use oci_artifacts::Digest;

use super::support::layout::LayoutWriter;
use super::support::registry::Registry;
use super::support::stage::{Stage, project};
use super::support::{golden, repository};

/// A wish of an author, and how it is met.
struct Wish {
    /// In his words, as far as they are few.
    wish: &'static str,
    scenes: &'static [Scene],
    /// Why it is otherwise on purpose; empty where it is as the author wished.
    otherwise: &'static str,
}

/// What is run one after the other in one project.
struct Scene {
    stage: fn() -> Stage,
    steps: &'static [Step],
}

/// What is run, how it ends, and a part of each line that shows the wish; behind a `!`, what no line has.
struct Step {
    /// Words for `metalmark`, or `cat FILE`.
    command: &'static str,
    status: i32,
    shows: &'static [&'static str],
}

/// A wish that is met as it was wished.
const fn wish(wish: &'static str, scenes: &'static [Scene]) -> Wish {
    Wish {
        wish,
        scenes,
        otherwise: "",
    }
}

const fn scene(stage: fn() -> Stage, steps: &'static [Step]) -> Scene {
    Scene { stage, steps }
}

const fn step(command: &'static str, status: i32, shows: &'static [&'static str]) -> Step {
    Step {
        command,
        status,
        shows,
    }
}

impl Wish {
    const fn otherwise(self, otherwise: &'static str) -> Self {
        Self { otherwise, ..self }
    }

    /// The rows of the page: the wish, the commands, and the lines that they print.
    fn rows(&self, problems: &mut Vec<String>) -> String {
        let mut rows = Vec::new();
        for scene in self.scenes {
            let stage = (scene.stage)();
            for step in scene.steps {
                let command = match step.command.strip_prefix("cat ") {
                    Some(_) => code(step.command),
                    None => code(&format!("metalmark {}", step.command)),
                };
                let lines = step.lines(&stage, problems);
                let commands = iter::once(command).chain(iter::repeat(String::new()));
                rows.extend(commands.zip(lines));
            }
        }
        if !self.otherwise.is_empty() {
            rows[0].1 = format!("**otherwise**: {}; {}", self.otherwise, rows[0].1);
        }
        let wishes = iter::once(self.wish).chain(iter::repeat(""));
        let rows = wishes.zip(rows);
        rows.map(|(wish, (command, line))| format!("| {wish} | {command} | {line} |\n"))
            .collect()
    }
}

impl Step {
    /// The lines that show the wish; what is missing is a problem.
    fn lines(&self, stage: &Stage, problems: &mut Vec<String>) -> Vec<String> {
        let host = REGISTRY.host();
        let screen = match self.command.strip_prefix("cat ") {
            Some(path) => fs::read_to_string(stage.path().join(path)).unwrap_or_default(),
            None => {
                let command = self.command.replace(HOST, &host);
                let args: Vec<&str> = command.split(' ').collect();
                let outcome = stage.run_args(&args).outcome;
                let screen = format!("{}{}", outcome.stdout, outcome.stderr);
                if outcome.status != self.status {
                    problems.push(format!("{command}: {}\n{screen}", outcome.status));
                }
                screen.replace(&host, HOST)
            }
        };
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = screen.lines().map(words).collect();
        let mut show = |shows: &&str| {
            let (is_there, part) = match shows.strip_prefix('!') {
                Some(part) => (false, part),
                None => (true, *shows),
            };
            let line = lines.iter().find(|line| line.contains(part));
            if line.is_some() != is_there {
                problems.push(format!("{}: `{shows}` in\n{screen}", self.command));
            }
            match line.map(|line| shorten(line)) {
                Some(line) => code(&line),
                None => format!("no {}", code(part)),
            }
        };
        self.shows.iter().map(&mut show).collect()
    }
}

fn code(text: &str) -> String {
    format!("`` {} ``", text.replace('|', "\\|"))
}

/// The line as far as the page has it, a key that was made for this run left out.
fn shorten(line: &str) -> String {
    let line = match line.split_once("signed by the key ") {
        Some((before, _)) => format!("{before}signed by the key …"),
        None => line.to_owned(),
    };
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// How many characters of a line are on the page.
const LONGEST: usize = 160;

/// The registry of this process, and its name on the page.
static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::plain);
const HOST: &str = "registry.example.com";

#[test]
fn each_founding_wish_is_met_or_otherwise_on_purpose() {
    let documents = [
        ("Sylva: simplify the settings of OS images", SYLVA),
        ("Cluster API: a unified image stamping utility", STAMPING),
        ("Elemental: components beside the OS image", COMPONENTS),
        ("RukPak: the plain+v0 bundle provisioner", RUKPAK),
        ("Elemental: controlPlaneEndpoint provisioning", ENDPOINT),
    ];
    let mut page = String::from(
        "# The wishes that metalmark was founded on\n\n\
         Before metalmark existed, five public issues said what people wished for. Each row has a wish, the commands that show it on a small project, and the lines\n\
         that they print. A test runs them all and compares this page (`tests/founding.rs`). If metalmark differs on purpose, the row says why.\n",
    );
    let (mut count, mut problems) = (0, Vec::new());
    for (title, wishes) in documents {
        page += &format!("\n## {title}\n\n| wish | command | what it prints |\n|---|---|---|\n");
        for wish in wishes {
            page += &wish.rows(&mut problems);
            count += 1;
        }
    }
    assert_eq!(count, 49, "no wish is lost");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    golden(&repository().join("docs/founding.md"), &page);
}

// The documents, in the order of their authors' sentences.

const SYLVA: &[Wish] = &[
    wish("`os_images` with uri, filename and checksum, as it was", &[scene(old, &[
        step("images", 0, &["ubuntu-jammy-plain-rke2-1-26-9 ubuntu jammy false rke2 1.26.9 qcow2 yes by name only site/control-plane oci://"]),
        step("images --output json", 0, &["\"filename\": \"ubuntu-jammy-plain-rke2-1.26.9.qcow2\"", "\"sha256\": \"ffdc81fc"]),
    ])]),
    wish("`machine_image_url`, format and checksum of `capm3`", &[
        scene(old, &[
            step("clusters", 0, &["control-plane capm3 v1.26.9 ubuntu-jammy-plain-rke2-1-26-9 by name only"]),
            step("check --output concise", 0, &["!error"]),
        ]),
        scene(old_of_another_version, &[step("check", 1, &["error[k8s-version-mismatch]"])]),
    ]),
    wish("the catalog to the letter, with its name that occurs twice", &[scene(proposal, &[
        step("images", 0, &["ubuntu-jammy-plain-rke2-1-26-9", "ubuntu-jammy-plain-rke2-1-25-15", "opensuse-15-5-plain-rke2-1-26-9", "ubuntu-jammy-hardened-rke2-1-26-9", "ubuntu-jammy-plain-kubeadm-1-26-9"]),
        step("check --output concise", 0, &["`ubuntu-jammy-plain-kubeadm-1.26.9` occurs twice", "!error"]),
    ])]),
    wish("one version of the builder makes all references", &[
        scene(proposal, &[step("images", 0, &["/opensuse-15.5-plain-rke2-1.26.9:0.1.1", "/ubuntu-jammy-plain-kubeadm-1.26.9:0.1.1"])]),
        scene(proposal_of_the_next_version, &[step("images", 0, &["/opensuse-15.5-plain-rke2-1.26.9:0.1.2", "/ubuntu-jammy-plain-kubeadm-1.26.9:0.1.2", "!:0.1.1"])]),
    ]),
    wish("only what has `enabled: true` is prepared", &[scene(proposal, &[
        step("images", 0, &["ubuntu-jammy-hardened-rke2-1-26-9 ubuntu jammy true rke2 1.26.9 qcow2 yes", "ubuntu-jammy-plain-rke2-1-25-15 ubuntu jammy false rke2 1.25.15 – no"]),
        step("render --target configmap --out out --stdout", 0, &["ubuntu-jammy-hardened-rke2-1.26.9:", "!1.25.15"]),
    ])]),
    wish("an entry whose name has an expression", &[scene(proposal, &[
        step("cat site-a.values.yaml", 0, &["opensuse-15.5-plain-rke2-{{ .Values.cluster.k8s_version }}:"]),
        step("images", 0, &["opensuse-15-5-plain-rke2-1-26-9 opensuse 15.5 false rke2 1.26.9 qcow2 yes"]),
    ])]),
    wish("`os_image_key`, where `{{ k8s_version }}` may be used", &[scene(proposal, &[
        step("cat site-a.values.yaml", 0, &["os_image_key: ubuntu-jammy-plain-rke2-{{ k8s_version }}"]),
        step("clusters", 0, &["md0 capm3 1.26.9 ubuntu-jammy-plain-rke2-1-26-9 proven"]),
    ])]),
    wish("a different image for the control plane", &[scene(proposal, &[
        step("clusters", 0, &["control-plane capm3 1.26.9 ubuntu-jammy-hardened-rke2-1-26-9 proven", "md0 capm3 1.26.9 ubuntu-jammy-plain-rke2-1-26-9 proven"]),
    ])]),
    wish("`image` of the machine template out of `os_images_info`", &[scene(proposal, &[
        step("cat os-images-info.yaml", 0, &["checksum: f60f2d65"]),
        step("render --target manifests --out out --stdout", 0, &["kind: Metal3MachineTemplate", "checksum: f60f2d65", "checksumType: sha256", "format: qcow2", "url: http://ubuntu-jammy-hardened-rke2-1-26-9."]),
    ])]),
    wish("`os_images_info` for `valuesFrom`", &[scene(proposal, &[
        step("render --target configmap --out out --stdout", 0, &["kind: ConfigMap", "name: os-images-info", "values.yaml: |", "opensuse-15.5-plain-rke2-1.26.9:", "checksum: d98cf53e", "checksumType: sha256", "format: qcow2"]),
    ])]),
    wish("no `k8s_version: X` with an image of version Y, where that is enforced", &[
        scene(mismatched, &[
            step("check", 1, &["error[k8s-version-mismatch]"]),
            step("render --target manifests --out out", 1, &["error[k8s-version-mismatch]"]),
        ]),
        scene(not_enforced, &[step("check", 0, &["warning[k8s-version-mismatch]"])]),
    ]),
    wish("no checksums typed for OCI artifacts", &[scene(unlocked, &[
        step("cat before/values.yaml", 0, &["!sha256", "!checksum"]),
        step("-C before lock", 0, &["added ubuntu-noble-plain-rke2-1-31-8"]),
        step("cat before/metalmark.lock", 0, &["sha256: ad0ea366"]),
        step("-C before render --stdout", 0, &["checksum: ad0ea366"]),
    ])]),
    wish("provenance: artifacts are signed, signatures verified", &[
        scene(signed, &[
            step("lock", 0, &["added noble"]),
            step("cat metalmark.lock", 0, &["form: bundle", "key: sha256:f6ae0a97"]),
            step("verify", 0, &["noble as locked sha256:f6ae0a97"]),
        ]),
        scene(unsigned, &[step("lock", 1, &["error[signature-missing]"])]),
        scene(signed_by_another, &[step("lock", 1, &["error[signature-invalid]"])]),
    ]),
    wish("the checksum is given to the IPA itself", &[
        scene(proposal, &[step("render --target manifests --out out --stdout", 0, &["checksum: f60f2d65da046fcaaf8a10bd96b5630104b629e111aff46ce89792e1caa11b18", "!checksum: http"])]),
    ]),
    wish("one path for all images, `…/image.qcow2`", &[scene(proposal, &[
        step("render --target manifests --out out --stdout", 0, &["/ubuntu-jammy-hardened-rke2-1-26-9/image.qcow2", "/ubuntu-jammy-plain-rke2-1-26-9/image.qcow2"]),
    ])]),
    wish("neither filename nor checksum among the values", &[scene(proposal, &[
        step("values site-a diskimage_builder_os_images", 0, &["ubuntu-jammy-plain-rke2-1.26.9:", "!filename", "!checksum"]),
        step("render --target configmap --out out --stdout", 0, &["sha256: d98cf53e"]),
    ])]).otherwise("nobody types them; the rendered `os_images_info` has the checksum, as Sylva's own job writes it, since its charts read it there"),
    wish("Renovate updates the version", &[scene(renovated, &[
        step("-C before update --from-renovate", 0, &["OS images: 0.4.12 → 0.4.13", "ubuntu-noble-plain-rke2-1-31-8 → ubuntu-noble-plain-rke2-1-31-9", "edge-b/md0: opensuse-15-6-plain-rke2-1-30-12:0.4.12 → opensuse-15-6-plain-rke2-1-30-12:0.4.13"]),
        step("cat before/values.yaml", 0, &["sylva_diskimagebuilder_version: 0.4.13", "ubuntu-noble-plain-rke2-1-32-5:", "!ubuntu-noble-plain-rke2-1-31-8"]),
        step("-C before render --check --frozen", 0, &["!error"]),
    ])]),
    wish("not every image of the builder is downloaded", &[scene(proposal, &[
        step("images", 0, &["ubuntu-jammy-plain-kubeadm-1-26-9 ubuntu jammy false kubeadm 1.26.9 – no"]),
        step("render --target configmap --out out --stdout", 0, &["uri: oci://", "!kubeadm-1.26.9:0"]),
    ])]),
];

const STAMPING: &[Wish] = &[
    wish("one way to describe an image, for every provider", &[scene(everywhere, &[
        step("cat metalmark.yaml", 0, &["records:"]),
        step("clusters", 0, &[
            "capa control-plane capa v1.34.1 image proven",
            "capg control-plane capg v1.34.1 image proven",
            "capm3 control-plane capm3 v1.34.1 image proven",
            "capo control-plane capo v1.34.1 image proven",
            "capv control-plane capv v1.34.1 image proven",
            "capz control-plane capz v1.34.1 image proven",
            "docker control-plane docker v1.34.1 image proven",
            "elemental control-plane elemental v1.34.1 image proven",
            "hcloud control-plane hetzner v1.34.1 image proven",
            "kubevirt control-plane kubevirt v1.34.1 image proven",
            "proxmox control-plane proxmox v1.34.1 image proven",
            "tinkerbell control-plane tinkerbell v1.34.1 image proven",
        ]),
        step("render --stdout capa", 0, &["id: ami-08f7e6d5c4b3a2910"]),
        step("render --stdout capg", 0, &["image: projects/example-images/global/images/cluster-api-ubuntu-2404-v1-34-1-1760000000"]),
        step("render --stdout capm3", 0, &["url: https://images.example.org/ubuntu-2404-kube-v1.34.1.qcow2", "checksum: \"0123", "format: qcow2"]),
        step("render --stdout capo", 0, &["id: \"8f1b2c3d-0000-4000-8000-000000000001\""]),
        step("render --stdout capv", 0, &["template: /dc1/vm/templates/ubuntu-2404-kube-v1.34.1"]),
        step("render --stdout capz", 0, &["id: /subscriptions/0000/images/noble"]),
        step("render --stdout docker", 0, &["customImage: kindest/node:v1.34.1"]),
        step("render --stdout elemental", 0, &["imageUri: oci://registry.example.org/os/ubuntu@sha256:0123"]),
        step("render --stdout hcloud", 0, &["imageName: ubuntu-2404-kube-v1.34.1"]),
        step("render --stdout kubevirt", 0, &["image: quay.io/capk/ubuntu-2404-container-disk:v1.34.1"]),
        step("render --stdout proxmox", 0, &["- kube-v1.34.1"]),
        step("render --stdout tinkerbell", 0, &["imageLookupFormat: ghcr.io/example/images/ubuntu-2404:v1.34.1.gz"]),
    ])]),
    wish("names by which builders and users agree", &[scene(one_image, &[
        step("names ib-kube --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.34.1", 0, &["ubuntu-noble-kube-v1.34.1"]),
        step("names ubuntu-noble-kube-v1.34.1", 0, &["scheme ib-kube", "os-release noble", "k8s-version 1.34.1"]),
        step("names {os}-{release}-k{k8s} --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.34.1", 1, &["ubuntu-noble-k1.34.1", "no scheme reads it: add `{os}-{release}-k{k8s}` to `names` in the project file"]),
        step("names {os}{variant}-{k8s}", 2, &["its parts are ambiguous"]),
    ]),
    scene(own_names, &[
        step("names {os}-{release}-k{k8s} --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.34.1", 0, &["ubuntu-noble-k1.34.1"]),
        step("names ubuntu-noble-k1.34.1", 0, &["scheme names", "os-release noble", "k8s-version 1.34.1"]),
    ])]),
    wish("where images are hosted, not tampered with, and cached", &[
        scene(hosted, &[
            step("images", 0, &["oci://registry.example.org/sylva-elements/diskimage-builder/"]),
            step("verify", 0, &["noble as locked"]),
            step("mirror --to oci-layout:cache", 0, &["noble copied 1"]),
            step("mirror --to oci-layout:cache", 0, &["noble there 1"]),
        ]),
        scene(cached, &[step("verify", 0, &["noble as locked sha256:f6ae0a97"])]),
        scene(tampered, &[step("verify", 2, &["noble unknown", "does not have the digest that it is named after"])]),
        scene(moved, &[step("verify", 1, &["noble not as locked", "error[tag-moved]"])]),
    ]),
    wish("a patched OS on all machines, Kubernetes as it is", &[scene(patched, &[
        step("impact --against HEAD", 0, &["image noble-31 → noble-31-cve", "control-plane 3 machines re-provisioned, by roll", "3 machines in 1 cluster re-provisioned", "!kubernetes"]),
        step("check", 0, &["1 proven"]),
    ])]),
    wish("mix and match image, software and provider: each changes alone", &[
        scene(another_image, &[step("impact --against HEAD", 0, &["image ami-08f7e6d5c4b3a2910 → ami-11111111111111111", "5 machines in 1 cluster re-provisioned", "!→ v1.34.2", "!its provider"])]),
        scene(another_kubernetes, &[step("impact --against HEAD", 0, &["kubernetes v1.34.1 → v1.34.2", "60 machines in 12 clusters re-provisioned", "!image ami", "!its provider"])]),
        scene(another_provider_api, &[step("impact --against HEAD", 0, &["control-plane 3 machines re-provisioned, by roll: the API of its provider changes"])]),
        scene(another_provider, &[step("impact --against HEAD", 0, &["control-plane 3 machines re-provisioned, by roll", "AWSMachineTemplate", "!→ v1.34.2"])]),
    ]),
    wish("the OVA that installs, beside the node image", &[
        scene(install, &[step("check", 1, &["error[install-image]: `install` installs Kubernetes `1.30.4`, and the cluster is to have `v1.31.8`"])]),
        scene(install_in_step, &[
            step("check", 0, &["1 proven"]),
            step("images", 0, &["install ", "node "]),
        ]),
    ]),
    wish("images are stamped", &[scene(one_image, &[step("explain ubuntu-noble-cis-kubeadm-1-34-1", 0, &["builder: image-builder", "commit"])])])
        .otherwise("image-builder and others build images; metalmark reads what they leave, and proves, pins and rolls it"),
];

const COMPONENTS: &[Wish] = &[
    wish(
        "components decoupled from the base image, and updated independently",
        &[
            scene(
                elemental,
                &[step(
                    "render --stdout site-1",
                    0,
                    &[
                        "metalmark.dev/component-bundle: oci://registry.example.org/components/rke2:v1.31.8-1@sha256:",
                        "imageUri: oci://registry.example.org/elemental/sle-micro@sha256:",
                    ],
                )],
            ),
            scene(
                another_bundle,
                &[step(
                    "impact --against HEAD",
                    0,
                    &[
                        "whole cluster in place: existing machines stay as they are, later ones differ",
                        "component bundle control-plane https://images.example.org/rke2.tgz → https://images.example.org/rke2-patched.tgz",
                        "no machine is re-provisioned",
                    ],
                )],
            ),
        ],
    ),
    wish(
        "`componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1`",
        &[scene(
            delivered,
            &[
                step(
                    "cat site.yaml",
                    0,
                    &[
                        "componentsBundle: 'registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1'",
                    ],
                ),
                step(
                    "render --stdout",
                    0,
                    &[
                        "url='https://registry.suse.com/v2/rancher/elemental/bundles/rke2/blobs/sha256:",
                    ],
                ),
            ],
        )],
    ),
    wish(
        "a base image without any Kubernetes",
        &[
            scene(
                elemental,
                &[
                    step(
                        "images",
                        0,
                        &["sle-micro-6-0 sle-micro 6.0 – – – container"],
                    ),
                    step(
                        "clusters",
                        0,
                        &[
                            "site-1 control-plane elemental v1.31.8+rke2r1 sle-micro-6-0 proven: `1.31.8+rke2r1` in the lock",
                        ],
                    ),
                ],
            ),
            scene(
                to_the_letter,
                &[step(
                    "clusters",
                    0,
                    &["site control-plane elemental v1.26.7+rke2r1 sle by name only"],
                )],
            ),
        ],
    ),
    wish(
        "a tarball with `install.sh`, called with variables",
        &[
            scene(
                components,
                &[
                    step(
                        "bundle inspect rke2",
                        0,
                        &["executable install.sh", "requires TYPE", "reads CHANNEL"],
                    ),
                    step(
                        "bundle pack --components rke2 --to rke2.tgz",
                        0,
                        &["components bundle of 2 files"],
                    ),
                    step(
                        "bundle inspect rke2.tgz",
                        0,
                        &["kind components", "executable install.sh"],
                    ),
                ],
            ),
            scene(
                elemental,
                &[step(
                    "render --stdout site-1",
                    0,
                    &[
                        "tar -x -f \"$work/bundle\" -C \"$work/root\"",
                        "INSTALL_RKE2_CHANNEL='stable' \\",
                        "INSTALL_RKE2_TYPE='server' \\",
                        "INSTALL_RKE2_TYPE='agent' \\",
                        "./install.sh",
                    ],
                )],
            ),
            scene(
                variable_missing,
                &[step("check", 1, &["INSTALL_RKE2_TYPE"])],
            ),
        ],
    ),
    wish(
        "bundles for other distributions",
        &[
            scene(
                right_distribution,
                &[
                    step(
                        "clusters",
                        0,
                        &["site control-plane elemental v1.26.7+rke2r1 sle"],
                    ),
                    step("check", 0, &["!component-mismatch"]),
                ],
            ),
            scene(
                wrong_distribution,
                &[step(
                    "check",
                    1,
                    &[
                        "error[component-mismatch]: component bundle `rke2` installs on `ubuntu`, and the image is `debian`",
                    ],
                )],
            ),
        ],
    ),
    wish(
        "custom bundles, used in the same way",
        &[
            scene(
                components,
                &[step(
                    "bundle pack --components rke2 --distro debian --k8s-version 1.26.7+rke2r1 --to oci-layout:out",
                    0,
                    &["components bundle of 2 files; put into `oci-layout:out`"],
                )],
            ),
            scene(
                delivered,
                &[
                    step(
                        "clusters",
                        0,
                        &["site control-plane elemental v1.26.7+rke2r1"],
                    ),
                    step("verify", 0, &["as locked"]),
                ],
            ),
        ],
    ),
    wish(
        "upgrades within those of Cluster API",
        &[scene(
            raised,
            &[
                step(
                    "impact --against HEAD",
                    0,
                    &[
                        "kubernetes v1.31.8+rke2r1 → v1.32.4+rke2r1",
                        "component bundle control-plane rke2-1-31-8 → rke2-1-32-4",
                        "control-plane 3 machines re-provisioned, by roll",
                        "4 machines in 1 cluster re-provisioned",
                    ],
                ),
                step("check", 0, &["4 proven"]),
            ],
        )],
    ),
    wish(
        "bundles are signed and verified",
        &[scene(
            keys,
            &[
                step(
                    "bundle push rke2 oci://registry.example.com/bundles/rke2:1 --kind components --sign mine.key",
                    0,
                    &[", signed"],
                ),
                step(
                    "bundle verify oci://registry.example.com/bundles/rke2:1 --key mine.pub",
                    0,
                    &["signed by the key "],
                ),
                step(
                    "bundle verify oci://registry.example.com/bundles/rke2:1 --key other.pub",
                    1,
                    &["error[signature-invalid]"],
                ),
                step(
                    "bundle push rke2 oci://registry.example.com/bundles/plain:1 --kind components",
                    0,
                    &["sha256:"],
                ),
                step(
                    "bundle verify oci://registry.example.com/bundles/plain:1 --key mine.pub",
                    1,
                    &["error[signature-missing]"],
                ),
            ],
        )],
    ),
];

const RUKPAK: &[Wish] = &[
    wish("the format, and what its tests packed", &[scene(bundles, &[
        step("bundle inspect valid", 0, &["kind plain+v0", "objects 1 CustomResourceDefinition"]),
        step("bundle pack valid --to dir:out", 0, &["plain+v0 bundle of 1 file, 1 object; out: 1 created"]),
        step("bundle pack empty --to dir:out", 1, &["error["]),
        step("bundle pack deep --to dir:out", 1, &["error["]),
    ])]),
    wish("order: definitions first, files as they are numbered", &[scene(bundles, &[
        step("bundle pack both --to dir:out", 1, &["error[crd-order]"]),
        step("bundle pack both --order numbered --to dir:numbered", 0, &["2 objects; numbered: 2 created"]),
        step("cat numbered/manifests/001-customresourcedefinition-groups.example.org.yaml", 0, &["kind: CustomResourceDefinition"]),
        step("cat numbered/manifests/002-group-all.yaml", 0, &["kind: Group"]),
        step("bundle pack ordered --order names --to dir:ordered-out", 0, &["2 files, 2 objects"]),
        step("bundle pack late --order names --to dir:out", 1, &["error["]),
    ])]),
    wish("contents sharded across ConfigMaps", &[scene(shards, &[
        step("bundle pack large --to configmaps:out", 0, &["2 objects; out: 2 created"]),
        step("bundle unpack configmaps:out --to back", 0, &["back: 2 created"]),
        step("cat back/manifests/b.yaml", 0, &["metadata: {name: b, namespace: default}"]),
    ])]),
    wish("images pinned by their sha instead of tags", &[scene(keys, &[
        step("bundle push app oci://registry.example.com/bundles/app:1.2 --kind plain", 0, &["sha256:"]),
        step("bundle pull oci://registry.example.com/bundles/app:1.2 out", 1, &["error[bundle-unpinned]", "= help: write the digest that is meant; the tag names `oci://registry.example.com/bundles/app:1.2@sha256:43cfe624"]),
        step("bundle pull oci://registry.example.com/bundles/app:1.2@sha256:43cfe624bda965f252aec73ff775d6325f5fef5f2cf4dfdee12de33820bc1e47 out", 0, &["out: 1 created"]),
        step("cat out/manifests/app.yaml", 0, &["metadata: {name: app}"]),
        // The tag moves, and the digest does not.
        step("bundle push rke2 oci://registry.example.com/bundles/app:1.2 --kind components", 0, &["sha256:32daf58b"]),
        step("bundle pull oci://registry.example.com/bundles/app:1.2@sha256:43cfe624bda965f252aec73ff775d6325f5fef5f2cf4dfdee12de33820bc1e47 out", 0, &["out: 0 created, 0 updated, 1 unchanged"]),
        step("bundle pack app --to oci-layout:layout:1.2 --deployment v1alpha2 --name app --image registry.example.com/bundles/app", 0, &["/bundles/app@sha256:43cfe624"]),
    ])]),
    wish("objects that lack a namespace", &[scene(bundles, &[
        step("bundle inspect homeless", 0, &["warning[namespace-missing]: `ConfigMap a` is in no namespace", "pack with `--namespace NAME`"]),
        step("bundle pack homeless --namespace app --to dir:out", 0, &["out: 1 created"]),
        step("cat out/manifests/a.yaml", 0, &["namespace: app"]),
    ])]),
    wish("nested bundles, several sources, dependencies", &[scene(bundles, &[
        step("bundle pack index:bundles.yaml --order names --to dir:out", 0, &["plain+v0 bundle of 3 files, 3 objects; out: 3 created"]),
        step("bundle pack index:unmet.yaml --to dir:out", 1, &["error["]),
    ])]),
    wish("off-cluster, from images of several architectures and local contents", &[scene(bundles, &[
        step("bundle unpack valid --to out", 0, &["plain+v0 bundle of 1 file; out: 1 created"]),
        step("cat out/manifests/crds.yaml", 0, &["kind: CustomResourceDefinition"]),
    ]), scene(several_architectures, &[
        step("bundle unpack oci-layout:layout:1.2 --to out", 0, &["plain+v0 bundle of 1 file; out: 1 created"]),
        step("cat out/manifests/app.yaml", 0, &["metadata: {name: arm64}"]),
    ])]),
    wish("an OLM-based provisioner", &[scene(bundles, &[step("bundle inspect olm", 1, &["error[bundle-unsupported]: bundles of kind registry+v1 are not supported"])])])
        .otherwise("OLM decides in the cluster what it installs; a `ClusterExtension` in git installs the same version ([table](bundles.md#what-rukpak-did-in-a-cluster))"),
    wish("retries, authorization of contents, a kubectl plugin", &[scene(pushed, &[
        step("bundle pull oci://registry.example.org/bundles/app:1.2 out --allow-tag --key cosign.pub", 1, &["error[signature-missing]"]),
    ])]).otherwise("nothing is applied here: Flux and Argo CD retry, a merge request approves, and `--key` takes only what somebody signed ([table](bundles.md#what-rukpak-did-in-a-cluster))"),
];

const ENDPOINT: &[Wish] = &[
    wish(
        "a DNS name or an address that the user gives",
        &[
            scene(
                explicit_name,
                &[step(
                    "render --stdout",
                    0,
                    &["host: api.example.org", "port: 6443"],
                )],
            ),
            scene(
                explicit_address,
                &[step("render --stdout", 0, &["host: \"192.0.2.99\""])],
            ),
        ],
    ),
    wish(
        "the address of any of the 3 machines",
        &[scene(
            any_host,
            &[
                step("render --stdout", 0, &["host: \"192.0.2.11\""]),
                step(
                    "check",
                    0,
                    &[
                        "warning[endpoint-single-host]: 3 control plane replicas are behind host `host-01` alone",
                    ],
                ),
            ],
        )],
    ),
    wish(
        "left blank, it is filled; when that host goes, with another",
        &[
            scene(
                blank,
                &[
                    step("render --stdout", 0, &["host: \"192.0.2.11\""]),
                    step("check", 0, &["warning[endpoint-single-host]"]),
                ],
            ),
            scene(
                host_gone,
                &[
                    step("render --stdout", 0, &["host: \"192.0.2.12\""]),
                    step(
                        "impact --against HEAD",
                        0,
                        &[
                            "192.0.2.11:6443 of host host-01 → 192.0.2.12:6443 of host host-02",
                            "warning[endpoint-replaced]",
                        ],
                    ),
                ],
            ),
        ],
    ),
    wish(
        "which interface, public or not",
        &[
            scene(
                interface,
                &[step("render --stdout", 0, &["host: \"203.0.113.12\""])],
            ),
            scene(
                any_host,
                &[step("render --stdout", 0, &["host: \"192.0.2.11\""])],
            ),
        ],
    ),
    wish(
        "kube-vip in ARP, BGP or WireGuard mode",
        &[
            scene(
                arp,
                &[step(
                    "render --stdout",
                    0,
                    &["- name: vip_arp", "- name: address"],
                )],
            ),
            scene(bgp, &[step("render --stdout", 0, &["- name: bgp_enable"])]),
            scene(
                wireguard,
                &[step("render --stdout", 0, &["- name: vip_wireguard"])],
            ),
        ],
    ),
    wish(
        "learned from the ElementalHost",
        &[scene(
            elemental_host,
            &[
                step("cat hosts.yaml", 0, &["kind: ElementalHost"]),
                step("render --stdout", 0, &["host: \"192.0.2.31\""]),
            ],
        )],
    ),
    wish(
        "3 control plane nodes and 7 workers of 10 machines",
        &[
            scene(
                three_and_seven,
                &[
                    step("check", 0, &["2 node pools checked"]),
                    step(
                        "render --stdout",
                        0,
                        &["control-plane: \"true\"", "worker: \"true\""],
                    ),
                ],
            ),
            scene(
                two_and_eight,
                &[step(
                    "check",
                    1,
                    &["error[hosts-short]: 2 hosts match pool `control-plane`, which needs 3"],
                )],
            ),
        ],
    ),
];

// What they run on.

fn fixture(name: &str) -> Stage {
    project().folder(&format!("fixtures/workspaces/{name}"))
}

fn proposal() -> Stage {
    fixture("proposal")
}

fn proposal_of_the_next_version() -> Stage {
    edit(
        proposal(),
        "values.yaml",
        "_version: 0.1.1",
        "_version: 0.1.2",
    )
}

fn edit(stage: Stage, path: &str, from: &str, to: &str) -> Stage {
    stage.edit(path, from, to);
    stage
}

/// After an edit of what is committed.
fn edit_committed(stage: Stage, path: &str, from: &str, to: &str) -> Stage {
    edit(stage.commit("before").expect("git"), path, from, to)
}

fn one_image() -> Stage {
    fixture("one-image")
}

fn own_names() -> Stage {
    project().settings("names: ['{os}-{release}-k{k8s}']")
}

fn providers() -> Stage {
    fixture("providers")
}

fn elemental() -> Stage {
    fixture("elemental")
}

/// One record, of which twelve clusters take what their machines need.
fn everywhere() -> Stage {
    const RECORD: &str = "\
images:
  records:
    image:
      os: {name: ubuntu, codename: noble}
      k8s: {flavor: kubeadm, version: 1.34.1}
      arch: amd64
      locations:
        https:
          url: https://images.example.org/ubuntu-2404-kube-v1.34.1.qcow2
          format: qcow2
          digests: {uncompressed: {sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}}
        oci: oci://registry.example.org/os/ubuntu@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
        ami: {eu-west-1: ami-0a1b2c3d4e5f60718, eu-west-3: ami-08f7e6d5c4b3a2910, format: ami}
        azure: {id: /subscriptions/0000/images/noble, format: vhd}
        docker: {image: 'kindest/node:v1.34.1', format: container}
        gce: {project: example-images, image: cluster-api-ubuntu-2404-v1-34-1-1760000000, format: raw}
        glance: {id: 8f1b2c3d-0000-4000-8000-000000000001, format: qcow2}
        hcloud: {image: ubuntu-2404-kube-v1.34.1, format: snapshot}
        kubevirt: {container-disk: 'quay.io/capk/ubuntu-2404-container-disk:v1.34.1', format: qcow2}
        proxmox: {tags: 'ubuntu-2404,kube-v1.34.1', format: qcow2}
        tinkerbell: {image: 'ghcr.io/example/images/ubuntu-2404:v1.34.1.gz', format: raw, compression: gz}
        vsphere: {template: /dc1/vm/templates/ubuntu-2404-kube-v1.34.1, format: ova}
";
    let stage = providers();
    stage.edit(
        "metalmark.yaml",
        "images: {url: \"{{ image.uri }}\"}\n",
        RECORD,
    );
    for file in stage.list("") {
        let text = stage.read(&file);
        if let Some((before, rest)) = text.split_once("os_images:\n") {
            let cluster = rest.find("cluster:").expect("a cluster");
            stage.write(&file, format!("{before}{}", &rest[cluster..]));
        }
    }
    stage
}

fn bare(stage: Stage) -> Stage {
    let image = "k8s-flavor: kubeadm, k8s-version: \"1.34.1\"";
    edit(stage, "values.yaml", image, "k8s-flavor: none")
}

fn another_image() -> Stage {
    let (from, to) = ("ami-08f7e6d5c4b3a2910", "ami-11111111111111111");
    edit_committed(bare(providers()), "clusters/capa/values.yaml", from, to)
}

fn another_kubernetes() -> Stage {
    let (from, to) = ("k8s_version: v1.34.1", "k8s_version: v1.34.2");
    edit_committed(bare(providers()), "values.yaml", from, to)
}

fn another_provider_api() -> Stage {
    let from = "infra-cluster: true";
    let to = "infra-cluster: true, api-version: v1beta2";
    edit_committed(bare(providers()), "metalmark.yaml", from, to)
}

fn another_provider() -> Stage {
    let stage = bare(providers()).commit("before").expect("git");
    let other = stage.read("clusters/capv/values.yaml");
    stage.write("clusters/capa/values.yaml", other);
    stage
}

fn another_bundle() -> Stage {
    let (from, to) = ("rke2.tgz", "rke2-patched.tgz");
    edit_committed(right_distribution(), "site.yaml", from, to)
}

fn variable_missing() -> Stage {
    let from = "      component_bundle_env: {INSTALL_RKE2_TYPE: agent}\n";
    edit(elemental(), "values.yaml", from, "      {}\n")
}

/// After Renovate's edit, before the command that its preset runs.
fn renovated() -> Stage {
    let stage = project().folder("fixtures/update/locked");
    let edge = "before/clusters/edge-a.yaml";
    stage.edit(
        edge,
        "image_key: ubuntu-noble-plain-rke2-1-31-8 # chosen in spring",
        "os_image_selector: {os: ubuntu, hardened: false}",
    );
    stage.edit(
        edge,
        "'{{ .Values.k8s_version_map | dig \"1.31\" \"\" }}'",
        "v1.31.9+rke2r1",
    );
    let stage = stage.commit("Base").expect("git");
    stage.edit("before/values.yaml", "_version: 0.4.12", "_version: 0.4.13");
    stage
}

/// As the document shows what there is.
fn old() -> Stage {
    project().cluster(
        "site",
        "\
os_images:
  ubuntu-jammy-plain-rke2-1-26-9:
    uri: oci://registry.example.org/sylva-elements/diskimage-builder/ubuntu-jammy-plain-rke2-1.26.9:0.0.12
    filename: ubuntu-jammy-plain-rke2-1.26.9.qcow2
    checksum: ffdc81fcdc0104151aa792a508eefe0d47660b18683949edcd734b3a4f938f20
cluster:
  k8s_version: v1.26.9
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  control_plane_replicas: 1
  capm3:
    machine_image_url: http://ubuntu-jammy-plain-rke2-1-26-9.os-images.svc.cluster.local:8080/ubuntu-jammy-plain-rke2-1.26.9.qcow2
    machine_image_format: qcow2
    machine_image_checksum: http://ubuntu-jammy-plain-rke2-1-26-9.os-images.svc.cluster.local:8080/ubuntu-jammy-plain-rke2-1.26.9.qcow2.sha256sum
    machine_image_checksum_type: sha256
",
    )
}

fn old_of_another_version() -> Stage {
    edit(
        old(),
        "site.yaml",
        "k8s_version: v1.26.9",
        "k8s_version: v1.27.3",
    )
}

const CATALOG: [&str; 3] = [
    "noble-31 rke2 1.31.8+rke2r1",
    "noble-31-cve rke2 1.31.8+rke2r1",
    "noble-30 rke2 1.30.12+rke2r1",
];

fn edge(image: &str) -> Stage {
    let values = "cluster: {k8s_version: v1.31.8+rke2r1, control_plane_replicas: 3, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}, capm3: {image_key: IMAGE}}\n";
    project()
        .catalog(&CATALOG)
        .cluster("edge", &values.replace("IMAGE", image))
}

fn mismatched() -> Stage {
    edge("noble-30")
}

fn not_enforced() -> Stage {
    mismatched().settings("policy: {rules: {k8s-version-mismatch: warning}}")
}

fn patched() -> Stage {
    let stage = edge("noble-31").commit("before").expect("git");
    stage.edit("edge.yaml", "noble-31", "noble-31-cve");
    stage
}

/// Before anybody locked or rendered it.
fn unlocked() -> Stage {
    let stage = project().folder("fixtures/update/locked");
    for file in stage.list("before") {
        if file.starts_with("metalmark.") && file != "metalmark.yaml"
            || file.starts_with("rendered/")
        {
            stage.remove(&format!("before/{file}"));
        }
    }
    stage
}

const IMAGE: &str =
    "registry.example.org/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8";

/// An image that cosign 3 signed, in a layout instead of its registry.
fn signed() -> Stage {
    let stage = project()
        .folder("fixtures/registry")
        .settings("values: [values.yaml]\nregistries: {mirrors: {registry.example.org: oci-layout:cosign-v3-bundle}}\npolicy: {signatures: required}")
        .file("values.yaml", format!("security: {{os_images: {{cosign_public_key: cosign.pub}}}}\nos_images: {{noble: {{uri: 'oci://{IMAGE}:0.4.12'}}}}\n"));
    stage.cluster("site", "cluster: {k8s_version: v1.31.8+rke2r1, control_plane_replicas: 3, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}, capm3: {os_image_key: noble}}\n")
}

/// The same image without a signature.
fn unsigned() -> Stage {
    edit(
        signed(),
        "metalmark.yaml",
        "cosign-v3-bundle",
        "cosign-v3-attestation",
    )
}

fn signed_by_another() -> Stage {
    let stage = signed();
    write_keys(&stage, "cosign");
    stage
}

/// A pair of keys, `NAME.key` and `NAME.pub`.
fn write_keys(stage: &Stage, name: &str) {
    let pair = rcgen::KeyPair::generate().expect("a key");
    stage.write(&format!("{name}.key"), pair.serialize_pem());
    stage.write(&format!("{name}.pub"), pair.public_key_pem());
}

fn hosted() -> Stage {
    let stage = signed();
    let _ = stage.run("lock").exit(0);
    stage
}

/// The registry is gone, and what was copied of it is there.
fn cached() -> Stage {
    let stage = hosted();
    let _ = stage.run("mirror --to oci-layout:cache").exit(0);
    fs::remove_dir_all(stage.path().join("cosign-v3-bundle")).expect("removed");
    edit(
        stage,
        "metalmark.yaml",
        "oci-layout:cosign-v3-bundle",
        "oci-layout:cache",
    )
}

/// Somebody changed the image where it is hosted.
fn tampered() -> Stage {
    let stage = hosted();
    let blob = "cosign-v3-bundle/blobs/sha256/9277abd0a5e89fd9590cf3de3244e5bf71b9ebcddbaa6b05eba281d1a6dbe5df";
    edit(stage, blob, "v1.31.8+rke2r1", "v1.31.9+rke2r1")
}

/// The tag names another image.
fn moved() -> Stage {
    let stage = hosted();
    let other =
        LayoutWriter::new(&stage.path().join("other")).image(Some(&format!("{IMAGE}:0.4.12")), &[]);
    assert!(!stage.read("metalmark.lock").contains(other.as_str()));
    edit(stage, "metalmark.yaml", "cosign-v3-bundle", "other")
}

/// The in-process registry and two pairs of keys, with a bundle of each kind.
fn keys() -> Stage {
    let host = REGISTRY.host();
    let stage = components()
        .settings(&format!(
            "registries: {{hosts: {{\"{host}\": {{plain-http: true}}}}}}"
        ))
        .file("app/app.yaml", NAMESPACE);
    write_keys(&stage, "mine");
    write_keys(&stage, "other");
    stage
}

fn install() -> Stage {
    project().cluster(
        "management",
        "\
os_images:
  node: {uri: 'https://images.example.org/ubuntu-2404-kube-v1.31.8.ova', image-format: ova, k8s-flavor: kubeadm, k8s-version: 1.31.8, locations.vsphere.template: node}
  install: {uri: 'https://images.example.org/install.ova', image-format: ova, k8s-version: 1.30.4}
cluster:
  k8s_version: v1.31.8
  capi_providers: {infra_provider: capv, bootstrap_provider: cabpk}
  capv: {image_key: node}
  install_image_key: install
",
    )
}

fn install_in_step() -> Stage {
    edit(
        install(),
        "management.yaml",
        "k8s-version: 1.30.4",
        "k8s-version: 1.31.8",
    )
}

fn to_the_letter() -> Stage {
    project()
        .settings("images: {url: '{{ image.uri }}'}")
        .cluster(
            "site",
            "\
os_images: {sle: {uri: 'oci://registry.example.org/sle@sha256:31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8', image-format: container, k8s-flavor: none}}
cluster:
  k8s_version: v1.26.7+rke2r1
  capi_providers: {infra_provider: elemental, bootstrap_provider: cabpr}
  elemental: {image_key: sle, componentsBundle: 'registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1'}
",
        )
}

/// What `check` tells to do is done: the lock, of the registry's copy in a layout.
fn delivered() -> Stage {
    const MIRROR: &str = "registries: {mirrors: {registry.suse.com: 'oci-layout:layout'}}";
    let stage = components();
    stage.write("rke2/install.env", "CHANNEL=stable\nTYPE=server\n");
    stage.write("metalmark.yaml", format!("version: 1\nclusters: [{{name: site, values: [site.yaml]}}]\noutputs: [{{target: manifests, path: out}}]\n{MIRROR}\n"));
    stage.write(
        "site.yaml",
        "\
cluster:
  k8s_version: v1.26.7+rke2r1
  capi_providers: {infra_provider: elemental, bootstrap_provider: cabpr}
  elemental: {componentsBundle: 'registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1'}
",
    );
    let to = "oci-layout:layout:registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1";
    let _ = stage
        .run(&format!(
            "bundle pack --components rke2 --k8s-version 1.26.7+rke2r1 --to {to}"
        ))
        .exit(0);
    let refused = stage.run("check").exit(1).outcome.stdout;
    assert!(
        refused.contains("= help: run `metalmark lock`"),
        "{refused}"
    );
    let _ = stage.run("lock").exit(0);
    stage
}

fn wrong_distribution() -> Stage {
    let stage = to_the_letter();
    let sum = "31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8";
    let bundle = format!(
        "component_bundles: {{rke2: {{uri: 'https://images.example.org/rke2.tgz', sha256: {sum}, k8s_version: v1.26.7+rke2r1, distros: [ubuntu]}}}}\ncluster:"
    );
    let named =
        "componentsBundle: 'registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1'";
    stage
        .edit("site.yaml", "cluster:", &bundle)
        .edit("site.yaml", named, "component_bundle_key: rke2")
        .edit(
            "site.yaml",
            "k8s-flavor: none",
            "k8s-flavor: none, os: debian",
        );
    stage
}

fn right_distribution() -> Stage {
    edit(
        wrong_distribution(),
        "site.yaml",
        "distros: [ubuntu]",
        "distros: [debian]",
    )
}

fn raised() -> Stage {
    let from = "  k8s_version: v1.31.8+rke2r1\n  capi";
    let to = "  k8s_version: v1.32.4+rke2r1\n  capi";
    edit_committed(elemental(), "values.yaml", from, to)
}

fn components() -> Stage {
    let stage = project().files(&[
        ("rke2/install.sh", "#!/bin/sh\necho \"$TYPE ${CHANNEL}\"\n"),
        ("rke2/install.env", "CHANNEL=stable\nTYPE=\n"),
    ]);
    let installer = stage.path().join("rke2/install.sh");
    fs::set_permissions(installer, fs::Permissions::from_mode(0o755)).expect("permitted");
    stage
}

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n";

fn pushed() -> Stage {
    let stage = project()
        .settings("registries: {mirrors: {registry.example.org/bundles: oci-layout:layout}}")
        .file("app/manifests/app.yaml", NAMESPACE);
    let key = repository().join("fixtures/registry/cosign.pub");
    fs::copy(key, stage.path().join("cosign.pub")).expect("copied");
    let to = "oci-layout:layout:registry.example.org/bundles/app:1.2";
    let _ = stage.run(&format!("bundle pack app --to {to}")).exit(0);
    stage
}

/// An image for each architecture below one name, and machines of one of them.
fn several_architectures() -> Stage {
    let stage = project().settings("registries: {architecture: arm64}");
    let architectures = ["amd64", "arm64"];
    let digests = architectures.map(|name| {
        let namespace = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n");
        stage.write(&format!("{name}/manifests/app.yaml"), namespace);
        let packed = stage.run(&format!("bundle pack {name} --to oci-layout:layout:{name}"));
        Digest::parse(packed.exit(0).outcome.stdout.trim()).expect("a digest")
    });
    let of: Vec<(&str, &Digest)> = architectures.into_iter().zip(&digests).collect();
    LayoutWriter::new(&stage.path().join("layout")).index(Some("1.2"), &of);
    stage
}

fn bundles() -> Stage {
    const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: groups.example.org}\n\
        spec: {group: example.org, scope: Namespaced, names: {kind: Group, plural: groups}, versions: []}\n";
    const SETTINGS: &str =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: app}\n";
    const GROUP: &str =
        "apiVersion: example.org/v1\nkind: Group\nmetadata: {name: all, namespace: app}\n";
    project().files(&[
        ("valid/Dockerfile", "FROM scratch\nCOPY manifests /manifests\n"),
        ("valid/manifests/crds.yaml", DEFINITION),
        ("both/manifests/a.yaml", GROUP),
        ("both/manifests/b.yaml", DEFINITION),
        ("dependent/manifests/a.yaml", NAMESPACE),
        ("dependent/manifests/b.yaml", GROUP),
        ("ordered/manifests/01_namespace.yaml", NAMESPACE),
        ("ordered/manifests/02_settings.yaml", SETTINGS),
        ("late/manifests/00_settings.yaml", SETTINGS),
        ("late/manifests/01_namespace.yaml", NAMESPACE),
        ("empty/manifests/a.yaml", ""),
        ("deep/manifests/more/a.yaml", NAMESPACE),
        ("unmet.yaml", "version: 1\nbundles: [{name: app, from: dependent, requires: [api]}]\n"),
        ("homeless/manifests/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
        ("olm/manifests/web.clusterserviceversion.yaml", "kind: ClusterServiceVersion\n"),
        ("olm/metadata/annotations.yaml", "annotations: {}\n"),
        ("nested.yaml", "version: 1\nbundles: [{name: api, from: valid}]\n"),
        ("bundles.yaml", "version: 1\nbundles: [{name: app, from: dependent, requires: [api]}, {name: api, from: 'index:nested.yaml'}]\n"),
    ])
}

fn shards() -> Stage {
    let map = |name: &str| {
        let text = "x".repeat(700 << 10);
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default}}\ndata: {{a: {text}}}\n"
        )
    };
    project().files(&[
        ("large/manifests/a.yaml", &map("a")),
        ("large/manifests/b.yaml", &map("b")),
    ])
}

/// Three labeled machines of ten, and what is said of the endpoint.
fn hosts(endpoint: &str, count: u32) -> Stage {
    let hosts = (1..=10).map(|number| {
        let role = if number <= count { "control-plane" } else { "worker" };
        format!("    host-{number:02}: {{labels: {{{role}: \"true\"}}, addresses: {{internal: 192.0.2.{}, public: 203.0.113.{}}}}}\n", number + 10, number + 11)
    });
    let hosts: String = hosts.collect();
    site(&format!("  inventory:\n{hosts}{endpoint}"))
}

fn site(more: &str) -> Stage {
    project()
        .settings("images: {url: '{{ image.uri }}'}\noutputs: [{target: manifests, path: out, infra-cluster: true}]")
        .cluster(
            "site",
            &format!(
                "\
os_images: {{sle: {{uri: 'oci://registry.example.org/sle@sha256:31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8', image-format: container, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}}}}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {{infra_provider: elemental, bootstrap_provider: cabpr}}
  control_plane_replicas: 3
  elemental: {{image_key: sle}}
  machine_deployment_default: {{elemental: {{selector: {{matchLabels: {{worker: \"true\"}}}}}}}}
  control_plane: {{elemental: {{selector: {{matchLabels: {{control-plane: \"true\"}}}}}}}}
  machine_deployments: {{md0: {{replicas: 7}}}}
{more}"
            ),
        )
}

fn explicit_name() -> Stage {
    let endpoint = "  control_plane_endpoint: {explicit: {host: api.example.org}}\n";
    hosts(endpoint, 3)
}

fn explicit_address() -> Stage {
    let endpoint = "  control_plane_endpoint: {explicit: {host: 192.0.2.99}}\n";
    hosts(endpoint, 3)
}

/// kube-vip in one of its modes.
fn kube_vip(settings: &str) -> Stage {
    let image = "ghcr.io/kube-vip/kube-vip:v1.2.3";
    let stage = hosts(
        &format!(
            "  control_plane_endpoint: {{vip: 192.0.2.10, kube_vip: {{image: '{image}', {settings}}}}}\n"
        ),
        3,
    );
    edit(
        stage,
        "metalmark.yaml",
        "infra-cluster: true",
        "infra-cluster: true, kube-vip: true",
    )
}

fn arp() -> Stage {
    kube_vip("interface: eth0")
}

fn bgp() -> Stage {
    kube_vip(
        "interface: lo, mode: bgp, bgp: {as: 65000, router_interface: eth0, peers: [{address: 192.0.2.1, as: 65001}]}",
    )
}

fn wireguard() -> Stage {
    kube_vip("interface: wg0, mode: wireguard, wireguard: {secret: wireguard}")
}

fn any_host() -> Stage {
    hosts("  control_plane_endpoint: {host: {address: internal}}\n", 3)
}

fn blank() -> Stage {
    hosts("", 3)
}

fn interface() -> Stage {
    hosts("  control_plane_endpoint: {host: {address: public}}\n", 3)
}

/// The first of the hosts is given back.
fn host_gone() -> Stage {
    let stage = edit(hosts("", 4), "site.yaml", "replicas: 7", "replicas: 6");
    let stage = stage.commit("before").expect("git");
    let text = stage.read("site.yaml");
    let hosts = text.lines().filter(|line| !line.contains("host-01"));
    stage.write("site.yaml", hosts.collect::<Vec<_>>().join("\n"));
    stage
}

fn three_and_seven() -> Stage {
    hosts("  control_plane_endpoint: {vip: 192.0.2.10}\n", 3)
}

fn two_and_eight() -> Stage {
    hosts("  control_plane_endpoint: {vip: 192.0.2.10}\n", 2)
}

fn elemental_host() -> Stage {
    let host = |number: u32| {
        let role = if number <= 3 {
            "control-plane"
        } else {
            "worker"
        };
        let address = number + 30;
        format!(
            "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: ElementalHost\nmetadata:\n  name: host-{number:02}\n  \
             labels: {{{role}: \"true\"}}\n  annotations: {{metalmark.dev/address.internal: 192.0.2.{address}}}\n---\n"
        )
    };
    let hosts: String = (1..=10).map(host).collect();
    let stage = site("").file("hosts.yaml", hosts);
    stage.edit("metalmark.yaml", "[site.yaml]", "[site.yaml, hosts.yaml]");
    stage
}
