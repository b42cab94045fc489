//! What the hotel domain promises, with exact values.

use demos::hotel::calendar::{SEASON_DAYS, Stay, StayError, last_day};
use demos::hotel::catalogue::{
    Catalogue, CatalogueError, CompareError, Offer, Vacancy, catalogue_names, choose, resolve,
};
use demos::hotel::criteria::{Amenity, Budget, City, Criteria, CriteriaError, Feature, Missing, RoomType};
use demos::hotel::price::{Cents, is_holiday, nightly, quote};
use demos::hotel::table::render;
use demos::hotel::understand::{Slots, understand};
use jiff::civil::{Date, date};

const TODAY: Date = date(2026, 6, 10);

fn stay(check_in: Date, check_out: Date) -> Stay {
    Stay::new(check_in, check_out, TODAY).expect("a valid stay")
}

fn july() -> Stay {
    stay(date(2026, 7, 1), date(2026, 7, 6))
}

fn criteria(city: City) -> Criteria {
    Criteria { city: Some(city), stay: Some(july()), guests: Some(2), ..Criteria::default() }
}

fn catalogue() -> Catalogue {
    Catalogue::in_memory().expect("a catalogue in memory")
}

fn names(offers: &[Offer]) -> Vec<&str> {
    offers.iter().map(|offer| offer.hotel.name.as_str()).collect()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

// ===== prices =====

#[test]
fn a_double_at_level_100_costs_more_on_weekends() {
    let night = |day| nightly(100, RoomType::Double, day);
    assert_eq!(night(date(2026, 7, 1)), Cents(14_500)); // Wednesday
    assert_eq!(night(date(2026, 7, 3)), Cents(15_950)); // Friday
    assert_eq!(night(date(2026, 7, 4)), Cents(17_400)); // Saturday
    assert_eq!(night(date(2026, 7, 5)), Cents(15_225)); // Sunday
}

#[test]
fn a_suite_costs_two_and_a_fifth_doubles() {
    let night = |day| nightly(100, RoomType::Suite, day);
    assert_eq!(night(date(2026, 7, 1)), Cents(31_900));
    assert_eq!(night(date(2026, 7, 4)), Cents(38_280));
    assert_eq!(night(date(2026, 7, 5)), Cents(33_495));
}

#[test]
fn a_holiday_raises_its_own_night_only() {
    assert!(is_holiday(date(2026, 12, 24)) && !is_holiday(date(2026, 12, 23)));
    assert_eq!(nightly(100, RoomType::Double, date(2026, 12, 23)), Cents(12_000));
    assert_eq!(nightly(100, RoomType::Double, date(2026, 12, 24)), Cents(15_600));
    // Christmas Day 2026 is a Friday: both factors count.
    assert_eq!(nightly(100, RoomType::Double, date(2026, 12, 25)), Cents(17_160));
}

#[test]
fn a_stay_over_a_month_change_is_priced_night_by_night() {
    let quote = quote(80, RoomType::Twin, &stay(date(2026, 6, 30), date(2026, 7, 2)));
    let prices: Vec<(Date, Cents)> = quote.nights.iter().map(|night| (night.night, night.price)).collect();
    assert_eq!(prices, [(date(2026, 6, 30), Cents(10_920)), (date(2026, 7, 1), Cents(12_180))]);
    assert_eq!(quote.total, Cents(23_100));
}

#[test]
fn fractions_of_a_cent_are_rounded_half_up_once() {
    // 33 x 0.85 x 1.05 x 1.10 = 32.398..
    assert_eq!(nightly(33, RoomType::Twin, date(2027, 1, 8)), Cents(3_240));
}

#[test]
fn the_check_out_day_costs_nothing() {
    let quote = quote(100, RoomType::Double, &july());
    assert_eq!(quote.nights.len(), 5);
    assert_eq!(quote.total, Cents(14_500 + 14_500 + 15_950 + 17_400 + 15_225));
}

#[test]
fn one_night_outside_the_budget_drops_the_stay() {
    let quote = quote(100, RoomType::Double, &july());
    let budget = |min, max| Budget { min: Some(Cents(min)), max: Some(Cents(max)) };
    assert!(quote.fits(&budget(14_500, 17_400)));
    assert!(!quote.fits(&budget(14_500, 17_399)));
    assert!(!quote.fits(&budget(14_501, 17_400)));
    assert!(quote.fits(&Budget::default()));
    assert_eq!((quote.lowest(), quote.highest()), (Cents(14_500), Cents(17_400)));
}

#[test]
fn money_is_written_with_two_decimals() {
    assert_eq!(Cents(123_405).to_string(), "€1234.05");
    assert_eq!(Cents::euros(7).to_string(), "€7.00");
}

// ===== stays and criteria =====

#[test]
fn each_broken_rule_of_a_stay_has_its_own_error() {
    let parse = |check_in, check_out| Stay::parse(check_in, check_out, TODAY).expect_err("no stay");
    assert_eq!(
        parse("2026-06-31", "2026-07-02").to_string(),
        "`2026-06-31` is not a day of the calendar, give a date such as 2026-07-03"
    );
    assert_eq!(
        parse("2026-07-03", "2026-07-03").to_string(),
        "check-out `2026-07-03` is not after check-in `2026-07-03`, give a later check-out"
    );
    assert_eq!(
        parse("2026-06-09", "2026-06-12").to_string(),
        "check-in `2026-06-09` is before today `2026-06-10`, give today or a later day"
    );
    assert_eq!(parse("2026-07-01", "2026-08-01"), StayError::TooLong { nights: 31 });
}

#[test]
fn a_stay_may_begin_today_and_last_thirty_nights() {
    assert_eq!(stay(TODAY, date(2026, 7, 10)).nights(), 30);
    assert_eq!(stay(TODAY, date(2026, 6, 11)).nights(), 1);
}

#[test]
fn a_stay_may_end_on_the_last_day_of_the_season_and_not_later() {
    assert_eq!((SEASON_DAYS, last_day(TODAY)), (540, date(2027, 12, 2)));
    assert_eq!(stay(date(2027, 11, 30), date(2027, 12, 2)).nights(), 2);
    let late = Stay::new(date(2027, 11, 30), date(2027, 12, 3), TODAY).expect_err("no stay");
    assert_eq!(
        late.to_string(),
        "check-out `2027-12-03` is after `2027-12-02`, the last day with prices, give an earlier stay"
    );
    // A day later the season is a day longer.
    assert!(Stay::new(date(2027, 11, 30), date(2027, 12, 3), date(2026, 6, 11)).is_ok());
}

#[test]
fn a_stored_stay_is_checked_when_it_is_read() {
    let good: Stay = serde_json::from_str(r#"{"check_in":"2026-07-01","check_out":"2026-07-06"}"#).expect("a stay");
    assert_eq!(good, july());
    let bad = serde_json::from_str::<Stay>(r#"{"check_in":"2026-07-06","check_out":"2026-07-01"}"#);
    assert!(bad.expect_err("no stay").to_string().starts_with("check-out `2026-07-01` is not after"));
}

#[test]
fn missing_parts_are_named_in_the_order_to_ask() {
    assert_eq!(Criteria::default().missing(), [Missing::City, Missing::Dates, Missing::Guests]);
    assert_eq!(criteria(City::Oslo).missing(), []);
}

#[test]
fn an_unknown_amenity_is_refused_with_the_nearest_allowed_one() {
    let error = "swiming pol".parse::<Amenity>().expect_err("unknown");
    assert_eq!(error.nearest, None);
    let error = " brekfast ".parse::<Amenity>().expect_err("unknown");
    assert_eq!(error.to_string(), "unknown amenity `brekfast`, did you mean `breakfast`");
    let error = "helipad".parse::<Amenity>().expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "unknown amenity `helipad`, choose one of: wifi, breakfast, pool, parking, gym, spa, pets, \
         air conditioning, restaurant, bar, kitchen, airport shuttle"
    );
    assert_eq!(" Air Conditioning".parse(), Ok(Amenity::AirConditioning));
}

#[test]
fn a_feature_outside_the_list_is_refused() {
    let error = "stars".parse::<Feature>().expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "unknown comparison feature `stars`, choose one of: price, room, amenities, distance"
    );
}

#[test]
fn every_problem_of_the_criteria_is_reported() {
    let wrong = Criteria {
        stay: Some(july()),
        guests: Some(2),
        rooms: vec![RoomType::Single],
        budget: Budget { min: Some(Cents(20_000)), max: Some(Cents(10_000)) },
        ..Criteria::default()
    };
    let problems: Vec<String> = wrong.problems(date(2026, 7, 2)).iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "check-in `2026-07-01` is before today `2026-07-02`, give today or a later day",
            "a `single` room takes at most 1, not `2`, choose a larger room",
            "budget minimum `€200.00` is above the maximum `€100.00`, swap or change one of them",
        ]
    );
}

