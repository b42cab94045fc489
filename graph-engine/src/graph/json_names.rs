//! Names of nodes and fields as JSON, made once, because every checkpoint holds some.

use super::Inner;
use crate::state::State;

/// Names one after the other, each with quotation marks around it and escapes where they must be.
#[derive(Default)]
pub(crate) struct JsonNames {
    json: Vec<u8>,
    ends: Vec<usize>,
}

impl<'a> FromIterator<&'a str> for JsonNames {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let mut all = Self::default();
        for name in names {
            // A text can always be written to memory.
            let written = serde_json::to_writer(&mut all.json, name);
            debug_assert!(written.is_ok(), "{written:?}");
            all.ends.push(all.json.len());
        }
        all
    }
}

impl JsonNames {
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.json[start..self.ends[at]]
    }
}

impl<S: State> Inner<S> {
    /// The names of all nodes, and of all fields.
    pub(crate) fn json_names(&self) -> &[JsonNames; 2] {
        self.json_names.get_or_init(|| {
            let fields = self.initial.fields();
            [self.names.iter().map(|name| &**name).collect(), fields.iter().map(|field| &*field.name).collect()]
        })
    }
}
