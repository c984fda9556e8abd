//! Credentials: what is sent, to which registry, how often; TLS; and that no secret is ever printed.

use std::sync::Arc;

use oci_artifacts::registries::{Host, RegistrySettings};
use oci_artifacts::registry::{Environment, Registries};
use oci_artifacts::{FailureKind, Store};

use super::super::support::registry::{Authority, Lock, Registry, Reply};
use super::{client, client_with, failure, files, one, options, plain};

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

fn no_secret(failure: &oci_artifacts::Failure) {
    let shown = format!("{failure} {failure:?}");
    for secret in ["hunter2", BOB, "secret-token", "refresh-me"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn a_password_is_requested_once_per_registry() {
    let registry = Registry::plain();
    registry.lock(basic("hunter2"));
    let wanted: Vec<_> = (0..50)
        .map(|number| {
            registry.image(&format!("g/{number}"), "1", &[]);
            registry.reference(&format!("g/{number}:1"))
        })
        .collect();
    let (client, _folder) = client_with(&registry, &auth(&registry.host()));
    assert!(client.manifests(&wanted).iter().all(Result::is_ok));
    assert_eq!(registry.count(), 51);
}

#[test]
fn a_wrong_password_is_reported_with_its_user_and_file_and_tried_once() {
    let registry = Registry::plain();
    registry.lock(basic("another"));
    let mut settings = options(plain(&registry));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("auth.json");
    std::fs::write(&file, auth(&registry.host())).expect("written");
    settings.environment = files(&[("auth.json", file)]);
    settings.settings.concurrency = 1;
    let wanted = vec![registry.reference("a:1"); 20];
    let answers = Registries::new(settings).manifests(&wanted);
    for answer in answers {
        let reported = answer.expect_err("a failure");
        assert_eq!(reported.kind, FailureKind::Denied);
        assert!(
            reported
                .message
                .contains("401 (authentication required) to user `bob` from `auth.json`"),
            "{reported}"
        );
        no_secret(&reported);
    }
    assert_eq!(registry.count(), 2);
}

#[test]
fn without_credentials_the_searched_files_are_reported() {
    let registry = Registry::plain();
    registry.lock(basic("hunter2"));
    let folder = tempfile::tempdir().expect("a folder");
    let (other, broken) = (folder.path().join("a"), folder.path().join("b"));
    std::fs::write(&other, auth("elsewhere.example")).expect("written");
    std::fs::write(&broken, "{hunter2").expect("written");
    let mut options = options(plain(&registry));
    options.environment = files(&[
        ("one.json", other),
        ("two.json", broken),
        ("three.json", folder.path().join("c")),
    ]);
    let reported = failure(&Registries::new(options), registry.reference("a:1"));
    let help = reported.help.join(" ");
    for word in [
        "docker login",
        "`one.json` (nothing for",
        "`two.json` (is not what",
        "`three.json` (no such file)",
    ] {
        assert!(help.contains(word), "{reported}");
    }
    no_secret(&reported);
}

#[test]
fn what_is_forbidden_is_reported() {
    let registry = Registry::plain();
    registry.hook(|_, _| {
        let body = r#"{"errors":[{"code":"DENIED","message":"requested access is denied: Ym9iOmh1bnRlcjI="}]}"#;
        Some(Reply::new(403, body))
    });
    let (client, _folder) = client_with(&registry, &auth(&registry.host()));
    let reported = failure(&client, registry.reference("a:1"));
    assert_eq!(reported.kind, FailureKind::Denied);
    assert!(reported.message.contains("403"), "{reported}");
    no_secret(&reported);
}

#[test]
fn a_token_is_bought_once_a_repository() {
    let registry = Registry::plain();
    registry.lock(bearer(None));
    for repository in ["a", "b"] {
        registry.image(repository, "1", &[]);
    }
    let wanted: Vec<_> = (0..40)
        .map(|number| registry.reference(["a:1", "b:1"][number % 2]))
        .collect();
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
    let (client, _folder) = client_with(&registry, &auth(&registry.host()));
    one(&client, registry.reference("a:1")).expect("a manifest");
    for request in registry.seen() {
        let proof = request.header("authorization").unwrap_or_default();
        assert_eq!(
            proof.starts_with("Basic"),
            request.path.starts_with("/token")
        );
    }
    registry.lock(bearer(Some("another")));
    registry.forget_tokens();
    let reported = failure(&client, registry.reference("a:1"));
    assert_eq!(reported.kind, FailureKind::Denied);
    assert!(reported.message.contains("user `bob`"), "{reported}");
    no_secret(&reported);
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
    let text = format!(
        r#"{{"auths": {{"{}": {{"identitytoken": "refresh-me"}}}}}}"#,
        registry.host()
    );
    let (good, _folder) = client_with(&registry, &text);
    one(&good, registry.reference("a:1")).expect("a manifest");
    let (bad, _folder) = client_with(&registry, &text.replace("refresh-me", "hunter2"));
    let reported = failure(&bad, registry.reference("a:1"));
    assert!(reported.message.contains("an identity token"), "{reported}");
    no_secret(&reported);
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
    registry.lock(Lock::Bearer {
        realm: Some(format!(
            "http://localhost:{}/token",
            thief.host().split(':').nth(1).expect("a port")
        )),
        password: None,
        identity: None,
        life: 300,
    });
    let (client, _folder) = client_with(&registry, &auth(&registry.host()));
    let reported = failure(&client, registry.reference("a:1"));
    assert!(
        reported.message.contains("they were not sent"),
        "{reported}"
    );
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
    let (mut settings, folder) = (plain(&registry), tempfile::tempdir().expect("a folder"));
    settings.hosts.extend(plain(&other).hosts);
    let file = folder.path().join("auth.json");
    std::fs::write(&file, auth(&registry.host())).expect("written");
    let mut options = options(settings);
    options.environment = files(&[("auth.json", file)]);
    let manifest =
        one(&Registries::new(options.clone()), registry.reference("a:1")).expect("a manifest");
    assert_eq!(manifest.digest, digest);
    assert_eq!(other.seen()[0].header("authorization"), None);
    options.settings = plain(&registry);
    let reported = failure(&Registries::new(options), registry.reference("a:1"));
    assert!(
        reported
            .message
            .contains("without TLS, which no setting allows"),
        "{reported}"
    );
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
    let (client, _folder) = client_with(&registry, &text);
    one(&client, registry.reference("group/a:1")).expect("a manifest");
    let reported = failure(&client, registry.reference("other/a:1"));
    assert!(reported.message.contains("user `eve`"), "{reported}");
}

#[test]
fn plain_http_is_never_used_unless_allowed() {
    let registry = Registry::plain();
    let reported = failure(
        &Registries::new(options(RegistrySettings::default())),
        registry.reference("a:1"),
    );
    assert!(
        reported.message.contains("does not support TLS"),
        "{reported}"
    );
    assert!(reported.help[0].contains("plain-http: true"), "{reported}");
    assert_eq!(
        registry
            .seen()
            .iter()
            .filter(|request| request.path.starts_with("/v2"))
            .count(),
        0
    );
}

#[test]
fn a_registry_with_tls_leads_to_no_plain_http() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().expect("a folder"));
    let (registry, other) = (Registry::tls(&authority), Registry::plain());
    other.image("a", "1", &[]);
    let target = format!("http://{}/v2/a/manifests/1", other.host());
    registry.hook(move |_, _| Some(Reply::new(307, "").header("Location", target.clone())));
    let host = Host {
        ca: Some(authority.file(folder.path())),
        ..Host::default()
    };
    // Even where the other host may speak it.
    let mut settings = plain(&other);
    settings.hosts.insert(Arc::from(registry.host()), host);
    let reported = failure(
        &Registries::new(options(settings)),
        registry.reference("a:1"),
    );
    assert!(
        reported.message.contains("redirects to plain HTTP"),
        "{reported}"
    );
    assert_eq!(other.count(), 0);
}

