//! A hand-written state with one field more than a set can hold; the derive would refuse it.

use graph_engine::{CodecError, Encoding, FieldSet, FieldSpec, Merge, ReduceError, State};

#[derive(Clone)]
pub(crate) struct Wide(Vec<FieldSpec>);

impl Default for Wide {
    fn default() -> Self {
        Self(vec![FieldSpec::new("field", Merge::Any); FieldSet::MAX_FIELDS + 1])
    }
}

impl State for Wide {
    type Update = ();
    type Staged = ();

    fn fields(&self) -> &[FieldSpec] {
        &self.0
    }

    fn written(&self, (): &()) -> FieldSet {
        FieldSet::EMPTY
    }

    fn overwritten(&self, (): &()) -> FieldSet {
        FieldSet::EMPTY
    }

    fn stage(&self, (): &mut (), (): &mut ()) -> Result<(), ReduceError> {
        Ok(())
    }

    fn apply(&mut self, (): ()) {}

    fn settle(&mut self, (): ()) {}

    fn reset_transient(&mut self) {}

    fn compose((): (), (): ()) {}

    fn mark(&self, _: usize) -> u64 {
        0
    }

    fn encode(&self, _: usize, _: Option<u64>, _: &mut Vec<u8>) -> Result<Encoding, CodecError> {
        Ok(Encoding::Base)
    }

    fn decode(&mut self, _: usize, _: Encoding, _: &[u8]) -> Result<(), CodecError> {
        Ok(())
    }

    fn encode_update(&self, (): &(), _: &mut Vec<u8>) -> Result<(), CodecError> {
        Ok(())
    }

    fn decode_update(&self, _: &[u8]) -> Result<(), CodecError> {
        Ok(())
    }
}
