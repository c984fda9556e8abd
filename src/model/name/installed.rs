//! The Kubernetes that a machine installs when it boots: versions in scripts, cloud-init, Ignition and lists of images.
//!
//! A version counts where a statement of a known form says whose it is: a pinned package, the address of a program, a
//! variable of an installer, a repository of packages, an image of a component. A number behind any other word is that of
//! other software, and a comment says nothing. What a variable holds is not known, so a text without digits has no version.

use std::ops::Range;

use memchr::memchr_iter;

use super::seen::{SeenVersion, read_suffix, version_at};

/// A version that a text installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledVersion {
    /// Where the statement is in the text.
    pub range: Range<usize>,
    /// The version.
    pub version: SeenVersion,
    /// How it comes onto the machine.
    pub means: Means,
}

/// How a version comes onto a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// As a program, or by a variable of an installer. Machines run it.
    Program,
    /// By a repository of packages, beside which there may be others.
    Repository,
    /// As an image that is fetched before it is needed, as those of other versions may be.
    Image,
}

/// How much of a line around a version is looked at, so that a long line costs no more than a short one.
const NEAR: usize = 500;

/// Packages and programs that are a node's Kubernetes, each with the distribution that it is of.
const PROGRAMS: &[(&str, Option<&str>)] = &[
    ("kubelet", None),
    ("kubeadm", None),
    ("rke2", Some("rke2")),
    ("rke2-agent", Some("rke2")),
    ("rke2-common", Some("rke2")),
    ("rke2-server", Some("rke2")),
    ("k3s", Some("k3s")),
    ("k0s", Some("k0s")),
];

/// Images of components that have the version of Kubernetes.
const IMAGES: &[(&str, Option<&str>)] = &[
    ("kube-apiserver", None),
    ("kube-controller-manager", None),
    ("kube-proxy", None),
    ("kube-scheduler", None),
    ("hyperkube", None),
    ("hardened-kubernetes", Some("rke2")),
    ("rke2-runtime", Some("rke2")),
];

/// Variables and keys, without what joins their words.
const VARIABLES: &[(&str, Option<&str>)] = &[
    ("kubernetesversion", None),
    ("kubeversion", None),
    ("k8sversion", None),
    ("kubeadmversion", None),
    ("kubeletversion", None),
    ("rke2version", Some("rke2")),
    ("installrke2version", Some("rke2")),
    ("installrke2channel", Some("rke2")),
    ("k3sversion", Some("k3s")),
    ("installk3sversion", Some("k3s")),
    ("installk3schannel", Some("k3s")),
    ("k0sversion", Some("k0s")),
];

/// What the addresses of Kubernetes' package repositories have before the minor version
/// (<https://kubernetes.io/blog/2023/08/15/pkgs-k8s-io-introduction/>), and what mirrors make of it.
const REPOSITORIES: [&str; 2] = ["core:/stable:/", "core/stable/"];

/// Archives that hold the programs of a node.
const ARCHIVES: [&str; 2] = ["kubernetes-node-linux-", "kubernetes-server-linux-"];

/// The versions that a text installs, in their order.
pub fn find_installed(text: &str) -> Vec<InstalledVersion> {
    let bytes = text.as_bytes();
    let is_candidate = |at: &usize| bytes.get(at + 1) == Some(&b'.');
    let candidates = memchr_iter(b'1', bytes).filter(is_candidate);
    candidates.filter_map(|at| read_at(text, at)).collect()
}

/// Whether a key of an object says the version of a program: `kubernetesVersion`.
pub fn is_version_key(key: &str) -> bool {
    find_variable(&key.to_ascii_lowercase()).is_some()
}

/// What a statement says, beside its version.
struct Statement {
    means: Means,
    distribution: Option<&'static str>,
    /// Where it begins in its line.
    begin: usize,
}

/// What is installed by a statement with a version at this place.
fn read_at(text: &str, at: usize) -> Option<InstalledVersion> {
    let first = text.floor_char_boundary(at.saturating_sub(NEAR));
    let last = text.ceil_char_boundary((at + NEAR).min(text.len()));
    let begin = text[first..at]
        .rfind('\n')
        .map_or(first, |end| first + end + 1);
    let end = text[at..last].find('\n').map_or(last, |end| at + end);
    let line = text[begin..end].to_ascii_lowercase();
    let (before, from) = line.split_at(at - begin);
    let (version, rest) = read_version(from)?;
    if is_comment(before) || is_removed(before) {
        return None;
    }
    let bare = before.strip_suffix('v').unwrap_or(before);
    let statement = read_statement(bare, rest, &text[first..begin])?;
    let token = rest.find(is_end).unwrap_or(rest.len());
    Some(InstalledVersion {
        range: begin + statement.begin..end - (rest.len() - token),
        version: SeenVersion {
            distribution: version.distribution.or(statement.distribution),
            is_named: true,
            ..version
        },
        means: statement.means,
    })
}

