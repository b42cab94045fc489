//! Fields and updates as JSON.

use std::collections::BTreeMap;

use graph_engine::{CodecError, Encoding, State};

use crate::hotel::{Criteria, Draft, Hotel, HotelUpdate, field, step};

/// Through JSON into a fresh update.
fn saved(update: &HotelUpdate) -> HotelUpdate {
    let mut json = Vec::new();
    Hotel::default().encode_update(update, &mut json).expect("it can be stored");
    let text = String::from_utf8(json).expect("JSON is UTF-8");
    Hotel::default().decode_update(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn every_stored_field_comes_back_from_a_base() {
    let hotel = Hotel {
        criteria: Some(Criteria { city: "Oslo".into(), budget: 100 }),
        nights: 3,
        price: 1.5,
        title: "a \"trip\"".into(),
        messages: ["a", "b"].map(str::to_owned).into(),
        quotes: BTreeMap::from([("Inn".to_owned(), 120)]),
        total: -4,
        longest: Some("abc".into()),
        draft: Some(Draft(1)),
        steps: vec![Draft(1)],
        r#type: vec![1, 2],
        ..Hotel::default()
    };
    let mut read = Hotel::default();
    for (index, spec) in hotel.fields().iter().enumerate() {
        let mut json = Vec::new();
        assert_eq!(hotel.encode(index, None, &mut json).expect("stored"), Encoding::Base);
        serde_json::from_slice::<serde_json::Value>(&json).expect("even a transient field is JSON");
        if !spec.transient {
            read.decode(index, Encoding::Base, &json).expect("read");
        }
    }
    let mut expected = hotel.clone();
    expected.reset_transient();
    assert_eq!(format!("{read:?}"), format!("{expected:?}"));
    assert_eq!((read.draft, read.steps.len()), (None, 0));
}

#[test]
fn appended_fields_store_what_is_new() {
    let mut hotel = Hotel::default();
    step(&mut hotel, [Hotel::update().messages(["a"])]).expect("no reducers");
    let index = Hotel::MESSAGES.index();
    let mark = hotel.mark(index);
    let mut base = Vec::new();
    assert_eq!(hotel.encode(index, None, &mut base).expect("stored"), Encoding::Base);
    step(&mut hotel, [Hotel::update().messages(["b", "c"])]).expect("no reducers");
    let mut delta = Vec::new();
    assert_eq!(hotel.encode(index, Some(mark), &mut delta).expect("stored"), Encoding::Delta);
    assert_eq!(delta, br#"["b","c"]"#);

    let mut read = Hotel::default();
    read.decode(index, Encoding::Base, &base).expect("read");
    read.decode(index, Encoding::Delta, &delta).expect("read");
    assert_eq!(read.messages, hotel.messages);
    assert_eq!((hotel.mark(field("nights")), hotel.mark(field("steps"))), (0, 0));
}

#[test]
fn updates_come_back_without_transient_writes() {
    let update = Hotel::update()
        .criteria(None)
        .city("Oslo")
        .total(5)
        .overwrite_total(10)
        .total(3)
        .longest("abc")
        .messages(["a"])
        .overwrite_quotes(BTreeMap::new())
        .quotes([("Inn".to_owned(), 120)])
        .r#type([1]);
    assert_eq!(saved(&update), update);
    assert_eq!(saved(&Hotel::update()), Hotel::update());
    assert_eq!(saved(&update.clone().draft(Draft(1)).steps([Draft(1)]).count(Draft(1))), update);

    let mut json = Vec::new();
    Hotel::default()
        .encode_update(&Hotel::update().nights(2).messages(["a"]).count(Draft(1)), &mut json)
        .expect("stored");
    assert_eq!(json, br#"{"nights":2,"messages":{"overwrite":false,"items":["a"]}}"#);
}

#[test]
fn an_update_with_a_wrong_field_or_value_is_refused() {
    let decode = |json: &str| Hotel::default().decode_update(json.as_bytes()).map(|_| ()).expect_err(json);
    assert!(matches!(decode(r#"{"nihgts":2}"#), CodecError::UnknownField { field } if field == "nihgts"));
    assert!(matches!(decode(r#"{"draft":2}"#), CodecError::UnknownField { field } if field == "draft"));
    assert!(matches!(decode(r#"{"nights":"2"}"#), CodecError::Decode { field, .. } if field == "nights"));
    assert!(matches!(decode(r#"{"messages":["a"]}"#), CodecError::Decode { field, .. } if field == "messages"));
    assert!(matches!(decode("[]"), CodecError::Decode { .. }));
    assert!(matches!(decode("{"), CodecError::Decode { .. }));
}

#[test]
fn floats_that_are_not_finite_are_refused_by_name() {
    let refused = |error: CodecError| matches!(error, CodecError::NotFinite { field, .. } if field == "price");
    let hotel = Hotel { price: f64::INFINITY, ..Hotel::default() };
    assert!(refused(hotel.encode(field("price"), None, &mut Vec::new()).expect_err("infinite")));
    let update = Hotel::update().price(f64::NAN);
    assert!(refused(hotel.encode_update(&update, &mut Vec::new()).expect_err("not a number")));
}