// ===== sentences taken over =====

fn told(criteria: &mut Criteria, text: &str) -> Vec<String> {
    let slots: Slots = understand(text, TODAY).slots;
    criteria.apply(&slots, TODAY).iter().map(ToString::to_string).collect()
}

#[test]
fn dates_come_together_over_several_sentences() {
    let mut criteria = Criteria::default();
    assert_eq!(told(&mut criteria, "5 nights"), [""; 0]);
    assert_eq!(criteria.pending.nights, Some(5));
    told(&mut criteria, "from 1 July");
    assert_eq!(criteria.stay, Some(july()));
    assert!(criteria.pending.is_empty());
    told(&mut criteria, "starting 2 July");
    assert_eq!(criteria.stay, Some(stay(date(2026, 7, 2), date(2026, 7, 7))));
    told(&mut criteria, "make it 2 nights");
    assert_eq!(criteria.stay, Some(stay(date(2026, 7, 2), date(2026, 7, 4))));
}

#[test]
fn a_refused_part_keeps_its_old_value() {
    let mut criteria = criteria(City::Porto);
    assert_eq!(told(&mut criteria, "make it 7 guests"), ["`7` guests do not fit one room, ask for 1 to 5"]);
    assert_eq!(told(&mut criteria, "between 200 and 300 euros, with a helipad").len(), 1);
    assert_eq!(criteria.guests, Some(2));
    assert_eq!(criteria.budget, Budget { min: Some(Cents(20_000)), max: Some(Cents(30_000)) });
    told(&mut criteria, "under 150");
    assert_eq!(criteria.budget, Budget { min: None, max: Some(Cents(15_000)) });
    told(&mut criteria, "forget the budget");
    assert_eq!(criteria.budget, Budget::default());
}

