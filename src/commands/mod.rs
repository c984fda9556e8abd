//! The commands: which stages each one calls, in which order.

mod check;
mod explain;
mod images;
mod impact;
mod init;
mod lock;
mod registry;
mod render;
mod schema;
mod stamp;
mod table;
mod update;
mod values;
mod verify;

pub use check::{CheckOptions, check};
pub use explain::{ExplainOptions, explain};
pub use images::{ImagesOptions, ListFormat, images};
pub use impact::{ImpactFormat, ImpactOptions, impact};
pub use init::{InitOptions, init};
pub use lock::{LockMode, LockOptions, lock};
pub use registry::{RegistryOptions, registry_facts, registry_list};
pub use render::{RenderMode, RenderOptions, render};
pub use schema::schema;
pub use stamp::{StampOptions, stamp};
pub use update::{OfferSource, UpdateOptions, VersionSource, update};
pub use values::{Show, Stage, ValuesOptions, values};
pub use verify::{VerifyOptions, verify};
