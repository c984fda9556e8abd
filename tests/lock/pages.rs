//! Image files on a plain web server: locked from its index page and checksum files, used without it, verified against it.

use snapbox::str;

use crate::support::registry::{Registry, Reply};
use crate::support::stage::{Stage, project};
use crate::support::story::Story;

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
fn site(server: &Registry, page: &str) -> Stage {
    let file = format!(
        "version: 1\nclusters: [{{name: edge-1, values: [values.yaml]}}]\nimages: {{facts: ['http://{host}/{page}']}}\n\
         registries: {{hosts: {{'{host}': {{plain-http: true}}}}}}\noutputs: [{{target: manifests, path: out}}]\n",
        host = server.host()
    );
    let values = "cluster:\n  k8s_version: v1.34.1\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n  \
                  control_plane_replicas: 1\n  capm3: {image_key: ubuntu-2404-kube-v1-34-1}\n";
    project().files(&[("metalmark.yaml", &file), ("values.yaml", values)])
}

/// The project asks another server from now on, and its lock is of that one.
fn redirect(stage: &Stage, from: &Registry, to: &Registry) {
    for file in ["metalmark.yaml", "metalmark.lock"] {
        let text = stage.read(file);
        stage.write(file, text.replace(&from.host(), &to.host()));
    }
}

const IMAGE: &str = "ubuntu-2404-kube-v1.34.1.raw";

