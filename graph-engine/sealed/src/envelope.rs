//! The form of a sealed row: a JSON string, as every store can keep it.
//!
//! | bytes | what |
//! | --- | --- |
//! | 1 | the version of this form: 1 |
//! | 4 | the number of the key, little-endian |
//! | 16 | the checkpoint that the row was written for |
//! | 12 | the nonce |
//! | any | what is sealed |
//! | 16 | the tag |

use graph_engine::CheckpointId;

use crate::base64;

const VERSION: u8 = 1;

/// How long a nonce is.
pub(crate) const NONCE: usize = 12;

/// A sealed row, not opened yet.
#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    pub(crate) key: u32,
    pub(crate) checkpoint: CheckpointId,
    pub(crate) nonce: [u8; NONCE],
    /// With the tag.
    pub(crate) sealed: Vec<u8>,
}

impl Envelope {
    /// Appends the row to the bytes of a commit.
    pub(crate) fn write(&self, row: &mut Vec<u8>) {
        let (key, checkpoint) = (self.key.to_le_bytes(), self.checkpoint.to_bytes());
        let all = [&[VERSION][..], &key, &checkpoint, &self.nonce, &self.sealed].concat();
        row.push(b'"');
        base64::encode(&all, row);
        row.push(b'"');
    }

    /// Reads a row.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(row: &[u8]) -> Result<Self, &'static str> {
        let text = row.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
        let all = text.and_then(base64::decode).ok_or("it is not sealed, or not whole")?;
        let (version, rest) = all.split_first().ok_or("it is empty")?;
        if *version != VERSION {
            return Err("it has a form that this version doesn't know");
        }
        let short = "it is cut off";
        let (key, rest) = rest.split_first_chunk::<4>().ok_or(short)?;
        let (checkpoint, rest) = rest.split_first_chunk::<16>().ok_or(short)?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>().ok_or(short)?;
        Ok(Self {
            key: u32::from_le_bytes(*key),
            checkpoint: CheckpointId::from_bytes(*checkpoint),
            nonce: *nonce,
            sealed: sealed.to_vec(),
        })
    }
}
