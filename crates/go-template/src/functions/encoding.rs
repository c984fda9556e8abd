//! The functions for base64, base32 and checksums.

use data_encoding::HEXLOWER;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use yaml_tree::bytes::{BASE32, BASE64, Base};

use super::super::function::{Call, Function, Type};
use super::super::{Error, Value};

const TEXT: &[Type] = &[Type::String];

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::new("b64enc", TEXT, |call| encode(call, &BASE64)).makes_text(),
    Function::new("b64dec", TEXT, |call| decode(call, &BASE64)).may_make_nothing(),
    Function::new("b32enc", TEXT, |call| encode(call, &BASE32)).makes_text(),
    Function::new("b32dec", TEXT, |call| decode(call, &BASE32)).may_make_nothing(),
    Function::new("sha1sum", TEXT, checksum::<Sha1>).makes_text(),
    Function::new("sha256sum", TEXT, checksum::<Sha256>).makes_text(),
    Function::new("sha512sum", TEXT, checksum::<Sha512>).makes_text(),
    Function::new("adler32sum", TEXT, adler32).makes_text(),
];

fn encode(call: &Call<'_>, base: &Base) -> Result<Value, Error> {
    let text = call.string(0)?;
    Ok(base.encode(text.as_bytes()).into())
}

/// Malformed data is not an error: as in Sprig, the result is the text of the error.
fn decode(call: &Call<'_>, base: &Base) -> Result<Value, Error> {
    let text = call.string(0)?;
    match base.decode(text.as_bytes()) {
        Ok(decoded) => call.text(decoded),
        Err(position) => Ok(format!("illegal {} data at input byte {position}", base.name).into()),
    }
}

fn checksum<D: Digest>(call: &mut Call<'_>) -> Result<Value, Error> {
    let given = call.string(0)?;
    Ok(HEXLOWER.encode(&D::digest(given.as_bytes())).into())
}

/// Adler-32 (RFC 1950, 8.2), in decimal.
fn adler32(call: &mut Call<'_>) -> Result<Value, Error> {
    const MODULUS: u32 = 65_521;
    let add = |(low, high), byte: u8| {
        let low = (low + u32::from(byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    };
    let text = call.string(0)?;
    let (low, high) = text.bytes().fold((1, 0), add);
    Ok(((high << 16) | low).to_string().into())
}
