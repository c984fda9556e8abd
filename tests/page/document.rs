//! The document by itself: what it loads, what it hides, where it is written.

use std::fs;

use sha2::{Digest, Sha256};

use super::{Data, HOSTILE, between, manifests, page, run, values};
use crate::support::stage::project;
use yaml_tree::bytes::BASE64;

#[test]
fn the_page_loads_nothing_and_runs_only_its_own_script() {
    let folder = values();
    let page = page(folder.path(), "--title Lab");
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"));
    let policy = between(
        &page,
        "http-equiv=\"Content-Security-Policy\" content=\"",
        "\"",
    );
    let hash = |text: &str| format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text)));
    let style = hash(between(&page, "<style>", "</style>"));
    let script = hash(between(&page, "<script>", "</script>"));
    let expected = format!(
        "default-src 'none'; style-src {style}; script-src {script}; img-src data:; base-uri 'none'; form-action 'none'"
    );
    assert_eq!(policy, expected);
    let (head, behind) = page.split_once("id=\"data\">").expect("the data");
    let (_, tail) = behind.split_once("</script>").expect("its end");
    for part in [head, tail] {
        for forbidden in [
            " src=",
            "@import",
            "url(",
            "fetch(",
            "XMLHttpRequest",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "sendBeacon",
            "WebSocket",
            "import(",
        ] {
            assert!(!part.contains(forbidden), "{forbidden}");
        }
        let addresses = part.match_indices("http").map(|(at, _)| &part[at..]);
        let mut others = addresses.filter(|rest| {
            !rest.starts_with("http-equiv") && !rest.starts_with("http://www.w3.org/2000/svg")
        });
        assert_eq!(others.next(), None);
    }
    assert_eq!(page.matches("<script").count(), 2);
    assert!(page.contains("<title>Lab</title>"));
    assert!(
        page.contains("9 node pools checked: 7 proven"),
        "without the script"
    );
}

#[test]
fn the_same_input_makes_the_same_bytes() {
    for (folder, arguments) in [
        (values(), "--source-url https://a.example/{path}#L{line}"),
        (manifests(), "--title Lab"),
    ] {
        let first = page(folder.path(), arguments);
        assert!(first == page(folder.path(), arguments));
    }
}

#[test]
fn text_of_a_repository_never_becomes_markup() {
    let folder = values();
    let hostile = HOSTILE.replace('"', "\\\"");
    let lab = "environment-values/workload-clusters/lab-7/values.yaml";
    let pool = format!("    \"{hostile}\": {{replicas: 1, capm3: {{image_key: \"{hostile}\"}}}}\n");
    let pools = "  machine_deployments:\n";
    folder.edit(lab, pools, &format!("{pools}{pool}"));
    let page = folder.run_args(&["page", "--title", HOSTILE]).exit(0);
    let page = page.outcome.stdout;
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img"));
    let data = Data::parse(&page);
    assert_eq!(data.0["title"], HOSTILE);
    let pools = data.cluster("lab-7")["p"].as_array().expect("pools");
    assert!(pools.iter().any(|pool| data.text(&pool["n"]) == HOSTILE));
}

#[test]
fn no_secret_is_in_the_page() {
    let folder = values();
    folder.write(
        "environment-values/mgmt/secrets.yaml",
        "password: SEKRET-text-1\nversion: v1.31.8+SEKRET-build\nurl: https://user:SEKRET-url-1@images.example.org/SEKRET-name.raw\n",
    );
    let own = "    sekret:\n      replicas: 1\n      capm3: {image_key: '{{ .Values.password }}', os_image_selector: null}\n    \
                 further:\n      replicas: 1\n      capm3: {image_key: null, os_image_selector: null, machine_image_url: '{{ .Values.url }}'}\n";
    let (mgmt, pools) = (
        "environment-values/mgmt/values.yaml",
        "  machine_deployments:\n",
    );
    folder.edit(mgmt, pools, &format!("{pools}{own}"));
    let page = folder.run("page").outcome.stdout;
    assert!(page.contains("sekret"), "the pools are in the page");
    let at = page
        .find("SEKRET")
        .map(|at| &page[at.saturating_sub(60)..at + 20]);
    assert_eq!(at, None);
}

#[test]
fn the_page_is_written_where_it_is_wanted() {
    let folder = values();
    let above = folder.path().parent().expect("a folder");
    let name = folder.path().file_name().expect("a name").to_string_lossy();
    let outcome = run(above, &format!("-C {name} page --to public/index.html"));
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, ""));
    let written = fs::read_to_string(folder.path().join("public/index.html")).expect("a page");
    assert!(written == page(folder.path(), "--to -"));
    let refused = folder.run("page --source-url javascript:alert(1)//{path}");
    let refused = refused.exit(2).outcome.stderr;
    assert!(
        refused.contains("write an address with `{path}`"),
        "{refused}"
    );
}

#[test]
fn a_folder_in_a_repository_is_linked_from_its_top() {
    let folder = project();
    fs::create_dir(folder.path().join(".git")).expect("made");
    let below = folder.path().join("deploy/lab");
    crate::support::copy_into(values().path(), &below);
    let link = "--source-url https://a.example/{path}#L{line}";
    assert_eq!(Data::parse(&page(&below, link)).0["folder"], "deploy/lab");
    // Without links the page does not depend on where the project is.
    assert_eq!(Data::parse(&page(&below, "")).0["folder"], "");
}