/// The version that a text begins with; `1.31.*` is a minor.
fn read_version(text: &str) -> Option<(SeenVersion, &str)> {
    let (version, rest) = version_at(text).or_else(|| {
        let minor = text.find(".*")?;
        let (version, rest) = version_at(&text[..minor])?;
        rest.is_empty().then_some((version, &text[minor..]))
    })?;
    Some(read_suffix(version, rest))
}

/// Whether what is before a version in its line makes it part of a comment.
fn is_comment(before: &str) -> bool {
    let own = before.trim_start();
    own.starts_with('#') || own.starts_with("//") || before.contains(" #")
}

/// Whether what is before a version in its line is a command that takes packages away.
fn is_removed(before: &str) -> bool {
    let command = before.rsplit([';', '&', '|']).next().unwrap_or(before);
    let mut words = command.split_whitespace();
    words.any(|word| ["autoremove", "erase", "purge", "remove"].contains(&word))
}

/// Whether a word of a command ends here.
fn is_end(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\'' | '`' | '(' | ')' | ';' | '|' | ',' | '[' | ']' | '<' | '>'
        )
}

/// What a version belongs to, by what is around it. `above` is the text before its line.
fn read_statement(before: &str, rest: &str, above: &str) -> Option<Statement> {
    let token = before.rfind(is_end).map_or(0, |end| end + 1);
    let whole = |means, distribution| {
        let begin = token;
        Some(Statement {
            means,
            distribution,
            begin,
        })
    };
    if REPOSITORIES.iter().any(|it| before.ends_with(it)) {
        return whole(Means::Repository, None);
    }
    // openSUSE has a package for each minor: `kubernetes1.31-kubelet`.
    let is_of_minor = ["-kubelet", "-kubeadm"]
        .iter()
        .any(|it| rest.starts_with(it));
    if is_of_minor && before.ends_with("kubernetes") {
        return whole(Means::Program, None);
    }
    if before.trim() == "pin: version" {
        let is_program = |name: &str| find_entry(PROGRAMS, name);
        let package = above.trim_end().rsplit('\n').next()?.to_ascii_lowercase();
        let distribution = is_program(package.strip_prefix("package:")?.trim())?;
        return whole(Means::Program, distribution);
    }
    if before.ends_with('/') {
        let distribution = find_program(before, rest, above)?;
        return whole(Means::Program, distribution);
    }
    let (word, separator) = split_word(before);
    let begin = before.rfind(word)?;
    // What is compared or left to a default is no assignment.
    if before[..begin].ends_with(['$', '{', '!']) {
        return None;
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    let found = |means, distribution| {
        let begin = begin.min(token);
        Some(Statement {
            means,
            distribution,
            begin,
        })
    };
    match separator {
        "=" | "-" | "_" | ":" | "," => {}
        "" if word.starts_with("--") => {}
        _ => return None,
    }
    if let Some(distribution) = find_entry(IMAGES, name).filter(|_| separator == ":") {
        return found(Means::Image, distribution);
    }
    if let Some(distribution) = find_entry(PROGRAMS, name) {
        let is_image = separator == ":" && word.contains('/');
        let means = if is_image {
            Means::Image
        } else {
            Means::Program
        };
        return found(means, distribution);
    }
    // A system extension: `kubernetes-v1.33.2-x86-64.raw`.
    let is_extension = ["-x86-64", "-arm64", ".raw"]
        .iter()
        .any(|it| rest.starts_with(it));
    if name == "kubernetes" && separator == "-" && is_extension {
        return found(Means::Program, None);
    }
    let distribution = find_variable(name).filter(|_| !matches!(separator, "-" | "_"))?;
    let is_pulled = before.contains("images pull ");
    let means = if is_pulled {
        Means::Image
    } else {
        Means::Program
    };
    found(means, distribution)
}

/// The last word of a text, and what joins it to what follows.
fn split_word(before: &str) -> (&str, &str) {
    let is_quote = |c: char| matches!(c, '"' | '\'' | ' ');
    let left = before.trim_end_matches(is_quote);
    let bare = left.trim_end_matches(['=', '-', '_', ':', ',', '"', '\'', ' ']);
    let separator = left[bare.len()..].trim_matches(is_quote);
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let begin = bare.rfind(|c: char| !is_of_word(c));
    (&bare[begin.map_or(0, |begin| begin + 1)..], separator)
}

/// The distribution of what an address with a version leads to: `/v1.31.6/bin/linux/amd64/kubelet`.
fn find_program(before: &str, rest: &str, above: &str) -> Option<Option<&'static str>> {
    let path = &rest[..rest
        .find(|c: char| is_end(c) && c != ',')
        .unwrap_or(rest.len())];
    let file = path.strip_prefix('/')?.rsplit('/').next()?;
    let names = file.split(['{', '}', ',', '.', '-']);
    if let Some(found) = names.filter_map(|name| find_entry(PROGRAMS, name)).next() {
        return Some(found);
    }
    let is_archive = ARCHIVES.iter().any(|archive| file.starts_with(archive));
    // `for name in kubelet kubeadm kubectl; do curl …/v1.31.6/bin/linux/amd64/$name`
    let is_loop =
        || file.starts_with('$') && (above.contains("kubelet") || before.contains("kubelet"));
    (is_archive || before.contains("release/") && is_loop()).then_some(None)
}

