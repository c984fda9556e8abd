//! Credentials: what is sent, to which registry, how often; TLS; and that no secret is ever printed.

use std::path::PathBuf;

use oci_artifacts::registries::{Host, RegistrySettings};
use oci_artifacts::registry::{Environment, Registries};
use oci_artifacts::{Failure, FailureKind, Reference, Store};
use snapbox::str;

use super::super::support::distribution::name;
use super::super::support::distribution::plain_http;
use super::super::support::registry::{Authority, Lock, Registry, Reply, fault};
use super::super::support::stage::{Is, assert_cases, project};
use super::{client, client_with, failure, files, one, options, options_with, plain};

/// `bob:hunter2` in base64, as logins write it.
const BOB: &str = "Ym9iOmh1bnRlcjI=";

fn auth(host: &str) -> String {
    format!(r#"{{"auths": {{"{host}": {{"auth": "{BOB}"}}}}}}"#)
}

fn basic(password: &str) -> Lock {
    let (user, password) = ("bob".to_owned(), password.to_owned());
    Lock::Basic { user, password }
}

fn bearer(password: Option<&str>) -> Lock {
    Lock::Bearer {
        realm: None,
        password: password.map(|password| ("bob".to_owned(), password.to_owned())),
        identity: None,
        life: 300,
    }
}

/// What is said of a failure, without any secret.
fn said(failure: &Failure, registry: &Registry) -> String {
    let shown = format!("{failure} {failure:?}");
    for secret in ["hunter2", BOB, "secret-token", "refresh-me"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    super::said(failure, registry)
}

#[test]
fn a_password_is_requested_once_per_registry() {
    let registry = Registry::plain();
    registry.lock(basic("hunter2"));
    let wanted = (0..50).map(|number| {
        registry.image(&format!("g/{number}"), "1", &[]);
        registry.reference(&format!("g/{number}:1"))
    });
    let wanted: Vec<_> = wanted.collect();
    let (client, _stage) = client_with(&registry, &auth(&registry.host()));
    assert!(client.manifests(&wanted).iter().all(Result::is_ok));
    assert_eq!(registry.count(), 51);
}

#[test]
fn a_wrong_password_is_reported_with_its_user_and_file_and_tried_once() {
    let registry = Registry::plain();
    registry.lock(basic("another"));
    let (mut options, _stage) = options_with(plain(&registry), &auth(&registry.host()));
    options.settings.concurrency = 1;
    let wanted = vec![registry.reference("a:1"); 20];
    let answers = Registries::new(options).manifests(&wanted).into_iter();
    let failures: Vec<_> = answers.filter_map(Result::err).collect();
    assert_eq!(failures.len(), 20);
    let is_denied = |failure: &Failure| failure.kind == FailureKind::Denied;
    assert!(failures.iter().all(is_denied));
    assert!(failures.iter().all(|it| *it == failures[0]));
    said(&failures[0], &registry).is(str![[r#"
oci://HOST/a:1: `HOST` answered 401 (authentication required) to user `bob` from `auth.json`, key `HOST`, on a request for a
  help: check that this user may read the repository, or log in again: `docker login` or `podman login`

"#]]);
    assert_eq!(registry.count(), 2);
}

#[test]
fn without_credentials_the_searched_files_are_reported() {
    let registry = Registry::plain();
    registry.lock(basic("hunter2"));
    let stage = project()
        .file("one.json", auth("elsewhere.example"))
        .file("two.json", "{hunter2");
    let mut options = options(plain(&registry));
    options.environment = files(&stage, &["one.json", "two.json", "three.json"]);
    let reported = failure(&Registries::new(options), registry.reference("a:1"));
    said(&reported, &registry).is(str![[r#"
oci://HOST/a:1: `HOST` answered 401 (authentication required) to a request for a without credentials
  help: log in with `docker login` or `podman login`: no credentials for `HOST` in `one.json` (nothing for `HOST`), `two.json` (is not what logins write, at line 1), `three.json` (no such file)

"#]]);
}

#[test]
fn what_is_forbidden_is_reported() {
    let registry = Registry::plain();
    registry.hook(|_, _| {
        let message = "requested access is denied: Ym9iOmh1bnRlcjI=";
        Some(fault(403, "DENIED", message))
    });
    let (client, _stage) = client_with(&registry, &auth(&registry.host()));
    let reported = failure(&client, registry.reference("a:1"));
    assert_eq!(reported.kind, FailureKind::Denied);
    said(&reported, &registry).is(str![[r#"
oci://HOST/a:1: `HOST` answered 403 to user `bob` from `auth.json`, key `HOST`, on a request for a
  help: check that this user may read the repository, or log in again: `docker login` or `podman login`

"#]]);
}

#[test]
fn a_token_is_bought_once_a_repository() {
    let registry = Registry::plain();
    registry.lock(bearer(None));
    for repository in ["a", "b"] {
        registry.image(repository, "1", &[]);
    }
    let wanted = (0..40).map(|number| registry.reference(["a:1", "b:1"][number % 2]));
    let wanted: Vec<_> = wanted.collect();
    let client = client(&registry);
    assert!(client.manifests(&wanted).iter().all(Result::is_ok));
    // One learns what is wanted, two tokens, and one request a manifest.
    assert_eq!(registry.count(), 43);
    assert!(client.manifests(&wanted).iter().all(Result::is_ok));
    assert_eq!(registry.count(), 83);
}

#[test]
fn a_token_is_bought_with_a_password() {
    let registry = Registry::plain();
    registry.image("a", "1", &[]);
    registry.lock(bearer(Some("hunter2")));
    let (client, _stage) = client_with(&registry, &auth(&registry.host()));
    one(&client, registry.reference("a:1")).expect("a manifest");
    let seen = registry.seen();
    assert_eq!(seen.len(), 3);
    for request in seen {
        let proof = request.header("authorization").unwrap_or_default();
        let is_token = request.path.starts_with("/token");
        assert_eq!(proof.starts_with("Basic"), is_token);
    }
    registry.lock(bearer(Some("another")));
    registry.forget_tokens();
    let reported = failure(&client, registry.reference("a:1"));
    assert_eq!(reported.kind, FailureKind::Denied);
    said(&reported, &registry).is(str![[r#"
oci://HOST/a:1: `HOST` answered 401 (incorrect user or password) to user `bob` from `auth.json`, key `HOST`, on a request for a token
  help: check that this user may read the repository, or log in again: `docker login` or `podman login`

"#]]);
}

#[test]
fn a_token_is_bought_with_an_identity_token() {
    let registry = Registry::plain();
    registry.image("a", "1", &[]);
    registry.lock(Lock::Bearer {
        realm: None,
        password: None,
        identity: Some("refresh-me".to_owned()),
        life: 300,
    });
    let host = registry.host();
    let text = format!(r#"{{"auths": {{"{host}": {{"identitytoken": "refresh-me"}}}}}}"#);
    let (good, _stage) = client_with(&registry, &text);
    one(&good, registry.reference("a:1")).expect("a manifest");
    let (bad, _stage) = client_with(&registry, &text.replace("refresh-me", "hunter2"));
    let reported = failure(&bad, registry.reference("a:1"));
    said(&reported, &registry).is(str![[r#"
oci://HOST/a:1: `HOST` answered 401 (incorrect user or password) to an identity token from `auth.json`, key `HOST`, on a request for a token
  help: check that this user may read the repository, or log in again: `docker login` or `podman login`

"#]]);
}

#[test]
fn an_expired_token_is_requested_again() {
    let registry = Registry::plain();
    registry.image("a", "1", &[]);
    registry.lock(bearer(None));
    let client = client(&registry);
    one(&client, registry.reference("a:1")).expect("a manifest");
    registry.forget_tokens();
    one(&client, registry.reference("a:1")).expect("a manifest");
    // 401, token, manifest; then 401, token, manifest.
    assert_eq!(registry.count(), 6);
}

#[test]
fn a_token_server_on_another_host_receives_nothing_without_tls() {
    let (registry, thief) = (Registry::plain(), Registry::plain());
    thief.lock(bearer(None));
    let host = thief.host().replace("127.0.0.1", "localhost");
    registry.lock(Lock::Bearer {
        realm: Some(format!("http://{host}/token")),
        password: None,
        identity: None,
        life: 300,
    });
    let (client, _stage) = client_with(&registry, &auth(&registry.host()));
    let reported = failure(&client, registry.reference("a:1"));
    let said = said(&reported, &registry).replace(&host, "THIEF");
    said.is(str![[r#"
oci://HOST/a:1: `HOST` requires its credentials to be sent to `THIEF`, without TLS or without a verified identity; they were not sent
  help: use TLS with a trusted certificate for both (`ca` below `registries: hosts:`)

"#]]);
    assert_eq!(thief.count(), 0);
}

#[test]
fn a_redirect_takes_no_credentials_to_another_host() {
    let (registry, other) = (Registry::plain(), Registry::plain());
    registry.lock(basic("hunter2"));
    let digest = other.image("elsewhere", "1", &[]);
    let target = format!("http://{}/v2/elsewhere/manifests/1", other.host());
    registry.hook(move |request, _| {
        let is_proven = request.header("authorization").is_some();
        is_proven.then(|| Reply::new(307, "").header("Location", target.clone()))
    });
    let both = plain_http(&[registry.host(), other.host()]);
    let (mut options, _stage) = options_with(both, &auth(&registry.host()));
    let manifest = one(&Registries::new(options.clone()), registry.reference("a:1"));
    assert_eq!(manifest.expect("a manifest").digest, digest);
    assert_eq!(other.seen()[0].header("authorization"), None);
    options.settings = plain(&registry);
    let reported = failure(&Registries::new(options), registry.reference("a:1"));
    let said = said(&reported, &registry).replace(&other.host(), "OTHER");
    said.is(str![[r#"
oci://HOST/a:1: `OTHER` would be queried without TLS, which no setting allows
  help: to allow it, write in the project file: `registries: {hosts: {"OTHER": {plain-http: true}}}`

"#]]);
}

#[test]
fn credentials_are_those_of_the_host_however_it_is_spelled() {
    let registry = Registry::plain();
    registry.image("group/a", "1", &[]);
    registry.lock(basic("hunter2"));
    let host = registry.host();
    let (_, port) = host.split_once(':').expect("a port");
    let spellings = [
        format!("localhost:{port}"),
        format!("LOCALHOST:{port}"),
        format!("LocalHost:000{port}"),
    ];
    for key in &spellings {
        for reference in &spellings {
            let auth = format!(r#"{{"auths": {{"https://{key}/group/": {{"auth": "{BOB}"}}}}}}"#);
            let settings = plain_http(&[spellings[1].clone()]);
            let (options, _stage) = options_with(settings, &auth);
            let wanted = Reference::parse(&format!("{reference}/group/a:1")).expect("a reference");
            let answer = one(&Registries::new(options), wanted);
            assert!(answer.is_ok(), "{key} {reference}: {answer:?}");
        }
    }
}

#[test]
fn keys_with_a_path_win_over_the_host() {
    let registry = Registry::plain();
    registry.image("group/a", "1", &[]);
    registry.lock(basic("hunter2"));
    let host = registry.host();
    let text = format!(
        r#"{{"auths": {{"{host}": {{"auth": "ZXZlOng="}}, "{host}/group": {{"auth": "{BOB}"}}, "{host}/grou": {{"auth": "ZXZlOng="}}}}}}"#
    );
    let (client, _stage) = client_with(&registry, &text);
    one(&client, registry.reference("group/a:1")).expect("a manifest");
    let reported = failure(&client, registry.reference("other/a:1"));
    assert!(reported.message.contains("user `eve`"), "{reported}");
}

#[test]
fn plain_http_is_never_used_unless_allowed() {
    let registry = Registry::plain();
    let client = Registries::new(options(RegistrySettings::default()));
    let reported = failure(&client, registry.reference("a:1"));
    said(&reported, &registry).is(str![[r#"
oci://HOST/a:1: `HOST` does not support TLS on that port
  help: if it is to be queried without TLS, write in the project file: `registries: {hosts: {"HOST": {plain-http: true}}}`

"#]]);
    let seen = registry.seen();
    assert!(!seen.iter().any(|request| request.path.starts_with("/v2")));
}

#[test]
fn a_registry_with_tls_leads_to_no_plain_http() {
    let (authority, stage) = (Authority::new(), project());
    let (registry, other) = (Registry::tls(&authority), Registry::plain());
    other.image("a", "1", &[]);
    let target = format!("http://{}/v2/a/manifests/1", other.host());
    registry.hook(move |_, _| Some(Reply::new(307, "").header("Location", target.clone())));
    let host = Host {
        ca: Some(authority.file(stage.path())),
        ..Host::default()
    };
    // Even where the other host may speak it.
    let mut settings = plain(&other);
    settings.hosts.insert(name(&registry.host()), host);
    let client = Registries::new(options(settings));
    let reported = failure(&client, registry.reference("a:1"));
    let words = "redirects to plain HTTP";
    assert!(reported.message.contains(words), "{reported}");
    assert_eq!(other.count(), 0);
}

/// What comes of a manifest of a registry with these settings.
fn query(registry: &Registry, host: Host) -> Vec<String> {
    let client = Registries::new(options(RegistrySettings {
        hosts: [(name(&registry.host()), host)].into(),
        ..RegistrySettings::default()
    }));
    let answer = one(&client, registry.reference("a:1"));
    let said = answer.map_or_else(|it| said(&it, registry), |_| "a manifest".to_owned());
    said.lines().map(str::to_owned).collect()
}

#[test]
fn an_authority_of_ones_own_is_trusted_when_it_is_named() {
    let (authority, stage) = (Authority::new(), project());
    let registry = Registry::tls(&authority);
    registry.image("a", "1", &[]);
    let others = stage.path().join("others");
    std::fs::create_dir(&others).expect("created");
    let (own, others) = (authority.file(stage.path()), Authority::new().file(&others));
    let named = |ca: &PathBuf| Host {
        ca: Some(ca.clone()),
        ..Host::default()
    };
    assert_cases(
        str![[r#"
nothing is said
    oci://HOST/a:1: the certificate of `HOST` is signed by an authority that is not trusted here (TLS)
      help: name the authority's certificate in the project file: `registries: {hosts: {"HOST": {ca: FILE.pem}}}`
its authority
    a manifest
another authority
    oci://HOST/a:1: the certificate of `HOST` is signed by an authority that is not trusted here (TLS)
      help: name the authority's certificate in the project file: `registries: {hosts: {"HOST": {ca: FILE.pem}}}`
skip-verify
    a manifest

"#]],
        |case| {
            let host = match case {
                "its authority" => named(&own),
                "another authority" => named(&others),
                "skip-verify" => Host {
                    skip_verify: true,
                    ..Host::default()
                },
                _ => Host::default(),
            };
            query(&registry, host)
        },
    );
    let plain = query(
        &registry,
        plain(&registry).hosts[&name(&registry.host())].clone(),
    )
    .join("\n");
    let words = ["does not support plain HTTP", "broke"];
    assert!(words.iter().any(|it| plain.contains(it)), "{plain}");
}

#[test]
fn a_certificate_that_signs_itself_is_trusted_when_it_is_named_and_no_other_beside_it() {
    let stage = project();
    let others = stage.path().join("others");
    std::fs::create_dir(&others).expect("created");
    let (registry, own) = Registry::self_signed(stage.path());
    let (_, other) = Registry::self_signed(&others);
    registry.image("a", "1", &[]);
    let answer = |ca: Option<&PathBuf>| {
        let host = Host {
            ca: ca.cloned(),
            ..Host::default()
        };
        query(&registry, host).join("\n")
    };
    assert_eq!(answer(Some(&own)), "a manifest");
    for ca in [None, Some(&other)] {
        let reported = answer(ca);
        assert!(
            reported.contains("is that of an authority, not of a server"),
            "{reported}"
        );
        assert!(reported.contains("{ca: FILE.pem}"), "{reported}");
    }
}

#[test]
fn a_ca_file_that_is_none_is_reported() {
    let stage = project().file("x.pem", "no certificate");
    let registry = Registry::plain();
    for (ca, word) in [
        ("x.pem", "holds no certificate"),
        ("y.pem", "cannot be read"),
    ] {
        let host = Host {
            ca: Some(stage.path().join(ca)),
            ..Host::default()
        };
        let reported = query(&registry, host).join("\n");
        assert!(reported.contains(word), "{reported}");
    }
}

#[test]
fn secrets_are_not_in_debug() {
    let environment = format!("{:?}", Environment::from_process());
    assert!(environment.contains("files"), "{environment}");
}
