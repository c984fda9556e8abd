//! Image files on a plain web server: locked from its index page and checksum files, used without it, verified against it.

use std::fs;
use std::path::Path;

use super::support::registry::{Registry, Reply};
use super::support::{Metalmark, Outcome};

/// What a server serves below `/os/`, by name.
type Served = Vec<(&'static str, String)>;

fn digest(text: &str) -> String {
    oci_artifacts::Digest::compute(text.as_bytes())
        .hex()
        .to_owned()
}

/// A web server with an index page as nginx writes it, or without one.
fn server(files: Served, lists: bool) -> Registry {
    let server = Registry::plain();
    server.hook(move |request, _| {
        let name = request.path.strip_prefix("/os/").unwrap_or("nothing");
        if name.is_empty() {
            let link = |(name, _): &(&str, String)| {
                format!("<a href=\"{name}\">{name}</a> 01-Jan-2026 10:00 12\r\n")
            };
            let links: String = files.iter().map(link).collect();
            let page =
                format!("<html><body><pre><a href=\"../\">../</a>\r\n{links}</pre></body></html>");
            return Some(if lists {
                Reply::new(200, page.into_bytes()).header("Content-Type", "text/html")
            } else {
                Reply::new(403, b"no".to_vec())
            });
        }
        let found = files.iter().find(|(known, _)| *known == name);
        Some(match found {
            Some((_, text)) => Reply::new(200, text.clone().into_bytes()),
            None => Reply::new(404, b"nothing here".to_vec()),
        })
    });
    server
}

/// A cluster that boots `ubuntu-2404-kube-v1.34.1.raw` of the page.
fn project(folder: &Path, server: &Registry, page: &str) {
    let project = format!(
        "version: 1\nclusters: [{{name: edge-1, values: [values.yaml]}}]\nimages: {{facts: ['http://{host}/{page}']}}\n\
         registries: {{hosts: {{'{host}': {{plain-http: true}}}}}}\noutputs: [{{target: manifests, path: out}}]\n",
        host = server.host()
    );
    let values = "cluster:\n  k8s_version: v1.34.1\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n  \
                  control_plane_replicas: 1\n  capm3: {image_key: ubuntu-2404-kube-v1-34-1}\n";
    fs::write(folder.join("metalmark.yaml"), project).expect("written");
    fs::write(folder.join("values.yaml"), values).expect("written");
}

fn run(folder: &Path, args: &[&str]) -> Outcome {
    Metalmark::within(folder).args(args.iter().copied()).run()
}

const IMAGE: &str = "ubuntu-2404-kube-v1.34.1.raw";

#[test]
fn images_of_a_web_server_get_their_checksums_from_the_page_into_the_lock_and_the_template() {
    let files: Served = vec![
        (IMAGE, "never fetched".into()),
        ("other.qcow2", "never fetched".into()),
        ("bare.raw", "never fetched".into()),
        (
            "SHA256SUMS",
            format!("{}  {IMAGE}\n{}  ../etc/passwd\n", digest("a"), digest("c")),
        ),
        (
            "other.qcow2.sha256sum",
            format!("{}  built-as.qcow2\n", digest("b")),
        ),
    ];
    let server = server(files, true);
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    project(folder, &server, "os/");
    let before = run(folder, &["check"]);
    assert!(
        before.stdout.contains("lists is in the lock")
            || before.stdout.contains("lock-missing-image"),
        "{}",
        before.stdout
    );
    assert_eq!(
        server.count(),
        0,
        "nothing is fetched while values are checked"
    );
    let locked = run(folder, &["lock"]);
    assert_eq!(locked.status, 0, "{}{}", locked.stdout, locked.stderr);
    assert!(
        locked.stdout.contains("added   ubuntu-2404-kube-v1-34-1"),
        "{}",
        locked.stdout
    );
    assert!(locked.stderr.contains("`bare.raw`"), "{}", locked.stderr);
    let lock = fs::read_to_string(folder.join("metalmark.lock")).expect("a lock");
    assert!(
        !lock.contains("passwd") && lock.contains("key: other"),
        "{lock}"
    );
    let seen: Vec<String> = server
        .seen()
        .into_iter()
        .map(|request| request.path)
        .collect();
    assert_eq!(
        seen,
        ["/os/", "/os/SHA256SUMS", "/os/other.qcow2.sha256sum"]
    );
    let rendered = run(folder, &["render", "--stdout", "--frozen"]);
    assert_eq!(rendered.status, 0, "{}{}", rendered.stdout, rendered.stderr);
    for reported in [
        digest("a"),
        format!("url: http://{}/os/{IMAGE}", server.host()),
    ] {
        assert!(
            rendered.stdout.contains(&reported),
            "{reported}: {}",
            rendered.stdout
        );
    }
    assert_eq!(server.count(), 3, "and nothing while they are rendered");
    let again = run(folder, &["lock"]);
    assert_eq!((again.status, &*again.stderr), (0, &*locked.stderr));
    assert!(again.stdout.contains("2 kept, 0 added"), "{}", again.stdout);
    let verified = run(folder, &["verify"]);
    assert_eq!(verified.status, 0, "{}{}", verified.stdout, verified.stderr);
    assert!(verified.stdout.contains("as locked"), "{}", verified.stdout);
    let checked = run(folder, &["lock", "--check"]);
    assert_eq!(checked.status, 0, "{}{}", checked.stdout, checked.stderr);
}

#[test]
fn a_file_that_changes_under_its_name_is_reported_and_taken_only_when_accepted() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    let sums = |text: &str| vec![("SHA256SUMS", format!("{}  {IMAGE}\n", digest(text)))];
    // A server that lists nothing and serves its digests all the same.
    let first = server(sums("a"), false);
    project(folder, &first, "os/");
    let locked = run(folder, &["lock"]);
    assert_eq!(locked.status, 0, "{}{}", locked.stdout, locked.stderr);
    let second = server(sums("b"), true);
    let project_file = folder.join("metalmark.yaml");
    for file in [&project_file, &folder.join("metalmark.lock")] {
        let text = fs::read_to_string(file).expect("text");
        fs::write(file, text.replace(&first.host(), &second.host())).expect("written");
    }
    let text = fs::read_to_string(&project_file).expect("text");
    fs::write(&project_file, text.replace("/os/'", "/os/SHA256SUMS'")).expect("written");
    let moved = run(folder, &["lock"]);
    assert_eq!(moved.status, 1, "{}", moved.stdout);
    assert!(moved.stderr.contains("tag-moved"), "{}", moved.stderr);
    let verified = run(folder, &["verify", "--output", "json"]);
    assert_eq!(verified.status, 1);
    let verified: serde_json::Value = serde_json::from_str(&verified.stdout).expect("JSON");
    assert_eq!(verified["images"][0]["in_place"], false);
    let accepted = run(
        folder,
        &["lock", "--accept-moved", "ubuntu-2404-kube-v1-34-1"],
    );
    assert_eq!(accepted.status, 0, "{}{}", accepted.stdout, accepted.stderr);
    let lock = fs::read_to_string(folder.join("metalmark.lock")).expect("a lock");
    assert!(lock.contains(&digest("b")));
    // While the server is away, what is locked below the page stays, and nothing else.
    let below = lock.split("\n\n").nth(1).expect("an entry").trim_end();
    let beside = below.replace("/os/", "/os-old/").replace("kube", "old");
    fs::write(
        folder.join("metalmark.lock"),
        format!("{}\n\n{beside}\n", lock.trim_end()),
    )
    .expect("written");
    drop(second);
    let away = run(folder, &["lock"]);
    assert_eq!(away.status, 2, "{}{}", away.stdout, away.stderr);
    assert!(
        away.stdout
            .contains("1 kept, 0 added, 0 updated, 1 dropped"),
        "{}",
        away.stdout
    );
    assert_eq!(
        fs::read_to_string(folder.join("metalmark.lock")).expect("a lock"),
        lock
    );
    // Nor is a file verified whose page nobody could read.
    let verified = run(folder, &["verify"]);
    assert_eq!(verified.status, 2, "{}{}", verified.stdout, verified.stderr);
    assert!(verified.stdout.contains("unknown"), "{}", verified.stdout);
}

