//! placeholder
use crate::fault::Fault;
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codec;
impl Codec {
    pub(crate) fn encode(self, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
        Ok(bytes.to_vec())
    }
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        Ok(bytes.to_vec())
    }
    pub(crate) fn same(self, stored: &[u8], new: &[u8]) -> Result<bool, Fault> {
        Ok(stored == new)
    }
}