#[test]
fn images_of_a_web_server_get_their_checksums_from_the_page_into_the_lock_and_the_template() {
    let sums = format!("{}  {IMAGE}\n{}  ../etc/passwd\n", digest("a"), digest("c"));
    let files: Served = vec![
        (IMAGE, "never fetched".into()),
        ("other.qcow2", "never fetched".into()),
        ("bare.raw", "never fetched".into()),
        ("SHA256SUMS", sums),
        (
            "other.qcow2.sha256sum",
            format!("{}  built-as.qcow2\n", digest("b")),
        ),
    ];
    let server = server(files, true);
    let stage = site(&server, "os/");
    let mut story = Story::new(&stage).name(server.host(), "HOST");
    story.runs(&["check"]);
    assert_eq!(
        server.count(),
        0,
        "nothing is fetched while values are checked"
    );
    story.runs(&["lock"]);
    let lock = stage.read("metalmark.lock");
    assert!(
        !lock.contains("passwd") && lock.contains("key: other"),
        "{lock}"
    );
    let seen = server.seen().into_iter().map(|request| request.path);
    assert_eq!(
        seen.collect::<Vec<_>>(),
        ["/os/", "/os/SHA256SUMS", "/os/other.qcow2.sha256sum"]
    );
    let rendered = stage.run("render --stdout --frozen").exit(0).outcome.stdout;
    let url = format!("url: http://{}/os/{IMAGE}", server.host());
    for part in [digest("a"), url] {
        assert!(rendered.contains(&part), "{part}: {rendered}");
    }
    assert_eq!(server.count(), 3, "and nothing while they are rendered");
    story.runs(&["lock", "verify", "lock --check"]).is(str![[r#"
$ check => 1
error[unknown-image]: image `ubuntu-2404-kube-v1-34-1` is not in the catalog --> values.yaml:5:22
warning[lock-missing-image]: nothing that `http://HOST/os/` lists is in the lock
1 error, 1 warning in 1 cluster; 0 node pools checked; 1 skipped: its image key is not in the catalog
$ lock => 0
added   other sha256:3e23e8160039… http://HOST/os/other.qcow2
added   ubuntu-2404-kube-v1-34-1 sha256:ca978112ca1b… http://HOST/os/ubuntu-2404-kube-v1.34.1.raw
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
warning[checksum-missing]: `http://HOST/os/` lists images without a sha256 or sha512: `bare.raw`
warning[signature-unchecked]: `http://HOST/os/` is read over plain HTTP, so that anybody on the way can replace images together with their checksums
$ lock => 0
metalmark.lock: 2 kept, 0 added, 0 updated, 0 dropped; unchanged
warning[checksum-missing]: `http://HOST/os/` lists images without a sha256 or sha512: `bare.raw`
warning[signature-unchecked]: `http://HOST/os/` is read over plain HTTP, so that anybody on the way can replace images together with their checksums
$ verify => 0
IMAGE                     TAG        SIGNED BY  REFERENCE
other                     as locked  –          http://HOST/os/other.qcow2
ubuntu-2404-kube-v1-34-1  as locked  –          http://HOST/os/ubuntu-2404-kube-v1.34.1.raw
$ lock --check => 0
no findings in 1 cluster

"#]]);
}

#[test]
fn a_file_that_changes_under_its_name_is_reported_and_taken_only_when_accepted() {
    let sums = |text: &str| vec![("SHA256SUMS", format!("{}  {IMAGE}\n", digest(text)))];
    // A server that lists nothing and serves its digests all the same.
    let first = server(sums("a"), false);
    let stage = site(&first, "os/");
    let second = server(sums("b"), true);
    let mut story = Story::new(&stage)
        .name(first.host(), "FIRST")
        .name(second.host(), "SECOND");
    story.runs(&["lock"]);
    redirect(&stage, &first, &second);
    stage.edit("metalmark.yaml", "/os/'", "/os/SHA256SUMS'");
    story.note("other digests");
    let accept = "lock --accept-moved ubuntu-2404-kube-v1-34-1";
    story.runs(&["lock", "verify", accept]);
    let lock = stage.read("metalmark.lock");
    assert!(lock.contains(&digest("b")));
    // While the server is away, what is locked below the page stays, and nothing else. Nor is a file verified whose page nobody
    // could read.
    let below = lock.split("\n\n").nth(1).expect("an entry").trim_end();
    let beside = below.replace("/os/", "/os-old/").replace("kube", "old");
    stage.write(
        "metalmark.lock",
        format!("{}\n\n{beside}\n", lock.trim_end()),
    );
    drop(second);
    story.note("the server is away").runs(&["lock", "verify"]);
    story.is(str![[r#"
$ lock => 0
added   ubuntu-2404-kube-v1-34-1 sha256:ca978112ca1b… http://FIRST/os/ubuntu-2404-kube-v1.34.1.raw
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
warning[signature-unchecked]: `http://FIRST/os/` is read over plain HTTP, so that anybody on the way can replace images together with their checksums
# other digests
$ lock => 1
metalmark.lock: 1 kept, 0 added, 0 updated, 0 dropped; unchanged
error[tag-moved]: `http://SECOND/os/ubuntu-2404-kube-v1.34.1.raw` has moved: it is `sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d` now --> metalmark.lock:7:11
warning[signature-unchecked]: `http://SECOND/os/SHA256SUMS` is read over plain HTTP, so that anybody on the way can replace images together with their checksums
$ verify => 1
IMAGE                     TAG            SIGNED BY  REFERENCE
ubuntu-2404-kube-v1-34-1  not as locked  –          http://SECOND/os/ubuntu-2404-kube-v1.34.1.raw
error[tag-moved]: `http://SECOND/os/ubuntu-2404-kube-v1.34.1.raw` has moved: it is `sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d` now --> metalmark.lock:7:11
$ lock --accept-moved ubuntu-2404-kube-v1-34-1 => 0
updated ubuntu-2404-kube-v1-34-1 sha256:3e23e8160039… http://SECOND/os/ubuntu-2404-kube-v1.34.1.raw
metalmark.lock: 0 kept, 0 added, 1 updated, 0 dropped; written
warning[signature-unchecked]: `http://SECOND/os/SHA256SUMS` is read over plain HTTP, so that anybody on the way can replace images together with their checksums
# the server is away
$ lock => 2
dropped ubuntu-2404-old-v1-34-1 sha256:3e23e8160039… http://SECOND/os-old/ubuntu-2404-old-v1.34.1.raw
metalmark.lock: 1 kept, 0 added, 0 updated, 1 dropped; written
error: http://SECOND/os/SHA256SUMS: `SECOND` refused the connection
$ verify => 2
IMAGE                     TAG      SIGNED BY  REFERENCE
ubuntu-2404-kube-v1-34-1  unknown  –          http://SECOND/os/ubuntu-2404-kube-v1.34.1.raw
error: http://SECOND/os/SHA256SUMS: `SECOND` refused the connection

"#]]);
    assert_eq!(stage.read("metalmark.lock"), lock);
}

#[test]
fn a_file_that_is_gone_from_its_server_is_found_and_stays_locked_while_a_pool_boots_it() {
    let other = "ubuntu-2404-kube-v1.34.0.raw";
    let serve = |names: &[&str]| {
        let line = |name: &&str| format!("{}  {name}\n", digest(name));
        server(
            vec![("SHA256SUMS", names.iter().map(line).collect())],
            false,
        )
    };
    let first = serve(&[IMAGE, other]);
    let stage = site(&first, "os/SHA256SUMS");
    let later = serve(&[]);
    let mut story = Story::new(&stage)
        .name(first.host(), "FIRST")
        .name(later.host(), "LATER");
    story.runs(&["lock"]);
    // What no pool boots may go; what one boots may not.
    redirect(&stage, &first, &later);
    story.note("the server lists nothing");
    for command in ["verify", "lock", "lock --upgrade"] {
        story.runs(&[command]);
    }
    story.is(str![[r#"
$ lock => 0
added   ubuntu-2404-kube-v1-34-0 sha256:72d927f51a0f… http://FIRST/os/ubuntu-2404-kube-v1.34.0.raw
added   ubuntu-2404-kube-v1-34-1 sha256:69701ed95fc3… http://FIRST/os/ubuntu-2404-kube-v1.34.1.raw
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
warning[signature-unchecked]: `http://FIRST/os/SHA256SUMS` is read over plain HTTP, so that anybody on the way can replace images together with their checksums
# the server lists nothing
$ verify => 1
IMAGE                     TAG            SIGNED BY  REFERENCE
ubuntu-2404-kube-v1-34-0  not as locked  –          http://LATER/os/ubuntu-2404-kube-v1.34.0.raw
ubuntu-2404-kube-v1-34-1  not as locked  –          http://LATER/os/ubuntu-2404-kube-v1.34.1.raw
error[catalog-drift]: `http://LATER/os/ubuntu-2404-kube-v1.34.0.raw` is gone: its page does not list it --> metalmark.lock:6:14
error[catalog-drift]: `http://LATER/os/ubuntu-2404-kube-v1.34.1.raw` is gone: its page does not list it --> metalmark.lock:16:14
$ lock => 1
dropped ubuntu-2404-kube-v1-34-0 sha256:72d927f51a0f… http://LATER/os/ubuntu-2404-kube-v1.34.0.raw
metalmark.lock: 1 kept, 0 added, 0 updated, 1 dropped; written
error[catalog-drift]: `http://LATER/os/ubuntu-2404-kube-v1.34.1.raw` is gone: its page does not list it --> metalmark.lock:16:14
warning[signature-unchecked]: `http://LATER/os/SHA256SUMS` is read over plain HTTP, so that anybody on the way can replace images together with their checksums
$ lock --upgrade => 1
metalmark.lock: 1 kept, 0 added, 0 updated, 0 dropped; unchanged
error[catalog-drift]: `http://LATER/os/ubuntu-2404-kube-v1.34.1.raw` is gone: its page does not list it --> metalmark.lock:6:14
warning[signature-unchecked]: `http://LATER/os/SHA256SUMS` is read over plain HTTP, so that anybody on the way can replace images together with their checksums

"#]]);
    let kept = stage.read("metalmark.lock");
    assert!(kept.contains(IMAGE) && !kept.contains(other), "{kept}");
}

/// A checksum that was published wrong, or for another build, is seen before a machine fails on it.
#[test]
fn the_bytes_of_a_file_are_compared_with_what_is_locked() {
    let sums = |content: &str| format!("{}  {IMAGE}\n", digest(content));
    let serves = |content: &str, of: &str| {
        let files = vec![(IMAGE, content.to_owned()), ("SHA256SUMS", sums(of))];
        server(files, true)
    };
    let (right, wrong) = (serves("a disk", "a disk"), serves("another", "a disk"));
    let stage = site(&right, "os/");
    let mut story = Story::new(&stage).name(right.host(), "HOST");
    story.runs(&["lock", "verify --bytes"]);
    redirect(&stage, &right, &wrong);
    let mut story = story.name(wrong.host(), "HOST");
    story
        .note("other bytes")
        .runs(&["verify", "verify --bytes"]);
    // Right by its checksum, and no raw image: the disk of another hypervisor.
    let packed = serves("KDMV of a disk", "KDMV of a disk");
    redirect(&stage, &wrong, &packed);
    let mut story = story.name(packed.host(), "HOST");
    story.note("another format");
    story.runs(&[
        "lock --accept-moved ubuntu-2404-kube-v1-34-1",
        "verify --bytes",
    ]);
    drop(packed);
    story.note("no server").runs(&["verify --bytes"]);
    story.is(str![[r#"
$ lock => 0
added   ubuntu-2404-kube-v1-34-1 sha256:d614d695eb48… http://HOST/os/ubuntu-2404-kube-v1.34.1.raw
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
warning[signature-unchecked]: `http://HOST/os/` is read over plain HTTP, so that anybody on the way can replace images together with their checksums
$ verify --bytes => 0
IMAGE                     TAG        SIGNED BY  REFERENCE
ubuntu-2404-kube-v1-34-1  as locked  –          http://HOST/os/ubuntu-2404-kube-v1.34.1.raw
# other bytes
$ verify => 0
IMAGE                     TAG        SIGNED BY  REFERENCE
ubuntu-2404-kube-v1-34-1  as locked  –          http://HOST/os/ubuntu-2404-kube-v1.34.1.raw
$ verify --bytes => 1
IMAGE                     TAG        SIGNED BY  REFERENCE
ubuntu-2404-kube-v1-34-1  as locked  –          http://HOST/os/ubuntu-2404-kube-v1.34.1.raw
error[image-incomplete]: `http://HOST/os/ubuntu-2404-kube-v1.34.1.raw`: its bytes have the digest `sha256:ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5`, and `sha256:d614d695eb483126af8a5376433956a60f472ea41b5147893a461e1823006387` is locked --> metalmark.lock:7:11
# another format
$ lock --accept-moved ubuntu-2404-kube-v1-34-1 => 0
updated ubuntu-2404-kube-v1-34-1 sha256:f2b78ddd79fd… http://HOST/os/ubuntu-2404-kube-v1.34.1.raw
metalmark.lock: 0 kept, 0 added, 1 updated, 0 dropped; written
warning[signature-unchecked]: `http://HOST/os/` is read over plain HTTP, so that anybody on the way can replace images together with their checksums
$ verify --bytes => 0
IMAGE                     TAG        SIGNED BY  REFERENCE
ubuntu-2404-kube-v1-34-1  as locked  –          http://HOST/os/ubuntu-2404-kube-v1.34.1.raw
warning[fact-conflict]: `image-format` of `ubuntu-2404-kube-v1-34-1` is `raw`, and its bytes are those of `vmdk` --> metalmark.lock:11:19
# no server
$ verify --bytes => 2
IMAGE                     TAG      SIGNED BY  REFERENCE
ubuntu-2404-kube-v1-34-1  unknown  –          http://HOST/os/ubuntu-2404-kube-v1.34.1.raw
error: http://HOST/os/ubuntu-2404-kube-v1.34.1.raw: `HOST` refused the connection --> metalmark.lock:6:14 (`ubuntu-2404-kube-v1-34-1`)

"#]]);
}

/// What is packed is not looked into.
#[test]
fn the_format_of_a_packed_file_is_not_known() {
    for (content, conflicts) in [
        ("BZh packed", 0),
        ("vhdxfile", 1),
        ("conectix", 1),
        ("raw", 0),
    ] {
        let sums = format!("{}  {IMAGE}\n", digest(content));
        let files = vec![(IMAGE, content.to_owned()), ("SHA256SUMS", sums)];
        let server = server(files, true);
        let stage = site(&server, "os/");
        let _ = stage.run("lock").exit(0);
        let said = stage.run("verify --bytes").outcome;
        let said = format!("{}{}", said.stdout, said.stderr);
        assert_eq!(
            said.matches("fact-conflict").count(),
            conflicts,
            "{content}: {said}"
        );
    }
}
