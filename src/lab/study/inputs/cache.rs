//! Inputs that are made once and shared.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::InputError;

type Shared<T> = Arc<OnceLock<Result<Arc<T>, Arc<InputError>>>>;

/// Shorter waits for each other are not worth a line of the log.
const WORTH_A_LINE: Duration = Duration::from_millis(1);

/// Values made once, by whoever asks first, while others wait for that one only.
pub struct Cache<T>(Mutex<BTreeMap<String, Shared<T>>>);

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }
}

impl<T> Cache<T> {
    /// Forgets what was made.
    pub fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// What was made so far, in the order of the keys.
    pub fn made(&self) -> Vec<Arc<T>> {
        let slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots
            .values()
            .filter_map(|slot| slot.get()?.as_ref().ok().map(Arc::clone))
            .collect()
    }

    /// What has this key, made now where it was not made before.
    ///
    /// # Errors
    ///
    /// When it cannot be made; the same again for everybody who asks later.
    pub fn get(
        &self,
        key: String,
        make: impl FnOnce() -> Result<T, InputError>,
    ) -> Result<Arc<T>, Arc<InputError>> {
        self.get_shared(key, || make().map_err(Arc::new))
    }

    /// The same, made of something that others share, with its error.
    ///
    /// # Errors
    ///
    /// As [`Cache::get`].
    pub fn get_shared(
        &self,
        key: String,
        make: impl FnOnce() -> Result<T, Arc<InputError>>,
    ) -> Result<Arc<T>, Arc<InputError>> {
        let slot = Arc::clone(
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(key)
                .or_default(),
        );
        let begun = Instant::now();
        let mut made_here = false;
        let made = slot
            .get_or_init(|| {
                made_here = true;
                make().map(Arc::new)
            })
            .clone();
        // What a worker waits for another one counts as work in its simulation; the log tells it
        // apart.
        let waited = begun.elapsed();
        if !made_here && waited > WORTH_A_LINE {
            tracing::debug!(
                seconds = waited.as_secs_f64(),
                input = std::any::type_name::<T>(),
                worker = std::thread::current().name(),
                "waited for an input that another worker makes"
            );
        }
        made
    }
}
