//! What editors and projects do that is not usual: positions, messages, folders, files that come and go.

use serde_json::{Value, json};
use snapbox::str;

use super::{LAB, LYON, sylva};
use crate::support::lsp::{Client, assert_lines, usual};
use crate::support::stage::project;

#[test]
fn positions_are_right_behind_letters_of_every_width_and_with_windows_line_ends() {
    let sylva = sylva();
    let text = "# \u{1f4a1} é\r\ncluster: {name: edge-lyon, note: \"\u{1f4a1}é\", capm3: {image_key: nowhere}, capi_providers: {bootstrap_provider: cabpk}}\r\n";
    for encoding in ["utf-16", "utf-8"] {
        let mut capabilities = usual();
        capabilities["general"] = json!({ "positionEncodings": [encoding] });
        let mut client = Client::start_under(&[], &sylva, &capabilities);
        assert_eq!(client.capabilities["positionEncoding"], encoding);
        client.open_as(LYON, text);
        if encoding == "utf-16" {
            assert_eq!(client.findings(LYON), ["error unknown-image: nowhere"]);
            continue;
        }
        let line = text.lines().nth(1).expect("a line");
        let start = json!({ "line": 1, "character": line.find("nowhere") });
        assert_eq!(client.settled(LYON)[0]["range"]["start"], start);
    }
}

#[test]
fn a_file_that_changes_on_disk_is_read_again() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[LAB]);
    client.settled(LAB);
    for method in ["client/registerCapability", "$/progress"] {
        assert_ne!(client.count(method), 0, "{method}");
    }
    sylva.write(LYON, sylva.read(LYON).replace("kubeadm-1-31-8", "nothing"));
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    client.settled(LAB);
    assert!(client.files_with_findings().contains(&LYON));
}

#[test]
fn no_message_ends_the_server_and_the_exit_status_says_how_it_ended() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[LYON]);
    client.notify("textDocument/didOpen", json!({ "textDocument": 1 }));
    client.notify("textDocument/didChange", json!({}));
    client.notify("no/such", Value::Null);
    let here = |uri: &str, position: Value| json!({ "textDocument": { "uri": uri }, "position": position });
    let lyon = client.uri(LYON);
    let unknown = client.request("no/such", json!({}));
    assert_eq!(unknown.expect_err("it is not known").code, -32601);
    let wrong = client.request("textDocument/hover", here(&lyon, json!("here")));
    assert_eq!(wrong.expect_err("it is not valid").code, -32602);
    for uri in [
        "untitled:1",
        "file:///no/such/file.yaml",
        "http://a.example/b.yaml",
    ] {
        let at = here(uri, json!({ "line": 9, "character": 9 }));
        let answer = client.request("textDocument/hover", at);
        assert_eq!(answer.expect("an answer"), Value::Null, "{uri}");
    }
    let far = here(&lyon, json!({ "line": 4_000_000, "character": 4_000_000 }));
    client
        .request("textDocument/definition", far)
        .expect("an answer");
    assert_eq!(client.exit(), 1);
    assert_eq!(Client::start(&sylva, &[]).shutdown(), 0);
}

/// A message behind its header.
fn message(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

/// What the server sends where it is sent these messages in a session, and how it ends.
fn answers(sent: &str) -> (i32, String) {
    let begin =
        r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}"#;
    let begun = r#"{"jsonrpc": "2.0", "method": "initialized", "params": {}}"#;
    let over = r#"{"jsonrpc": "2.0", "id": 9, "method": "shutdown"}"#;
    let exit = r#"{"jsonrpc": "2.0", "method": "exit"}"#;
    let end = message(over) + &message(exit);
    let all = message(begin) + &message(begun) + sent + &end;
    let outcome = project().feed("lsp", &all).outcome;
    (outcome.status, outcome.stdout)
}

#[test]
fn what_is_no_message_is_refused_and_the_session_goes_on() {
    for (body, code) in [
        ("{\"jsonrpc\": \"2.0\",", "-32700"),
        ("\u{1}", "-32700"),
        ("[]", "-32600"),
        ("{\"jsonrpc\": \"2.0\", \"id\": {}}", "-32600"),
    ] {
        let (status, answers) = answers(&message(body));
        let shown = &body[..body.len().min(40)];
        assert_eq!(status, 0, "{shown}: {answers}");
        assert!(
            answers.contains(&format!("\"code\":{code},")),
            "{shown}: {answers}"
        );
        assert!(answers.contains("\"id\":null"), "{shown}: {answers}");
        assert!(answers.contains("\"id\":9"), "{shown}: {answers}");
    }
}

#[test]
#[cfg(unix)]
fn a_message_that_is_too_long_ends_the_session_before_it_comes() {
    // Stdin stays open, and nothing follows.
    let script = r#"mkfifo in
        (printf 'Content-Length: 67108865\r\n\r\n'; exec sleep 60) >in 2>/dev/null &
        timeout 30 metalmark lsp <in || echo " $?"
        kill $!"#;
    let answer = project().shell(script).outcome.stdout;
    assert!(answer.contains("\"code\":-32600,"), "{answer}");
    assert!(answer.contains("a message of more than 64 MiB"), "{answer}");
    assert!(answer.ends_with(" 2\n"), "{answer}");
}

#[test]
fn a_length_without_a_message_takes_no_memory() {
    for length in [
        "99999999999999",
        "67108865",
        "67108864",
        "99999999999999999999999999",
        "-1",
    ] {
        let (status, answers) = answers(&format!("Content-Length: {length}\r\n\r\n"));
        assert!((1..=2).contains(&status), "{length}: {status} {answers}");
    }
}

