//! What every object of ours needs of the platform: the time, its name, its alarm.

use std::cell::{Cell, RefCell};

use cronwright_core::time::Millis;
use worker::{Env, State, js_sys};

use super::records::{Sql, StorageError, meta};

/// The time. It stands still within an event, and moves with every message from outside.
#[must_use]
pub fn now() -> Millis {
    Millis(i64::try_from(worker::Date::now().as_millis()).unwrap_or(i64::MAX))
}

/// The platform's half of an object.
pub struct Platform {
    /// The runtime's handle.
    pub state: State,
    /// Bindings and variables.
    pub env: Env,
    /// The object's own SQLite.
    pub sql: Sql,
    /// The alarm, as far as we know. One alarm stands for all timers.
    armed: Cell<Option<Millis>>,
    name: RefCell<Option<String>>,
}

impl Platform {
    /// Wraps what the runtime gives.
    pub fn new(state: State, env: Env) -> Self {
        let sql = Sql::new(&state.storage());
        Self {
            state,
            env,
            sql,
            armed: Cell::new(None),
            name: RefCell::new(None),
        }
    }

    /// Makes the small table, and learns the object's name: the runtime does not know it after a restart.
    ///
    /// # Errors
    /// When storage fails, or an object without a stored name is woken by its alarm.
    pub fn open(&self, called: Option<&str>) -> Result<String, StorageError> {
        if let Some(name) = self.name.borrow().clone() {
            return Ok(name);
        }
        meta::open(&self.sql)?;
        let stored = meta::get(&self.sql, "name")?;
        let name = match (stored, called) {
            (Some(name), _) => name,
            (None, Some(called)) => {
                meta::put(&self.sql, "name", called)?;
                called.to_owned()
            }
            (None, None) => {
                return Err(StorageError(
                    "an alarm woke an object that was never asked anything".to_owned(),
                ));
            }
        };
        *self.name.borrow_mut() = Some(name.clone());
        Ok(name)
    }

    /// The alarm has fired: the runtime holds none until it is set again.
    pub fn alarm_fired(&self) {
        self.armed.set(None);
    }

    /// Sets the alarm, unless an earlier one is set already: to wake early is harmless, and every
    /// setting is a row written.
    pub fn wake_by(&self, at: Millis) {
        if self.armed.get().is_some_and(|armed| armed <= at) {
            return;
        }
        // Never in the past: such alarms were seen to be lost for days.
        let at = at.max(now().plus(1));
        self.armed.set(Some(at));
        self.sql.count(1);
        #[expect(
            clippy::cast_precision_loss,
            reason = "an instant in ms fits into 53 bits"
        )]
        let date = js_sys::Date::new(&wasm_bindgen::JsValue::from_f64(at.0 as f64));
        let set = self
            .state
            .storage()
            .as_raw()
            .set_alarm(date, js_sys::Object::new());
        if let Err(error) = set {
            self.armed.set(None);
            worker::console_error!("the alarm could not be set: {error:?}");
        }
    }

    /// Looks whether the alarm is really there. Gives false when it had been lost.
    pub async fn alarm_is_set(&self) -> bool {
        let Some(armed) = self.armed.get() else {
            return true;
        };
        match self.state.storage().get_alarm().await {
            Ok(Some(_)) => true,
            // While its handler runs there is none; the handler sets it.
            Ok(None) if self.armed.get() != Some(armed) => true,
            Ok(None) => {
                self.armed.set(None);
                false
            }
            Err(_) => true,
        }
    }

    /// Whether planted faults may be asked for.
    pub fn seams_open(&self) -> bool {
        self.env
            .var("TEST_SEAMS")
            .is_ok_and(|value| value.to_string() == "1")
    }
}
