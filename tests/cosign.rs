//! The real cosign signs in a real registry: what it verifies is verified here, and what it refuses is refused.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use oci_artifacts::layout::Layout;
use oci_artifacts::registries::{Host, RegistrySettings};
use oci_artifacts::registry::{Registries, RegistryOptions};
use oci_artifacts::signature::{
    self, Form, PublicKey, Question, SecretKeyError, SignatureForm, Signed, SigningKey, Verdict,
};
use oci_artifacts::{Descriptor, Digest, Reference, Store};

use super::programs;
use super::support::layout::LayoutWriter;

/// Debian's registry on a port of its own, until it is dropped.
struct Registry {
    process: Child,
    address: String,
}

impl Registry {
    fn start(program: &Path, folder: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.expect("a free port").port();
        let address = format!("localhost:{port}");
        let settings = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: '127.0.0.1:{port}'}}\n",
            folder.join("registry").display()
        );
        let file = folder.join("registry.yaml");
        fs::write(&file, settings).expect("written");
        let process = Command::new(program)
            .arg("serve")
            .arg(file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the registry starts");
        let registry = Self { process, address };
        for _ in 0..300 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return registry;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the registry listens");
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A scratch folder with an image in a registry, and the programs that work on it.
struct Workshop {
    folder: tempfile::TempDir,
    cosign: PathBuf,
    skopeo: PathBuf,
    registry: Registry,
    image: Digest,
}

impl Workshop {
    fn new() -> Option<Self> {
        let programs = ["cosign", "skopeo", "docker-registry"].map(programs::find);
        let [Some(cosign), Some(skopeo), Some(registry)] = programs else {
            return None;
        };
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut layout = LayoutWriter::new(&folder.path().join("image"));
        let image = layout.image(Some("1"), &[("a", "b")]);
        let registry = Registry::start(&registry, folder.path());
        Some(Self {
            folder,
            cosign,
            skopeo,
            registry,
            image,
        })
    }

    fn name(&self, repository: &str) -> String {
        format!("{}/{repository}/noble", self.registry.address)
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Output {
        Command::new(program)
            .current_dir(self.folder.path())
            .env("COSIGN_PASSWORD", "")
            .env("COSIGN_EXPERIMENTAL", "1")
            .args(arguments)
            .output()
            .expect("it starts")
    }

    fn done(&self, program: &Path, arguments: &[&str]) {
        let output = self.run(program, arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {stderr}");
    }

    fn key(&self, name: &str) -> PublicKey {
        self.done(
            &self.cosign,
            &["generate-key-pair", "--output-key-prefix", name],
        );
        let text = fs::read_to_string(self.folder.path().join(format!("{name}.pub")));
        PublicKey::read(&text.expect("a key")).expect("a key")
    }

    /// Pushes the image to a repository and signs it there, as Sylva does: no log.
    fn sign(&self, repository: &str, arguments: &[&str]) {
        self.push(repository);
        let name = self.name(repository);
        let image = format!("{name}@{}", self.image);
        let sign = [
            "sign",
            "--yes",
            "--key",
            "mine.key",
            "--tlog-upload=false",
            "--allow-http-registry",
        ];
        self.done(&self.cosign, &[&sign, arguments, &[&image]].concat());
    }

    fn push(&self, repository: &str) {
        let name = self.name(repository);
        let to = format!("docker://{name}:1");
        let copy = [
            "copy",
            "--insecure-policy",
            "--dest-tls-verify=false",
            "oci:image:1",
            &to,
        ];
        self.done(&self.skopeo, &copy);
    }

    /// Whether cosign itself takes the image.
    fn cosign_verifies(&self, repository: &str, key: &str, arguments: &[&str]) -> bool {
        let image = format!("{}@{}", self.name(repository), self.image);
        let key = format!("{key}.pub");
        let verify = [
            "verify",
            "--key",
            &key,
            "--insecure-ignore-tlog",
            "--allow-http-registry",
        ];
        let output = self.run(&self.cosign, &[&verify, arguments, &[&image]].concat());
        output.status.success()
    }

    /// What we say, asked over HTTP and of a copy of all that lies in the repository: the same.
    fn verdict(&self, repository: &str, key: &PublicKey) -> Verdict {
        let host = Host {
            plain_http: true,
            ..Host::default()
        };
        let settings = RegistrySettings {
            hosts: [(self.registry.address.as_str().into(), host)].into(),
            ..RegistrySettings::default()
        };
        let over_http = self.check(
            &Registries::new(RegistryOptions::new(settings)),
            repository,
            key,
        );
        let copied = self.check(&self.copy(repository), repository, key);
        assert_eq!(over_http, copied, "{repository}");
        copied
    }

    fn check(&self, store: &dyn Store, repository: &str, key: &PublicKey) -> Verdict {
        let name = format!("{}:1", self.name(repository));
        let reference = Reference::parse(&name).expect("a reference");
        let question = Question {
            of: reference,
            digest: self.image.clone(),
            key: key.clone(),
        };
        signature::check_one(store, question).expect("an answer")
    }

    fn copy(&self, repository: &str) -> Layout {
        let name = self.name(repository);
        let tag = format!("sha256-{}", self.image.hex());
        let folder = repository.replace('/', "-");
        for tag in ["1", &tag, &format!("{tag}.sig")] {
            let from = format!("docker://{name}:{tag}");
            let to = format!("oci:{folder}:{name}:{tag}");
            let copy = [
                "copy",
                "--all",
                "--insecure-policy",
                "--src-tls-verify=false",
                &from,
                &to,
            ];
            let copied = self.run(&self.skopeo, &copy).status.success();
            assert!(copied || tag != "1", "the image is copied");
        }
        Layout::open(self.folder.path(), &folder).expect("a layout")
    }
}

#[test]
fn what_cosign_signs_verifies_in_each_form_and_under_no_other_key() {
    let Some(shop) = Workshop::new() else { return };
    let (mine, other) = (shop.key("mine"), shop.key("other"));
    // Only cosign 3 has a configuration to leave out, and two formats.
    let help = shop.run(&shop.cosign, &["sign", "--help"]).stdout;
    let is_3 = String::from_utf8_lossy(&help).contains("--use-signing-config=true");
    let plain: &[&str] = if is_3 {
        &["--use-signing-config=false", "--new-bundle-format=false"]
    } else {
        &[]
    };
    shop.sign("tag", plain);
    let mut forms = vec![("tag", Form::Tag)];
    if is_3 {
        shop.sign("bundle", &["--use-signing-config=false"]);
        forms.push(("bundle", Form::Bundle));
    }
    shop.sign(
        "referrer",
        &[plain, &["--registry-referrers-mode=oci-1-1"]].concat(),
    );
    for (repository, form) in forms {
        let verdict = shop.verdict(repository, &mine);
        let Verdict::Good(signature) = verdict else {
            panic!("{repository}: {verdict:?}");
        };
        assert_eq!(signature.form, form);
        assert_eq!(shop.verdict(repository, &other), Verdict::WrongKey);
        assert!(
            shop.cosign_verifies(repository, "mine", &[]),
            "{repository}"
        );
        assert!(
            !shop.cosign_verifies(repository, "other", &[]),
            "{repository}"
        );
    }
    let verdict = shop.verdict("referrer", &mine);
    assert!(matches!(verdict, Verdict::Good(_)), "{verdict:?}");
    assert_eq!(shop.verdict("referrer", &other), Verdict::WrongKey);
}

#[test]
fn what_is_signed_here_is_taken_by_cosign_in_both_forms_and_under_no_other_key() {
    let Some(shop) = Workshop::new() else { return };
    let other = shop.key("other");
    let text = fs::read_to_string(shop.folder.path().join("other.key")).expect("a key");
    let refused = SigningKey::read(&text).map(|_| ());
    assert_eq!(refused, Err(SecretKeyError::Encrypted));
    let pair = rcgen::KeyPair::generate().expect("a key");
    let key = SigningKey::read(&pair.serialize_pem()).expect("a key");
    let mine = key.public().clone();
    let public = shop.folder.path().join("mine.pub");
    fs::write(public, pair.public_key_pem()).expect("written");
    let help = shop.run(&shop.cosign, &["sign", "--help"]).stdout;
    let is_3 = String::from_utf8_lossy(&help).contains("--use-signing-config=true");
    let mut forms = vec![("tag", SignatureForm::Tag, Form::Tag)];
    if is_3 {
        forms.push(("bundle", SignatureForm::Bundle, Form::Bundle));
    }
    for (repository, form, found) in forms {
        shop.push(repository);
        let host = Host {
            plain_http: true,
            ..Host::default()
        };
        let client = Registries::new(RegistryOptions::new(RegistrySettings {
            hosts: [(shop.registry.address.as_str().into(), host)].into(),
            ..RegistrySettings::default()
        }));
        let name = format!("{}:1", shop.name(repository));
        let of = Reference::parse(&name).expect("a reference");
        let manifest = client
            .manifests(std::slice::from_ref(&of))
            .remove(0)
            .expect("it");
        let artifact = Descriptor {
            media_type: "application/vnd.oci.image.manifest.v1+json".to_owned(),
            digest: manifest.digest,
            size: manifest.bytes.len() as u64,
            annotations: Default::default(),
            architecture: None,
            artifact_type: None,
        };
        let signed = signature::sign(&client, &client, &of, &artifact, &key, form);
        assert_eq!(signed, Ok(Signed::New));
        let verdict = shop.verdict(repository, &mine);
        assert!(
            matches!(&verdict, Verdict::Good(signature) if signature.form == found),
            "{verdict:?}"
        );
        assert_eq!(shop.verdict(repository, &other), Verdict::WrongKey);
        assert!(
            shop.cosign_verifies(repository, "mine", &[]),
            "{repository}"
        );
        assert!(
            !shop.cosign_verifies(repository, "other", &[]),
            "{repository}"
        );
    }
}
