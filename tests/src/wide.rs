//! A hand-written state of any number of fields; the derive would refuse one with more than a set can hold.

use std::borrow::Cow;

use graph_engine::{CodecError, Encoding, FieldSet, FieldSpec, Merge, ReduceError, State};

/// A state that holds nothing but the list of its fields. Its default has one field more than a set can hold.
#[derive(Clone, Debug)]
pub struct Wide(Vec<FieldSpec>);

impl Wide {
    /// So many fields, each with a name of its own.
    pub fn new(fields: usize) -> Self {
        let field = |at: usize| {
            let mut spec = FieldSpec::new("f", Merge::Any);
            spec.name = Cow::Owned(format!("f{at}"));
            spec
        };
        Self((0..fields).map(field).collect())
    }
}

impl Default for Wide {
    fn default() -> Self {
        Self::new(FieldSet::MAX_FIELDS + 1)
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
