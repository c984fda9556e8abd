//! Which certificates of servers are trusted: those of this machine's authorities and of the setting `ca`, and a certificate that
//! `ca` has byte for byte.
//!
//! `openssl req -x509` makes the certificate of an authority, which no server may show by RFC 5280 (4.2.1.9). curl and Docker
//! trust it as the server's where a user names it, and so do we.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// TLS that trusts these certificates besides those of this machine.
///
/// # Errors
/// One of them is no certificate, or this machine has none and none is named.
pub(super) fn config(named: Vec<CertificateDer<'static>>) -> Result<ClientConfig, Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let authorities = Verifier::new_with_extra_roots(named.clone(), Arc::clone(&provider))?;
    let trust = Trust { named, authorities };
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = config
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(trust));
    Ok(config.with_no_client_auth())
}

#[derive(Debug)]
struct Trust {
    named: Vec<CertificateDer<'static>>,
    authorities: Verifier,
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let authorities = &self.authorities;
        match authorities.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // Every fault that a verifier knows, such as that it has expired, has a name of its own; this one has none.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if self.named.contains(certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            answer => answer,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}