#[test]
fn a_file_that_is_gone_from_its_server_is_found_and_stays_locked_while_a_pool_boots_it() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    let other = "ubuntu-2404-kube-v1.34.0.raw";
    let sums = |names: &[&str]| -> Served {
        let line = |name: &&str| format!("{}  {name}\n", digest(name));
        vec![("SHA256SUMS", names.iter().map(line).collect())]
    };
    let serves = |names: &[&str]| server(sums(names), false);
    let at = |server: &Registry, lock: &str, host: &str| {
        project(folder, server, "os/SHA256SUMS");
        fs::write(
            folder.join("metalmark.lock"),
            lock.replace(host, &server.host()),
        )
        .expect("written");
    };
    let first = serves(&[IMAGE, other]);
    project(folder, &first, "os/SHA256SUMS");
    let lock = run(folder, &["lock"]);
    assert_eq!(lock.status, 0, "{}", lock.stderr);
    let whole = fs::read_to_string(folder.join("metalmark.lock")).expect("a lock");
    // What no pool boots may go; what one boots may not.
    let later = serves(&[]);
    at(&later, &whole, &first.host());
    let verify = run(folder, &["verify"]);
    assert_eq!(verify.status, 1, "{}", verify.stdout);
    assert_eq!(
        verify
            .stderr
            .matches("error[catalog-drift]: `http://")
            .count(),
        2,
        "{}",
        verify.stderr
    );
    for command in [&["lock"][..], &["lock", "--upgrade"]] {
        let lock = run(folder, command);
        assert_eq!(lock.status, 1, "{}", lock.stderr);
        assert!(
            lock.stderr.contains("error[catalog-drift]"),
            "{}",
            lock.stderr
        );
        let kept = fs::read_to_string(folder.join("metalmark.lock")).expect("a lock");
        assert!(kept.contains(IMAGE) && !kept.contains(other), "{kept}");
    }
}
