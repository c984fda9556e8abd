//! `semver` and `semverCompare`: semantic versions and constraints, with the rules of the Masterminds library that Sprig uses.

use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use super::super::function::{Call, Function, Signature, Type};
use super::super::print::excerpt;
use super::super::value::Object;
use super::super::{Error, ErrorClass, Value};
use super::constraint::{Constraints, expand_ranges};
use super::version::{Version, parse};

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::new("semver", &[Type::String], semver),
    Function::new(
        "semverCompare",
        &[Type::String, Type::String],
        semver_compare,
    ),
];

fn semver(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = call.string(0)?;
    version(call, &text).map(object)
}

fn semver_compare(call: &mut Call<'_>) -> Result<Value, Error> {
    let (constraint, version) = (call.string(0)?, call.string(1)?);
    let bounds = expand_ranges(&constraint).unwrap_or_default();
    call.ensure_size(bounds.len())?;
    let constraints = Constraints::parse(&bounds).ok_or_else(|| {
        let constraint = excerpt(&constraint);
        call.error(format!("`{constraint}` is not a version constraint"))
    })?;
    let version = self::version(call, &version)?;
    Ok(Value::Bool(constraints.admits(&version.parts, call.engine)))
}

/// The maximum length of a version, in bytes, because every method reads the whole text.
const VERSION_LIMIT: usize = 1 << 10;

fn version(call: &Call<'_>, text: &str) -> Result<Version, Error> {
    if text.len() > VERSION_LIMIT {
        let message = format!("a semantic version is longer than {VERSION_LIMIT} bytes");
        return Err(Error::new(ErrorClass::Limit, message));
    }
    Version::parse(text).ok_or_else(|| {
        let text = excerpt(text);
        call.error(format!("`{text}` is not a semantic version"))
    })
}

/// The Go type of a version that `semver` returns. The `Inc` methods return a [`STRUCT`].
const POINTER: &str = "*semver.Version";
const STRUCT: &str = "semver.Version";

const COMPARISONS: &[&str] = &[
    "Compare",
    "Equal",
    "GreaterThan",
    "GreaterThanEqual",
    "LessThan",
    "LessThanEqual",
];

fn object(version: Version) -> Value {
    Value::Object(Rc::new(VersionObject {
        version,
        type_name: POINTER,
    }))
}

/// A version as a Go value with methods.
#[derive(Debug)]
struct VersionObject {
    version: Version,
    type_name: &'static str,
}

impl Object for VersionObject {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn kind(&self) -> &'static str {
        if self.type_name == POINTER {
            "ptr"
        } else {
            "struct"
        }
    }

    fn text(&self) -> String {
        self.version.to_string()
    }

    fn plain(&self) -> Value {
        self.text().into()
    }

    fn method(&self, name: &str) -> Option<Signature> {
        // The result of an `Inc` method is not a pointer, and lacks the methods of the pointer.
        let of_pointer = name == "Original" || COMPARISONS.contains(&name);
        if of_pointer && self.type_name != POINTER {
            return None;
        }
        let parameters: &[Type] = match name {
            "Major" | "Minor" | "Patch" | "Prerelease" | "Metadata" | "Original" | "String"
            | "IncMajor" | "IncMinor" | "IncPatch" => &[],
            _ if COMPARISONS.contains(&name) => &[Type::Named(POINTER)],
            "SetPrerelease" | "SetMetadata" => &[Type::String],
            _ => return None,
        };
        Some(Signature::new(parameters))
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, Error> {
        let Version { parts, original } = &self.version;
        Ok(match name {
            "Major" => Value::Uint64(parts.major),
            "Minor" => Value::Uint64(parts.minor),
            "Patch" => Value::Uint64(parts.patch),
            "Prerelease" => Value::from(parts.pre.as_str()),
            "Metadata" => Value::from(parts.build.as_str()),
            "Original" => Value::from(&**original),
            "String" => self.text().into(),
            "IncMajor" => next(self.version.next_major()),
            "IncMinor" => next(self.version.next_minor()),
            "IncPatch" => next(self.version.next_patch()),
            "SetPrerelease" | "SetMetadata" => return self.set_part(name, arguments),
            _ => return self.compare(name, arguments),
        })
    }
}

impl VersionObject {
    fn compare(&self, name: &str, arguments: &[Value]) -> Result<Value, Error> {
        let other = match arguments {
            // The text of a version object is the complete version.
            [Value::Object(object)] => parse(&object.text()),
            _ => None,
        };
        let Some(other) = other else {
            let message = format!("`{name}` needs a version to compare with");
            return Err(Error::new(ErrorClass::WrongType, message));
        };
        let order = self.version.parts.cmp_precedence(&other);
        Ok(match name {
            "Compare" => Value::Int(order as i64),
            "Equal" => Value::Bool(order == Ordering::Equal),
            "GreaterThan" => Value::Bool(order == Ordering::Greater),
            "GreaterThanEqual" => Value::Bool(order != Ordering::Less),
            "LessThan" => Value::Bool(order == Ordering::Less),
            _ => Value::Bool(order != Ordering::Greater),
        })
    }

    fn set_part(&self, name: &str, arguments: &[Value]) -> Result<Value, Error> {
        let text: Arc<str> = match arguments {
            [Value::String(text)] => Arc::clone(text),
            _ => "".into(),
        };
        let changed = if name == "SetMetadata" {
            self.version.with_metadata(&text)
        } else {
            self.version.with_prerelease(&text)
        };
        let short_enough = changed.filter(|changed| changed.original.len() <= VERSION_LIMIT);
        short_enough.map(next).ok_or_else(|| {
            let text = excerpt(&text);
            let message = format!("`{text}` cannot be a part of a version");
            Error::new(ErrorClass::Other, message)
        })
    }
}

fn next(version: Version) -> Value {
    Value::Object(Rc::new(VersionObject {
        version,
        type_name: STRUCT,
    }))
}
