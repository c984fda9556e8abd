//! The commands: the flags of each one, and which stages it calls, in which order. Text for people is in `report`.

mod check;
mod explain;
mod images;
mod impact;
mod init;
mod lock;
mod names;
mod options;
mod overview;
mod page;
mod plan;
mod registry;
mod render;
mod schema;
mod stamp;
mod update;
mod values;
mod verify;

pub use check::{CheckOptions, check};
pub use explain::{ExplainOptions, explain};
pub use images::{ImagesOptions, images};
pub use impact::{ImpactOptions, impact};
pub use init::{CodeHost, InitOptions, init};
pub use lock::{LockOptions, lock};
pub use names::{Name, Named, names};
pub use options::{FrozenOption, PartOptions};
pub use overview::{has_place, overview};
pub use page::{PageOptions, page};
pub use plan::{PlanOptions, plan};
pub use registry::{RegistryCommand, RegistryFactsOptions, RegistryListOptions};
pub use render::{RenderOptions, render};
pub use schema::schema;
pub use stamp::{StampOptions, stamp};
pub use update::{OfferOptions, UpdateOptions, update};
pub use values::{ValuesOptions, values};
pub use verify::{VerifyOptions, verify};
