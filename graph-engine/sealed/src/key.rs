//! Keys: by which the rows are sealed, and which one seals.

use std::fmt;
use std::sync::Arc;

use aes_gcm::{Aes256Gcm, KeyInit};
use zeroize::Zeroizing;

/// A secret of 256 bits with a number by which rows name it.
///
/// Only the number is ever shown. What is kept of the secret is overwritten with zeros when the last clone goes; the
/// bytes that were lent to [`new`](Self::new) are the caller's to clear.
///
/// ```
/// use graph_engine_sealed::Key;
///
/// let key = Key::new(3, &[0x5a; 32]);
/// assert_eq!(key.id(), 3);
/// assert_eq!(format!("{key:?}"), "Key(3)");
/// ```
#[derive(Clone)]
pub struct Key {
    id: u32,
    cipher: Arc<Aes256Gcm>,
}

impl Key {
    /// A key of these 32 bytes. They have to be random: from the operating system or a key service, never a password.
    ///
    /// The number is written into every row and has to stay with the secret for as long as there is one.
    #[must_use]
    pub fn new(id: u32, secret: &[u8; 32]) -> Self {
        Self { id, cipher: Arc::new(Aes256Gcm::new(secret.into())) }
    }

    /// A key of 64 hexadecimal digits, as an environment variable may hold one.
    ///
    /// ```
    /// use graph_engine_sealed::Key;
    ///
    /// assert!(Key::from_hex(1, &"5a".repeat(32)).is_ok());
    /// let error = Key::from_hex(1, "secret").unwrap_err();
    /// assert_eq!(error.to_string(), "key 1 is not 64 hexadecimal digits");
    /// ```
    ///
    /// # Errors
    /// [`InvalidKey`] if it is anything else. The text is not shown.
    pub fn from_hex(id: u32, digits: &str) -> Result<Self, InvalidKey> {
        let mut secret = Zeroizing::new([0; 32]);
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        let mut right = pairs.len() == secret.len() && rest.is_empty();
        for (byte, [high, low]) in secret.iter_mut().zip(pairs) {
            match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => *byte = high << 4 | low,
                _ => right = false,
            }
        }
        if right { Ok(Self::new(id, &secret)) } else { Err(InvalidKey { id }) }
    }

    /// Its number.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    pub(crate) fn cipher(&self) -> &Aes256Gcm {
        &self.cipher
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id)
    }
}

/// A text that is no key.
///
/// ```
/// use graph_engine_sealed::{InvalidKey, Key};
///
/// let error: InvalidKey = Key::from_hex(4, "").unwrap_err();
/// assert!(error.to_string().starts_with("key 4"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidKey {
    /// The number of the key that was asked for.
    pub id: u32,
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {} is not 64 hexadecimal digits", self.id)
    }
}

impl std::error::Error for InvalidKey {}

/// The keys of a store: the newest one seals, all of them open.
///
/// To rotate, start the program with the new key on the ring and the old ones still there. Rows of an old key are read
/// for as long as it is there; what is written from then on needs only the new one. Once no thread is left that was
/// written before (they were deleted or pruned, or exported and imported into a new store, which seals everything anew),
/// the old key can go. Several processes need the new key for reading before one of them seals with it.
///
/// ```
/// use graph_engine_sealed::{Key, KeyRing};
///
/// let ring = KeyRing::new(Key::new(1, &[1; 32])).rotate(Key::new(2, &[2; 32]));
/// assert_eq!(ring.newest().id(), 2);
/// assert_eq!(format!("{ring:?}"), "KeyRing([Key(1), Key(2)])");
/// ```
#[derive(Clone)]
#[must_use]
pub struct KeyRing {
    older: Vec<Key>,
    newest: Key,
}

impl KeyRing {
    /// A ring of one key.
    pub fn new(key: Key) -> Self {
        Self { older: Vec::new(), newest: key }
    }

    /// Adds a key that seals from now on. One of the same number is replaced.
    pub fn rotate(mut self, key: Key) -> Self {
        let before = std::mem::replace(&mut self.newest, key);
        self.older.push(before);
        let id = self.newest.id;
        self.older.retain(|older| older.id != id);
        self
    }

    /// The key that seals.
    #[must_use]
    pub fn newest(&self) -> &Key {
        &self.newest
    }

    pub(crate) fn find(&self, id: u32) -> Option<&Key> {
        std::iter::once(&self.newest).chain(&self.older).find(|key| key.id == id)
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&Key> = self.older.iter().chain([&self.newest]).collect();
        write!(f, "KeyRing({keys:?})")
    }
}