// ===== catalogue =====

#[test]
fn the_catalogue_has_eleven_hotels_in_each_city_under_distinct_names() {
    let hotels = catalogue().hotels().expect("hotels");
    for city in City::ALL {
        assert_eq!(hotels.iter().filter(|hotel| hotel.city == *city).count(), 11, "{city}");
    }
    let mut names: Vec<String> = hotels.iter().map(|hotel| hotel.name.to_lowercase()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 66);
}

#[test]
fn every_amenity_and_room_type_is_offered_somewhere_and_one_room_takes_two_everywhere() {
    let hotels = catalogue().hotels().expect("hotels");
    for amenity in Amenity::ALL {
        assert!(hotels.iter().any(|hotel| hotel.amenities.contains(amenity)), "{amenity}");
    }
    for room in RoomType::ALL {
        assert!(hotels.iter().any(|hotel| hotel.rooms.contains(room)), "{room}");
    }
    assert!(hotels.iter().all(|hotel| hotel.rooms.iter().any(|room| room.capacity() >= 2)));
}

#[test]
fn a_search_returns_the_cheapest_stay_first() {
    let offers = catalogue().search(&criteria(City::Lisbon)).expect("offers");
    assert_eq!(offers.len(), 11);
    let order: Vec<(Cents, &str)> = offers.iter().map(|offer| (offer.quote.total, offer.hotel.name.as_str())).collect();
    assert!(order.is_sorted());
    assert_eq!(order.first(), Some(&(Cents(26_376), "Casa Limoa")));
}

#[test]
fn the_cheapest_matching_room_is_stated() {
    let catalogue = catalogue();
    let mut wanted = criteria(City::Vienna);
    wanted.rooms = vec![RoomType::Suite, RoomType::Twin];
    for offer in catalogue.search(&wanted).expect("offers") {
        let twin = offer.hotel.rooms.contains(&RoomType::Twin);
        assert_eq!(offer.room, if twin { RoomType::Twin } else { RoomType::Suite });
    }
    wanted.rooms.clear();
    wanted.guests = Some(5);
    let large = catalogue.search(&wanted).expect("offers");
    assert!(!large.is_empty() && large.iter().all(|offer| offer.room == RoomType::Family));
}

#[test]
fn all_amenities_are_needed_and_any_room_type_is_enough() {
    let catalogue = catalogue();
    let mut wanted = criteria(City::Vienna);
    wanted.amenities = vec![Amenity::Breakfast, Amenity::Gym];
    wanted.rooms = vec![RoomType::Twin, RoomType::Suite];
    let found = catalogue.search(&wanted).expect("offers");
    let expected: Vec<String> = catalogue
        .hotels()
        .expect("hotels")
        .into_iter()
        .filter(|hotel| {
            hotel.city == City::Vienna
                && [Amenity::Breakfast, Amenity::Gym].iter().all(|amenity| hotel.amenities.contains(amenity))
                && [RoomType::Twin, RoomType::Suite].iter().any(|room| hotel.rooms.contains(room))
        })
        .map(|hotel| hotel.name)
        .collect();
    let mut found = names(&found);
    found.sort_unstable();
    assert!(!found.is_empty());
    assert_eq!(found, expected);
}