fn tls(registry: &Registry, host: Host) -> Registries {
    Registries::new(options(RegistrySettings {
        hosts: [(Arc::from(registry.host()), host)].into(),
        ..RegistrySettings::default()
    }))
}

#[test]
fn an_authority_of_ones_own_is_trusted_when_it_is_named() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().expect("a folder"));
    let registry = Registry::tls(&authority);
    registry.image("a", "1", &[]);
    let reported = failure(&tls(&registry, Host::default()), registry.reference("a:1"));
    assert!(
        reported
            .message
            .contains("is signed by an authority that is not trusted here"),
        "{reported}"
    );
    assert!(reported.help[0].contains("ca: FILE.pem"), "{reported}");
    assert_eq!(registry.count(), 0);
    let ca = Some(authority.file(folder.path()));
    one(
        &tls(
            &registry,
            Host {
                ca,
                ..Host::default()
            },
        ),
        registry.reference("a:1"),
    )
    .expect("a manifest");
    let ca = Some(Authority::new().file(folder.path()));
    let reported = failure(
        &tls(
            &registry,
            Host {
                ca,
                ..Host::default()
            },
        ),
        registry.reference("a:1"),
    );
    assert!(reported.message.contains("not trusted"), "{reported}");
    let skip_verify = true;
    one(
        &tls(
            &registry,
            Host {
                skip_verify,
                ..Host::default()
            },
        ),
        registry.reference("a:1"),
    )
    .expect("a manifest");
    let plain_http = true;
    let reported = failure(
        &tls(
            &registry,
            Host {
                plain_http,
                ..Host::default()
            },
        ),
        registry.reference("a:1"),
    );
    assert!(
        reported.message.contains("does not support plain HTTP")
            || reported.message.contains("broke"),
        "{reported}"
    );
}

#[test]
fn a_ca_file_that_is_none_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.pem");
    std::fs::write(&file, "no certificate").expect("written");
    let registry = Registry::plain();
    for (ca, word) in [
        (file, "holds no certificate"),
        (folder.path().join("y.pem"), "cannot be read"),
    ] {
        let host = Host {
            ca: Some(ca),
            ..Host::default()
        };
        let reported = failure(&tls(&registry, host), registry.reference("a:1"));
        assert!(reported.message.contains(word), "{reported}");
    }
}

#[test]
fn secrets_are_not_in_debug() {
    let environment = format!("{:?}", Environment::from_process());
    assert!(environment.contains("files"), "{environment}");
}
