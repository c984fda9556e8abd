//! The real cosign signs in a real registry: what it verifies is verified here, and what it refuses is refused.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oci_artifacts::layout::Layout;
use oci_artifacts::registry::{Registries, RegistryOptions};
use oci_artifacts::signature::{
    self, Form, PublicKey, Question, SecretKeyError, SignatureForm, Signed, SigningKey, Verdict,
};
use oci_artifacts::{Digest, Reference, Store};

use super::programs;
use super::support::artifact::descriptor;
use super::support::distribution::{Distribution, Pushed, plain_http};
use super::support::layout::LayoutWriter;
use super::support::registry::MANIFEST;
use super::support::stage::{Stage, project};

/// A scratch folder with an image in a registry, and the programs that work on it.
struct Workshop {
    stage: Stage,
    cosign: PathBuf,
    skopeo: PathBuf,
    registry: Distribution,
    image: Digest,
    /// Only cosign 3 has a configuration to leave out, and two formats.
    is_3: bool,
}

impl Workshop {
    fn new() -> Option<Self> {
        let [Some(cosign), Some(skopeo)] = ["cosign", "skopeo"].map(programs::find) else {
            return None;
        };
        let registry = Distribution::open()?;
        let stage = project();
        let mut layout = LayoutWriter::new(&stage.path().join("image"));
        let image = layout.image(Some("1"), &[("a", "b")]);
        let mut shop = Self {
            stage,
            cosign,
            skopeo,
            registry,
            image,
            is_3: false,
        };
        let help = shop.run(&shop.cosign, "sign --help").stdout;
        shop.is_3 = String::from_utf8_lossy(&help).contains("--use-signing-config=true");
        Some(shop)
    }

    fn name(&self, repository: &str) -> String {
        format!("{}/{repository}/noble", self.registry.host())
    }

    fn reference(&self, repository: &str) -> Reference {
        let name = format!("{}:1", self.name(repository));
        Reference::parse(&name).expect("a reference")
    }

    fn client(&self) -> Registries {
        let settings = plain_http(&[self.registry.host()]);
        Registries::new(RegistryOptions::new(settings))
    }

    fn run(&self, program: &Path, arguments: &str) -> Output {
        Command::new(program)
            .current_dir(self.stage.path())
            .env("COSIGN_PASSWORD", "")
            .env("COSIGN_EXPERIMENTAL", "1")
            .args(arguments.split_whitespace())
            .output()
            .expect("it starts")
    }

    fn succeed(&self, program: &Path, arguments: &str) {
        let output = self.run(program, arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments}: {stderr}");
    }

    fn key(&self, name: &str) -> PublicKey {
        let generate = format!("generate-key-pair --output-key-prefix {name}");
        self.succeed(&self.cosign, &generate);
        PublicKey::read(&self.stage.read(&format!("{name}.pub"))).expect("a key")
    }

    /// Pushes the image to a repository and signs it there, as Sylva does: no log.
    fn sign(&self, repository: &str, arguments: &str) {
        self.push(repository);
        let image = format!("{}@{}", self.name(repository), self.image);
        let sign = "sign --yes --key mine.key --tlog-upload=false --allow-http-registry";
        self.succeed(&self.cosign, &format!("{sign} {arguments} {image}"));
    }

    fn push(&self, repository: &str) {
        let name = self.name(repository);
        let copy = "copy --insecure-policy --dest-tls-verify=false oci:image:1";
        self.succeed(&self.skopeo, &format!("{copy} docker://{name}:1"));
    }

    /// The image is taken under `mine` and under no other key, by us and by cosign; the form of the signature.
    fn verify(&self, repository: &str, mine: &PublicKey, other: &PublicKey) -> Form {
        for (key, is_taken) in [("mine", true), ("other", false)] {
            let image = format!("{}@{}", self.name(repository), self.image);
            let options = "--insecure-ignore-tlog --allow-http-registry";
            let verify = format!("verify --key {key}.pub {options} {image}");
            // cosign 3 has no option to look for what only refers to the image.
            if repository != "referrer" {
                let is_success = self.run(&self.cosign, &verify).status.success();
                assert_eq!(is_success, is_taken, "{repository} {key}");
            }
        }
        assert_eq!(self.verdict(repository, other), Verdict::WrongKey);
        match self.verdict(repository, mine) {
            Verdict::Good(signature) => signature.form,
            verdict => panic!("{repository}: {verdict:?}"),
        }
    }

    /// What we say, asked over HTTP and of a copy of all that lies in the repository: the same.
    fn verdict(&self, repository: &str, key: &PublicKey) -> Verdict {
        let check = |store: &dyn Store| {
            let question = Question {
                of: self.reference(repository),
                signed_as: None,
                digest: self.image.clone(),
                key: key.clone(),
            };
            signature::check_one(store, question).expect("an answer")
        };
        let copied = check(&self.copy(repository));
        assert_eq!(check(&self.client()), copied, "{repository}");
        copied
    }

    fn copy(&self, repository: &str) -> Layout {
        let name = self.name(repository);
        let tag = format!("sha256-{}", self.image.hex());
        for tag in ["1", &tag, &format!("{tag}.sig")] {
            let copy = "copy --all --insecure-policy --src-tls-verify=false";
            let words = format!("{copy} docker://{name}:{tag} oci:copy-{repository}:{name}:{tag}");
            let is_copied = self.run(&self.skopeo, &words).status.success();
            assert!(is_copied || tag != "1", "the image is copied");
        }
        Layout::open(self.stage.path(), &format!("copy-{repository}")).expect("a layout")
    }
}

#[test]
fn what_cosign_signs_verifies_in_each_form_and_under_no_other_key() {
    let Some(shop) = Workshop::new() else { return };
    let (mine, other) = (shop.key("mine"), shop.key("other"));
    let plain = if shop.is_3 {
        "--use-signing-config=false --new-bundle-format=false"
    } else {
        ""
    };
    shop.sign("tag", plain);
    assert_eq!(shop.verify("tag", &mine, &other), Form::Tag);
    if shop.is_3 {
        shop.sign("bundle", "--use-signing-config=false");
        assert_eq!(shop.verify("bundle", &mine, &other), Form::Bundle);
    }
    shop.sign(
        "referrer",
        &format!("{plain} --registry-referrers-mode=oci-1-1"),
    );
    shop.verify("referrer", &mine, &other);
}

#[test]
fn what_is_signed_here_is_taken_by_cosign_in_both_forms_and_under_no_other_key() {
    let Some(shop) = Workshop::new() else { return };
    let other = shop.key("other");
    let refused = SigningKey::read(&shop.stage.read("other.key")).map(|_| ());
    assert_eq!(refused, Err(SecretKeyError::Encrypted));
    let pair = rcgen::KeyPair::generate().expect("a key");
    let key = SigningKey::read(&pair.serialize_pem()).expect("a key");
    shop.stage.write("mine.pub", pair.public_key_pem());
    let mut forms = vec![("tag", SignatureForm::Tag, Form::Tag)];
    if shop.is_3 {
        forms.push(("bundle", SignatureForm::Bundle, Form::Bundle));
    }
    for (repository, form, found) in forms {
        shop.push(repository);
        let (client, of) = (shop.client(), shop.reference(repository));
        let manifest = client.manifests(std::slice::from_ref(&of)).remove(0);
        let artifact = descriptor(MANIFEST, &manifest.expect("it").bytes);
        let signed = signature::sign(&client, &client, &of, &artifact, &key, form);
        assert_eq!(signed, Ok(Signed::New));
        assert_eq!(shop.verify(repository, key.public(), &other), found);
    }
}
