//! Setters, keys and the way from updates to the state.

use graph_engine::{Log, Merge, State};

use crate::hotel::{Criteria, Draft, Hotel, HotelUpdate, field, step};

fn written(update: &HotelUpdate) -> Vec<usize> {
    Hotel::default().written(update).iter().collect()
}

#[test]
fn setters_take_what_reads_well() {
    let update = Hotel::update()
        .city("Oslo")
        .nights(3)
        .stars(4)
        .price(99.5)
        .title("a trip")
        .messages(["by", "train"])
        .quotes([("Inn".to_owned(), 120)])
        .r#type([1, 2]);
    assert_eq!(update.city, Some(Some("Oslo".to_owned())));
    assert_eq!(update.nights, Some(3));
    assert_eq!(update.stars, Some(Some(4)));
    assert_eq!(update.title.as_deref(), Some("a trip"));
    assert_eq!(update.criteria, None);

    let update = Hotel::update().city(None).stars(None).criteria(None);
    assert_eq!((update.city, update.stars, update.criteria), (Some(None), Some(None), Some(None)));
    let update = Hotel::update().city(Some("Oslo".to_owned())).criteria(Criteria { city: "Oslo".into(), budget: 9 });
    assert!(update.city.is_some() && update.criteria.is_some());
    assert!(Hotel::update().city(String::from("Oslo")).overwrite_longest("Oslo").longest.is_some());
}

#[test]
fn keys_read_and_write_by_the_fields_own_rule() {
    let mut update = Hotel::update();
    Hotel::CITY.put(&mut update, Some("Oslo".to_owned()));
    Hotel::MESSAGES.put(&mut update, Log::from(["a".to_owned()]));
    Hotel::MESSAGES.put(&mut update, Log::from(["b".to_owned()]));
    Hotel::TOTAL.put(&mut update, 5);
    Hotel::COUNT.put(&mut update, Draft(2));
    Hotel::TYPE.overwrite(&mut update, vec![7]);
    assert_eq!((Hotel::TYPE.name(), Hotel::TYPE.index()), ("type", 13));
    let mut hotel = Hotel { r#type: vec![1], ..Hotel::default() };
    assert_eq!(Hotel::default().overwritten(&update), Hotel::TYPE.set());
    step(&mut hotel, [update]).expect("reducers agree");
    assert_eq!(Hotel::CITY.get(&hotel).as_deref(), Some("Oslo"));
    assert_eq!(hotel.messages, Log::from(["a".to_owned(), "b".to_owned()]));
    assert_eq!((hotel.total, hotel.count, hotel.r#type), (5, 2, vec![7]));
}

#[test]
fn the_table_says_how_fields_merge() {
    let hotel = Hotel::default();
    let fields = hotel.fields();
    assert_eq!(fields.len(), 14);
    let of = |name| &fields[field(name)];
    assert_eq!((of("criteria").merge, of("title").merge), (Merge::One, Merge::Any));
    assert_eq!((of("messages").merge, of("total").merge), (Merge::Append, Merge::With));
    assert_eq!(of("total").reducer.as_deref(), Some("add"));
    assert_eq!(of("longest").reducer.as_deref(), Some("crate::hotel::longest"));
    assert_eq!(of("count").reducer.as_deref(), Some("Hotel::count"));
    assert!(of("draft").transient && of("steps").transient && of("count").transient && !of("type").transient);
}

#[test]
fn one_update_keeps_the_order_of_its_writes() {
    let update = Hotel::update()
        .total(5)
        .overwrite_total(10)
        .total(3)
        .messages(["a"])
        .overwrite_messages(Log::new())
        .messages(["b"]);
    let mut hotel = Hotel { total: 100, ..Hotel::default() };
    step(&mut hotel, [update.clone()]).expect("reducers agree");
    assert_eq!((hotel.total, hotel.messages.len()), (13, 1));
    assert_eq!(written(&update), [field("messages"), field("total")]);
    assert_eq!(hotel.overwritten(&update), Hotel::MESSAGES.set() | Hotel::TOTAL.set());
}

#[test]
fn then_is_the_same_as_one_update() {
    let parts = [
        Hotel::update().total(5).nights(1),
        Hotel::update().overwrite_total(10).city("Oslo"),
        Hotel::update().total(3).nights(2),
    ];
    let [first, second, third] = parts;
    let composed = first.then(second).then(third);
    assert_eq!(composed, Hotel::update().overwrite_total(10).total(3).nights(2).city("Oslo"));
    let appended = Hotel::update().messages(["a"]).then(Hotel::update().messages(["b"]));
    assert_eq!(appended, Hotel::update().messages(["a", "b"]));
    let replaced = appended.then(Hotel::update().overwrite_messages(Log::new()).messages(["c"]));
    assert_eq!(replaced, Hotel::update().overwrite_messages(Log::from(["c".to_owned()])));
}

#[test]
fn reducers_run_in_task_order_and_see_what_came_before() {
    let mut hotel = Hotel { total: 1, ..Hotel::default() };
    let updates = [
        Hotel::update().longest("abc").total(1),
        Hotel::update().longest("xyz").total(2),
        Hotel::update().longest("ab"),
    ];
    step(&mut hotel, updates).expect("reducers agree");
    assert_eq!((hotel.total, hotel.longest.as_deref()), (4, Some("abc")));

    step(&mut hotel, [Hotel::update().total(1), Hotel::update().overwrite_total(50).total(5)]).expect("reducers agree");
    assert_eq!(hotel.total, 55, "an overwrite wins over the staged value");
}

#[test]
fn a_reducer_that_refuses_leaves_the_state_alone() {
    let mut hotel = Hotel { total: 7, nights: 2, ..Hotel::default() };
    let error =
        step(&mut hotel, [Hotel::update().total(1).nights(9), Hotel::update().total(-1)]).expect_err("negative");
    assert_eq!(error.to_string(), "the reducer of field `total` refused an item: -1 is negative");
    assert_eq!((hotel.total, hotel.nights), (7, 2));
}

#[test]
fn transient_fields_are_reset() {
    let mut hotel = Hotel { draft: Some(Draft(1)), steps: vec![Draft(2)], count: 3, nights: 4, ..Hotel::default() };
    hotel.reset_transient();
    assert_eq!((hotel.draft, hotel.steps, hotel.count, hotel.nights), (None, vec![], 0, 4));
}
