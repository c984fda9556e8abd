//! A certificate authority of our own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// An authority, and its certificate as a file holds it.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "a site of our own");
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self {
            issuer: Issuer::new(params, key),
            pem,
        }
    }

    /// Writes its certificate.
    pub(crate) fn file(&self, folder: &Path) -> PathBuf {
        let file = folder.join("site.pem");
        std::fs::write(&file, &self.pem).expect("written");
        file
    }

    /// Writes the certificate and the key of a server, `server.pem` and `server.key`.
    pub(crate) fn server_files(&self, folder: &Path) {
        let (certificate, key) = self.issue();
        std::fs::write(folder.join("server.pem"), certificate.pem()).expect("written");
        std::fs::write(folder.join("server.key"), key.serialize_pem()).expect("written");
    }

    /// A client that trusts this authority.
    pub(crate) fn client(&self) -> rustls::ClientConfig {
        let mut roots = rustls::RootCertStore::empty();
        let own = CertificateDer::from_pem_slice(self.pem.as_bytes()).expect("a certificate");
        roots.add(own).expect("an authority");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth()
    }

    /// The certificate of a server at 127.0.0.1 and localhost, and its key.
    fn issue(&self) -> (Certificate, KeyPair) {
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let params = CertificateParams::new(names).expect("names");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate, key)
    }

    /// A server at 127.0.0.1 and localhost.
    pub(super) fn server(&self) -> Arc<rustls::ServerConfig> {
        let (certificate, key) = self.issue();
        server(&certificate, &key)
    }
}

/// A server at 127.0.0.1 and localhost, whose certificate is an authority's, as `openssl req -x509` makes it; and that
/// certificate in a file.
pub(super) fn self_signed(folder: &Path) -> (Arc<rustls::ServerConfig>, PathBuf) {
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let mut params = CertificateParams::new(names).expect("names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    let file = folder.join("tls.crt");
    std::fs::write(&file, certificate.pem()).expect("written");
    (server(&certificate, &key), file)
}

fn server(certificate: &Certificate, key: &KeyPair) -> Arc<rustls::ServerConfig> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .expect("a certificate with its key");
    Arc::new(config)
}
