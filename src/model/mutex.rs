//! Locks of what threads share and no panic can leave half changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The content of a mutex, whether or not a thread has panicked with it.
pub fn held<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
