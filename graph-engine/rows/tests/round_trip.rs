//! Whatever is put into a row comes out of it, and whatever is no row is refused.

use graph_engine::{CheckpointId, StoreError};
use graph_engine_rows::{Format, RowError, decode, encode};
use proptest::prelude::*;

const FORMATS: [Format; 2] = [Format::Json, Format::MessagePack];

/// JSON texts of every kind, with keys in any order and some of them twice.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<u64>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        "-?[1-9][0-9]{18,40}",
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(|value| serde_json::to_string(&value).unwrap()),
        "-?[0-9]\\.[0-9]{1,30}([eE][+-]?[0-9]{1,3})?",
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(("[a-c]{0,2}", inner), 0..8).prop_map(|entries| {
                let entries: Vec<String> = entries.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_comes_back_byte_for_byte(text in json()) {
        for format in FORMATS {
            prop_assert_eq!(decode(&encode(format, text.as_bytes())).unwrap(), text.as_bytes());
        }
        prop_assert!(encode(Format::MessagePack, text.as_bytes()).len() <= text.len() + 1);
    }

    #[test]
    fn any_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in FORMATS {
            prop_assert_eq!(&decode(&encode(format, &bytes)).unwrap(), &bytes);
        }
    }

    #[test]
    fn a_damaged_row_never_panics(text in json(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut row = encode(Format::MessagePack, text.as_bytes());
        let (at, cut) = (at.index(row.len()), cut.index(row.len() + 1));
        row[at] = byte;
        row.truncate(cut);
        let _ = decode(&row);
    }

    #[test]
    fn what_was_never_packed_is_json_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut row = vec![0x11];
        row.extend_from_slice(&bytes);
        if let Ok(json) = decode(&row) {
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&json).is_ok());
        }
    }
}

#[test]
fn numbers_keys_and_spaces_that_would_change_are_kept_as_they_are() {
    for text in
        ["1e2", "1E5", "123456789012345678901234567890", " 1", "[1, 2]", "\"\\u0041\"", "-0", "1e999", "nul", ""]
    {
        let row = encode(Format::MessagePack, text.as_bytes());
        assert_eq!((row[0], decode(&row).unwrap()), (0x10, text.as_bytes().to_vec()), "{text}");
    }
    for text in ["-0.0", "[1.0,1]", "{\"b\":1,\"a\":2}", "{\"a\":1,\"a\":2}", "18446744073709551615", "[[[]]]"] {
        let row = encode(Format::MessagePack, text.as_bytes());
        assert_eq!(decode(&row).unwrap(), text.as_bytes(), "{text}");
    }
    assert_eq!(encode(Format::MessagePack, b"{\"b\":1,\"a\":2}")[0], 0x11, "keys keep their order");
    assert_eq!(encode(Format::MessagePack, b"[1.0,-0.0,1,-1,0.1,0.1,0.25]")[0], 0x10, "shorter as JSON");
}

#[test]
fn the_first_byte_decides_and_others_are_refused() {
    for tag in 0..=255_u8 {
        let read = decode(&[tag, 0x01]);
        match tag {
            0x10 => assert_eq!(read.unwrap(), [0x01]),
            0x11 => assert_eq!(read.unwrap(), b"1"),
            0x12..=0x1f => assert_eq!(read, Err(RowError::Format(tag - 0x10))),
            _ => assert_eq!(read, Err(RowError::Version(tag >> 4))),
        }
    }
    assert_eq!(decode(&[]), Err(RowError::Empty));
}

#[test]
fn damaged_message_pack_is_named() {
    let refused = |bytes: &[u8]| match decode(&[&[0x11], bytes].concat()) {
        Err(RowError::Damaged(why)) => why,
        other => panic!("{other:?}"),
    };
    refused(&[]);
    refused(&[0xdb, 0xff, 0xff, 0xff, 0xff]);
    refused(&[0xdd, 0xff, 0xff, 0xff, 0xff]);
    refused(&[0x91; 100_000]);
    refused(&[0xc4, 0x01, 0x00]);
    assert_eq!(refused(&[0x01, 0x02]), "it is not as it was written");
    assert_eq!(refused(&[0x81, 0x01, 0x02]), "a key is no text");
    assert_eq!(refused(&[0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0]), "a number is not finite");
}

#[test]
fn the_store_error_names_thread_checkpoint_and_field() {
    let id = CheckpointId::derive("guest-7", "", None, "turn-1", 0);
    let StoreError::Corrupt { thread, why } = RowError::Version(2).corrupt("guest-7", Some(id), "field `notes`") else {
        panic!("corrupt")
    };
    assert_eq!(thread, "guest-7");
    assert_eq!(
        why,
        format!(
            "field `notes` of checkpoint {id}: the row has version 2, this program reads version 1; read it with the \
             program that wrote it"
        )
    );
}
