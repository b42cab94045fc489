//! How values of the engine are written in columns.

use graph_engine::{CheckpointId, CheckpointKind, Tags};

/// A checkpoint's id as 16 bytes.
pub(crate) fn id_bytes(id: CheckpointId) -> [u8; 16] {
    // The text of an id is its hexadecimal digits.
    u128::from_str_radix(&id.to_string(), 16).unwrap_or_default().to_be_bytes()
}

/// Back again; `None` for anything but 16 bytes.
pub(crate) fn id_from(bytes: &[u8]) -> Option<CheckpointId> {
    format!("{:032x}", u128::from_be_bytes(bytes.try_into().ok()?)).parse().ok()
}

/// A number as a `bigint` of the same bits; those beyond 2^63 are negative there.
pub(crate) fn bits(number: u64) -> i64 {
    number as i64
}

/// Back again.
pub(crate) fn number(bits: i64) -> u64 {
    bits as u64
}

/// A bound of a range, where more than any stored number is as good as the largest.
pub(crate) fn bound(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Tags as an array: the length of the key, the key, the value. So an index or a filter compares whole tags.
pub(crate) fn tags_to_rows(tags: &Tags) -> Vec<Vec<u8>> {
    let row = |(key, value): (&String, &String)| {
        let length = u32::try_from(key.len()).unwrap_or(u32::MAX);
        [&length.to_be_bytes(), key.as_bytes(), value.as_bytes()].concat()
    };
    tags.iter().map(row).collect()
}

/// Back again; what is wrong otherwise.
pub(crate) fn tags_from_rows(rows: &[&[u8]]) -> Result<Tags, &'static str> {
    let read = |row: &&[u8]| {
        let (length, rest) = row.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (key, value) = rest.split_at_checked(length)?;
        Some((text(key)?, text(value)?))
    };
    rows.iter().map(read).collect::<Option<Tags>>().ok_or("a tag is not readable")
}

/// Bytes that were written as text.
pub(crate) fn text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

/// A kind by its word.
pub(crate) fn kind(word: &str) -> Result<CheckpointKind, String> {
    serde_json::from_value(word.into()).map_err(|_| format!("`{word}` is no kind of checkpoint"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_numbers_and_tags_come_back() {
        let id = CheckpointId::derive("t", "", None, "turn", 3);
        assert_eq!(id_from(&id_bytes(id)), Some(id));
        assert_eq!(id_from(&[0; 15]), None);
        for value in [0, 1, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX] {
            assert_eq!(number(bits(value)), value);
        }
        let tags: Tags = [("", ""), ("a", "b\0c"), ("ab", "")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let rows = tags_to_rows(&tags);
        assert_eq!(tags_from_rows(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>()), Ok(tags));
    }

    #[test]
    fn a_damaged_tag_is_an_error() {
        for damaged in [&b""[..], b"\0\0", b"\0\0\0\x05a", b"\xff\xff\xff\xffa", b"\0\0\0\x01\xff"] {
            assert_eq!(tags_from_rows(&[damaged]), Err("a tag is not readable"));
        }
    }

    #[test]
    fn a_kind_is_known_by_its_word() {
        assert_eq!(kind("fork"), Ok(CheckpointKind::Fork));
        assert_eq!(kind("knife"), Err("`knife` is no kind of checkpoint".to_owned()));
    }
}
