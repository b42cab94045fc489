//! Seals and opens single rows.

use std::fmt;
use std::sync::Arc;

use aes_gcm::aead::{Aead, Payload};
use graph_engine::{BoxError, CheckpointId, Place, StoreError};

use crate::envelope::{Envelope, NONCE};
use crate::key::KeyRing;
use crate::slot::Slot;

type Nonces = dyn Fn(&mut [u8; NONCE]) -> Result<(), BoxError> + Send + Sync;

/// The keys, and where nonces come from.
#[derive(Clone)]
pub(crate) struct Vault {
    ring: KeyRing,
    nonces: Arc<Nonces>,
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.ring, f)
    }
}

impl Vault {
    /// Nonces of the operating system.
    pub(crate) fn new(ring: KeyRing) -> Self {
        Self { ring, nonces: Arc::new(|nonce| getrandom::fill(nonce).map_err(Into::into)) }
    }

    pub(crate) fn nonces(&mut self, nonces: impl Fn(&mut [u8; NONCE]) -> Result<(), BoxError> + Send + Sync + 'static) {
        self.nonces = Arc::new(nonces);
    }

    /// Appends the sealed row.
    pub(crate) fn seal(
        &self,
        place: &Place,
        checkpoint: CheckpointId,
        slot: Slot<'_>,
        plain: &[u8],
        row: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let key = self.ring.newest();
        let mut nonce = [0; NONCE];
        (self.nonces)(&mut nonce).map_err(StoreError::unavailable)?;
        let payload = Payload { msg: plain, aad: &slot.bound(place, checkpoint) };
        let sealed = key.cipher().encrypt(&nonce.into(), payload).map_err(|_| {
            // The one thing that GCM can't do: more than 64 GiB in one row.
            StoreError::full(format!("{slot} is too large to be sealed"))
        })?;
        Envelope { key: key.id(), checkpoint, nonce, sealed }.write(row);
        Ok(())
    }

    /// Opens a row that was written for one of these places; the first one is where it stands.
    pub(crate) fn open(&self, places: &[Place], slot: Slot<'_>, envelope: &Envelope) -> Result<Vec<u8>, Refused> {
        let key = self.ring.find(envelope.key).ok_or(Refused::UnknownKey)?;
        for place in places {
            let aad = slot.bound(place, envelope.checkpoint);
            let payload = Payload { msg: &envelope.sealed, aad: &aad };
            if let Ok(plain) = key.cipher().decrypt(&envelope.nonce.into(), payload) {
                return Ok(plain);
            }
        }
        Err(Refused::Damaged)
    }
}

/// Why a row can't be opened.
#[derive(Debug)]
pub(crate) enum Refused {
    UnknownKey,
    Damaged,
}

impl Refused {
    /// The error that a caller gets.
    pub(crate) fn error(self, place: &Place, slot: Slot<'_>, envelope: &Envelope) -> StoreError {
        let (checkpoint, key) = (envelope.checkpoint, envelope.key);
        match self {
            Self::UnknownKey => StoreError::unknown_key(&*place.thread, checkpoint.to_string(), key.to_string()),
            Self::Damaged => {
                let why = format!(
                    "{slot} of checkpoint {checkpoint} can't be opened: it was changed, belongs elsewhere, or the secret \
                     of key {key} is another one"
                );
                StoreError::corrupt(&*place.thread, why)
            }
        }
    }
}