#[test]
fn the_distance_bound_itself_is_too_far() {
    let catalogue = catalogue();
    let nearest = catalogue
        .hotels()
        .expect("hotels")
        .into_iter()
        .filter(|hotel| hotel.city == City::Oslo)
        .map(|hotel| hotel.distance_m)
        .min()
        .expect("a hotel");
    let mut wanted = criteria(City::Oslo);
    wanted.closer_than_m = Some(nearest);
    assert_eq!(catalogue.search(&wanted).expect("offers"), []);
    wanted.closer_than_m = Some(nearest + 1);
    assert_eq!(catalogue.search(&wanted).expect("offers").len(), 1);
}

#[test]
fn an_empty_result_leaves_the_criteria_as_they_were() {
    let mut wanted = criteria(City::Oslo);
    wanted.budget.max = Some(Cents::euros(1));
    let before = wanted.clone();
    assert_eq!(catalogue().search(&wanted).expect("offers"), []);
    assert_eq!(wanted, before);
    assert_eq!(catalogue().search(&Criteria::default()).expect("offers"), []);
}

#[test]
fn a_name_is_found_trimmed_and_in_any_case_but_only_whole() {
    let catalogue = catalogue();
    let find = |name: &str| catalogue.by_name(name).expect("an answer").map(|hotel| hotel.name);
    assert_eq!(find("  pÁTIO aNDORA "), Some("Pátio Andora".to_owned()));
    assert_eq!(find("Pátio"), None);
    assert_eq!(find("' or 1=1 --"), None);
    assert_eq!(find(""), None);
}

#[test]
fn only_a_hotel_among_the_offers_can_be_chosen() {
    let offers = catalogue().search(&criteria(City::Lisbon)).expect("offers");
    let chosen = choose(" casa limoa ", &offers).expect("an offer");
    assert_eq!(chosen.hotel.name, "Casa Limoa");
    let error = choose("Waltz Garden", &offers[..2]).expect_err("not offered");
    assert_eq!(
        error.to_string(),
        format!("`Waltz Garden` is not among the offers, choose one of: {}", names(&offers[..2]).join(", "))
    );
}

#[test]
fn names_resolve_once_each_and_unknown_ones_are_listed() {
    let offers = catalogue().search(&criteria(City::Lisbon)).expect("offers");
    let resolved = resolve(&owned(&["casa limoa", "Casa Limoa ", "Nowhere", "nowhere", " "]), &offers);
    assert_eq!(resolved.found, ["Casa Limoa"]);
    assert_eq!(resolved.unknown, ["Nowhere"]);
    assert_eq!(resolve(&[], &offers).found, [""; 0]);
}

#[test]
fn a_comparison_needs_a_name_and_orders_by_its_feature() {
    let catalogue = catalogue();
    let wanted = criteria(City::Lisbon);
    let error = catalogue.compare(&[], None, &wanted).expect_err("no names");
    assert!(matches!(error, CompareError::NoHotels));
    let said = owned(&["Azulejo Court", " casa limoa", "Casa Limoa", "Nowhere"]);
    let comparison = catalogue.compare(&said, Some(Feature::Price), &wanted).expect("a comparison");
    let order: Vec<&str> = comparison.rows.iter().map(|row| row.hotel.name.as_str()).collect();
    assert_eq!(order, ["Casa Limoa", "Azulejo Court"]);
    assert_eq!(comparison.unknown, ["Nowhere"]);
}