fn find_variable(name: &str) -> Option<Option<&'static str>> {
    let joined: String = name.chars().filter(|c| !matches!(c, '_' | '-')).collect();
    find_entry(VARIABLES, &joined)
}

fn find_entry(table: &[(&str, Option<&'static str>)], name: &str) -> Option<Option<&'static str>> {
    let found = table.iter().find(|(known, _)| *known == name)?;
    Some(found.1)
}

#[cfg(test)]
mod tests {
    use super::{Means, find_installed};

    /// What a text installs, each as the statement, the version, the distribution and `?` where others may be beside it.
    fn statements(text: &str) -> Vec<String> {
        let found = find_installed(text).into_iter().map(|it| {
            let mark = match it.means {
                Means::Program => "",
                Means::Repository => " repository",
                Means::Image => " image",
            };
            let distribution = it
                .version
                .distribution
                .map_or(String::new(), |of| format!(" {of}"));
            format!(
                "{} => {}{distribution}{mark}",
                &text[it.range], it.version.version
            )
        });
        found.collect()
    }

    #[test]
    fn each_form_of_a_statement_is_read() {
        for (text, expected) in [
            (
                "apt-get install -y kubelet=1.31.6-1.1 kubectl=1.31.6-1.1",
                "kubelet=1.31.6-1.1 => 1.31.6",
            ),
            ("apt install kubeadm=1.31.*", "kubeadm=1.31.* => 1.31"),
            (
                "apt-get purge kubelet && apt-get install kubelet=1.31.6-1.1",
                "kubelet=1.31.6-1.1 => 1.31.6",
            ),
            (
                "kubeadm config images pull --kubernetes-version v1.31.6",
                "--kubernetes-version v1.31.6 => 1.31.6 image",
            ),
            (
                "dnf install -y kubelet-1.31.6-150500.1.1",
                "kubelet-1.31.6-150500.1.1 => 1.31.6",
            ),
            (
                "zypper in 'kubernetes1.31-kubeadm'",
                "kubernetes1.31-kubeadm => 1.31",
            ),
            (
                "dpkg -i /opt/kubelet_1.31.6-1.1_amd64.deb",
                "/opt/kubelet_1.31.6-1.1_amd64.deb => 1.31.6",
            ),
            (
                "packages:\n- [kubelet, 1.31.6-1.1]",
                "kubelet, 1.31.6-1.1 => 1.31.6",
            ),
            (
                "- [\"kubelet\", \"1.31.6-1.1\"]",
                "kubelet\", \"1.31.6-1.1 => 1.31.6",
            ),
            (
                "Package: kubelet\nPin: version 1.31.6-*",
                "1.31.6-* => 1.31.6",
            ),
            (
                "KUBERNETES_VERSION=\"v1.31.6\"",
                "KUBERNETES_VERSION=\"v1.31.6 => 1.31.6",
            ),
            (
                "Environment=KUBELET_VERSION=v1.31.6",
                "Environment=KUBELET_VERSION=v1.31.6 => 1.31.6",
            ),
            (
                "kubernetesVersion: v1.31.6",
                "kubernetesVersion: v1.31.6 => 1.31.6",
            ),
            (
                "kubeadm init --kubernetes-version 1.31.6",
                "--kubernetes-version 1.31.6 => 1.31.6",
            ),
            (
                "curl -sfL https://get.k3s.io | INSTALL_K3S_VERSION=v1.31.6+k3s1 sh -",
                "INSTALL_K3S_VERSION=v1.31.6+k3s1 => 1.31.6+k3s1 k3s",
            ),
            (
                "INSTALL_RKE2_CHANNEL=v1.31",
                "INSTALL_RKE2_CHANNEL=v1.31 => 1.31 rke2",
            ),
            (
                "curl -LO https://dl.k8s.io/release/v1.31.6/bin/linux/amd64/kubelet",
                "https://dl.k8s.io/release/v1.31.6/bin/linux/amd64/kubelet => 1.31.6",
            ),
            (
                "curl https://m/release/v1.31.6/bin/linux/amd64/{kubeadm,kubelet}",
                "https://m/release/v1.31.6/bin/linux/amd64/{kubeadm => 1.31.6",
            ),
            (
                "wget https://dl.k8s.io/v1.31.6/kubernetes-node-linux-amd64.tar.gz",
                "https://dl.k8s.io/v1.31.6/kubernetes-node-linux-amd64.tar.gz => 1.31.6",
            ),
            (
                "curl https://github.com/k3s-io/k3s/releases/download/v1.31.6%2Bk3s1/k3s",
                "https://github.com/k3s-io/k3s/releases/download/v1.31.6%2Bk3s1/k3s => 1.31.6+k3s1 k3s",
            ),
            (
                "https://github.com/rancher/rke2/releases/download/v1.31.6+rke2r1/rke2.linux-amd64.tar.gz",
                "https://github.com/rancher/rke2/releases/download/v1.31.6+rke2r1/rke2.linux-amd64.tar.gz => 1.31.6+rke2r1 rke2",
            ),
            (
                "for b in kubelet kubeadm; do\n  curl -LO https://dl.k8s.io/release/v1.31.6/bin/linux/amd64/$b; done",
                "https://dl.k8s.io/release/v1.31.6/bin/linux/amd64/$b => 1.31.6",
            ),
            (
                "deb https://pkgs.k8s.io/core:/stable:/v1.31/deb/ /",
                "https://pkgs.k8s.io/core:/stable:/v1.31/deb/ => 1.31 repository",
            ),
            (
                "ctr -n k8s.io images pull registry.k8s.io/kube-apiserver:v1.31.6",
                "registry.k8s.io/kube-apiserver:v1.31.6 => 1.31.6 image",
            ),
            (
                "image: ghcr.io/siderolabs/kubelet:v1.31.6",
                "ghcr.io/siderolabs/kubelet:v1.31.6 => 1.31.6 image",
            ),
            (
                "rancher/rke2-runtime:v1.31.6-rke2r1",
                "rancher/rke2-runtime:v1.31.6-rke2r1 => 1.31.6+rke2r1 rke2 image",
            ),
            (
                "source: https://extensions.flatcar.org/extensions/kubernetes-v1.31.6-x86-64.raw",
                "https://extensions.flatcar.org/extensions/kubernetes-v1.31.6-x86-64.raw => 1.31.6",
            ),
        ] {
            assert_eq!(statements(text), [expected], "{text}");
        }
    }

    #[test]
    fn other_software_comments_and_variables_say_nothing() {
        for text in [
            "apt install containerd.io=1.31.6-1 kubernetes-cni=1.31.6 cri-tools=1.31.1-1.1 kubectl=1.31.6-1.1",
            "curl https://github.com/kubernetes-sigs/cri-tools/releases/download/v1.31.1/crictl-v1.31.1-linux-amd64.tar.gz",
            "curl -LO https://dl.k8s.io/release/v1.31.6/bin/linux/amd64/kubectl",
            "curl -LO https://dl.k8s.io/release/v1.31.6/bin/linux/amd64/$name",
            "deb https://pkgs.k8s.io/addons:/cri-o:/stable:/v1.31/deb/ /",
            "image: registry.k8s.io/autoscaling/cluster-autoscaler:v1.31.6",
            "image: ghcr.io/kube-vip/kube-vip:v1.10.2",
            "image: registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.31.6",
            "HELM_VERSION=v1.31.6 CNI_PLUGINS_VERSION=1.31.6",
            "# apt install kubelet=1.31.6-1.1",
            "swapoff -a # kubelet=1.31.6-1.1",
            "// kubelet=1.31.6-1.1",
            "apt install kubelet=${KUBERNETES_VERSION:-1.31.6}",
            "if [ \"$KUBERNETES_VERSION\" = \"1.31.6\" ]; then",
            "[[ ${KUBERNETES_VERSION} == 1.31.6 ]]",
            "kubeVersion: '>=1.31.6'",
            "echo kubelet 1.31.6",
            "kubelet=1.3.6 kubelet=11.31.6 kubelet-v0.1.31.6",
            "Package: containerd\nPin: version 1.31.6-*",
            "https://example.org/kubernetes-v1.31.6-notes.html",
            "K8S_VERSION-1.31.6",
            "apt-get remove -y kubelet=1.31.6-1.1",
        ] {
            assert_eq!(statements(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_line_of_any_length_is_read_around_its_versions() {
        let far = "é".repeat(600);
        assert_eq!(
            statements(&format!("{far} kubelet=1.31.6 {far}")),
            ["kubelet=1.31.6 => 1.31.6"]
        );
    }
}