#[test]
fn a_path_longer_than_any_file_has_is_none() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[LYON]);
    client.settled(LYON);
    let uri = format!("file:///{}b.yaml", "a/".repeat(50_000));
    let document = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": "a: 1" });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let at = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } });
    let answer = client.request("textDocument/hover", at);
    assert_eq!(answer.expect("an answer"), Value::Null);
    assert_eq!(client.shutdown(), 0);
}

#[test]
fn a_request_that_is_canceled_is_answered_as_such() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[LYON]);
    let params = json!({ "textDocument": { "uri": client.uri(LYON) }, "position": { "line": 7, "character": 20 } });
    let id = client.begin("textDocument/hover", params);
    client.notify("$/cancelRequest", json!({ "id": id }));
    match client.end(&id) {
        Err(error) => assert_eq!(error.code, -32800),
        // It may have been answered before.
        Ok(answer) => assert!(answer["contents"].is_object()),
    }
}

const PROJECT: &str = "version: 1\nclusters:\n  - {name: a, values: [values.yaml]}\n";
const VALUES: &str = "cluster: {name: a, capm3: {image_key: none}}\n";

#[test]
fn nothing_is_read_outside_of_a_project_or_a_repository() {
    let folder = project().file("values.yaml", VALUES);
    let mut client = Client::start(&folder, &["values.yaml"]);
    assert_eq!(client.symbols("values.yaml"), [""; 0]);
    assert_eq!(client.files_with_findings(), [""; 0]);
    // A project file makes it one.
    folder.write("metalmark.yaml", PROJECT);
    client.open("metalmark.yaml");
    client.settled("metalmark.yaml");
    assert_eq!(client.files_with_findings(), ["values.yaml"]);
}

#[test]
fn a_project_that_cannot_be_read_is_a_finding_in_its_file_until_it_can() {
    let file = "metalmark.yaml";
    let folder = project()
        .file(
            file,
            PROJECT.replace("values.yaml", "../../../../etc/hostname"),
        )
        .file("values.yaml", VALUES);
    let mut client = Client::start(&folder, &[file]);
    let fail = |client: &mut Client| {
        let found = client.settled(file);
        assert_eq!(found.len(), 1, "{found:#?}");
        found[0]["message"].as_str().expect("a text").to_owned()
    };
    let outside = fail(&mut client);
    assert!(
        outside.contains("outside the repository\nhelp: "),
        "{outside}"
    );
    // The same failure is logged once.
    client.replace(file, "name: a", "name: b");
    assert_eq!(fail(&mut client), outside);
    assert_eq!(client.count("window/showMessage"), 1);
    client.replace(file, "../../../../etc/hostname", "no.yaml");
    let missing = fail(&mut client);
    assert!(missing.starts_with("there is no `no.yaml`"), "{missing}");
    assert_eq!(client.count("window/showMessage"), 1);
    client.replace(file, "no.yaml", "values.yaml");
    assert_eq!(client.settled(file), [Value::Null; 0]);
    assert_eq!(client.files_with_findings(), ["values.yaml"]);
    assert_eq!(client.shutdown(), 0);
}

#[test]
fn a_layer_beside_the_project_is_part_of_it() {
    let shared = "shared/values.yaml";
    let folder = project()
        .file(".git/HEAD", "")
        .file(
            "fleet/metalmark.yaml",
            PROJECT.replace("values.yaml", "../shared/values.yaml"),
        )
        .file(shared, VALUES);
    let mut client = Client::start(&folder, &[shared]);
    assert_eq!(client.symbols(shared), [""; 0]);
    // The folder around both has no project file: that of the project is known once a file of it is opened.
    client.open("fleet/metalmark.yaml");
    let found = client.findings(shared);
    assert_lines(
        &found,
        str![[r#"
error value-missing: {
error unknown-image: none

"#]],
    );
    client.replace(shared, "cluster:", "# typed\ncluster:");
    assert_eq!(client.findings(shared), found);
    assert_ne!(client.symbols(shared), [""; 0]);
}

#[test]
fn the_command_line_cannot_say_where_the_projects_are() {
    for place in ["-C .", "--project metalmark.yaml"] {
        project()
            .run(&format!("lsp {place}"))
            .exit(2)
            .screen(str![[r#"
error: `metalmark lsp` takes neither -C nor --project: it reads the projects of the folders that the editor opens
help: open the folder of the project in the editor

"#]]);
    }
}

#[test]
fn folders_come_and_go() {
    let folder = project();
    for name in ["one", "two"] {
        folder.write(&format!("{name}/metalmark.yaml"), PROJECT);
        folder.write(&format!("{name}/values.yaml"), VALUES);
    }
    let mut client = Client::start(&folder, &[]);
    let mut change = |event: &str, names: &[&str]| {
        let one = |name: &&str| json!({ "uri": client.uri(name), "name": name });
        let folders: Vec<Value> = names.iter().map(one).collect();
        let mut params = json!({ "event": { "added": [], "removed": [] } });
        params["event"][event] = json!(folders);
        client.notify("workspace/didChangeWorkspaceFolders", params);
        client.names("");
        client.files_with_findings().join(" ")
    };
    let both = change("added", &["one", "two"]);
    assert_eq!(both, "one/values.yaml two/values.yaml");
    assert_eq!(change("removed", &["two"]), "one/values.yaml");
}