#[test]
fn a_comparison_renders_as_columns() {
    let said = owned(&["Casa Limoa", "Azulejo Court", "No\u{1b}[31mwhere"]);
    let comparison = catalogue().compare(&said, None, &criteria(City::Lisbon)).expect("a comparison");
    expect_test::expect![[r#"
        hotel      Casa Limoa                  Azulejo Court
        ---------  --------------------------  --------------------------
        price      €263.76 (5 nights, double)  €729.21 (5 nights, double)
        room       double, twin                double, twin
        amenities  wifi, breakfast, parking,   wifi, breakfast, parking,
                   air conditioning,           spa, pets,
                   airport shuttle             air conditioning,
                                               restaurant, bar
        distance   2.6 km                      6.0 km
        not found: Nowhere
    "#]]
    .assert_eq(&render(&comparison));
}

#[test]
fn on_holidays_the_houses_with_at_most_two_stars_are_booked_out() {
    let catalogue = catalogue();
    let christmas = stay(date(2026, 12, 23), date(2026, 12, 27));
    let wanted = Criteria { stay: Some(christmas), ..criteria(City::Lisbon) };
    let said = owned(&["casa limoa", "Tram Bell Inn", "Nowhere"]);
    let found = catalogue.vacancies(&said, &christmas, &wanted).expect("vacancies");
    assert_eq!(found.len(), 2);
    assert_eq!(found["casa limoa"], Vacancy::Full { night: date(2026, 12, 24) });
    let total = "€330.09".to_owned();
    assert_eq!(found["Tram Bell Inn"], Vacancy::Room { room: RoomType::Double, total });
    // A search says the same.
    let offers = catalogue.search(&wanted).expect("offers");
    assert!(offers.iter().all(|offer| offer.hotel.stars > 2));
    let lowest = Budget { min: None, max: Some(Cents(1)) };
    let none = catalogue.vacancies(&said, &july(), &Criteria { budget: lowest, ..wanted }).expect("vacancies");
    assert_eq!(none["casa limoa"], Vacancy::NoRoom);
}

#[test]
fn names_are_looked_up_together_each_in_its_place() {
    let found = catalogue().by_names(&owned(&["Waltz Garden", "nowhere", " casa limoa"])).expect("hotels");
    let names: Vec<Option<String>> = found.into_iter().map(|hotel| hotel.map(|hotel| hotel.name)).collect();
    assert_eq!(names, [Some("Waltz Garden".to_owned()), None, Some("Casa Limoa".to_owned())]);
}

#[test]
fn the_built_in_names_are_those_of_the_catalogue() {
    let mut names: Vec<String> = catalogue().hotels().expect("hotels").into_iter().map(|hotel| hotel.name).collect();
    let mut built_in: Vec<&str> = catalogue_names().collect();
    names.sort();
    built_in.sort_unstable();
    assert_eq!(names, built_in);
}

#[test]
fn a_file_is_filled_once_and_opened_again() {
    let folder = Folder::new("again");
    let path = folder.0.join("hotels.db");
    assert_eq!(Catalogue::open(&path).expect("made").hotels().expect("hotels").len(), 66);
    assert_eq!(Catalogue::open(&path).expect("opened").hotels().expect("hotels").len(), 66);
}

#[test]
fn a_file_of_another_version_is_refused() {
    let folder = Folder::new("version");
    let path = folder.0.join("hotels.db");
    drop(Catalogue::open(&path).expect("made"));
    rusqlite::Connection::open(&path).and_then(|db| db.pragma_update(None, "user_version", 99)).expect("changed");
    let error = Catalogue::open(&path).expect_err("another version");
    assert!(matches!(error, CatalogueError::Version { found: 99, expected: 1, .. }));
}

#[test]
fn a_corrupt_file_and_a_foreign_database_are_refused_by_name() {
    let folder = Folder::new("corrupt");
    let text = folder.0.join("notes.txt");
    std::fs::write(&text, "not a database at all, only a text of some length".repeat(40)).expect("written");
    let error = Catalogue::open(&text).expect_err("no database");
    assert_eq!(
        error.to_string(),
        format!("`{}` is not a usable hotel catalogue, remove the file to have it made again", text.display())
    );
    let foreign = folder.0.join("foreign.db");
    rusqlite::Connection::open(&foreign).and_then(|db| db.execute_batch("create table t (a)")).expect("made");
    let error = Catalogue::open(&foreign).expect_err("foreign");
    assert!(matches!(error, CatalogueError::Corrupt { .. }));
    let damaged = folder.0.join("damaged.db");
    drop(Catalogue::open(&damaged).expect("made"));
    let mut bytes = std::fs::read(&damaged).expect("read");
    for byte in &mut bytes[5000..20000] {
        *byte = 0xA5;
    }
    std::fs::write(&damaged, bytes).expect("written");
    let error = Catalogue::open(&damaged).expect_err("damaged");
    assert!(matches!(error, CatalogueError::Corrupt { .. }));
}

#[test]
fn a_refused_guest_count_is_an_error_of_its_own() {
    let mut criteria = Criteria::default();
    let errors = criteria.apply(&Slots { guests: Some(0), ..Slots::default() }, TODAY);
    assert_eq!(errors, [CriteriaError::Guests { guests: 0 }]);
}

/// A folder of its own for a test, removed at its end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("demos-domain-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
