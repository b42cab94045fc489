//! Whatever is typed is understood as something, at once and without a panic.

use demos::hotel::clean::clean;
use demos::hotel::understand::{Asked, Context, SlotProblem, understand, understand_with};
use jiff::civil::{Date, date};

const TODAY: Date = date(2026, 6, 10);

/// A small generator with a fixed seed, so that a failure can be repeated.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % below
    }
}

const PIECES: &[&str] = &[
    "3",
    "31",
    "29 February",
    "July",
    "-",
    "–",
    "to",
    "from",
    "the",
    "1st",
    "next",
    "Friday",
    "weekend",
    "in",
    "two",
    "hundred",
    "and",
    "€",
    "under",
    "between",
    "no",
    ",",
    ".",
    "without",
    "pool",
    "a",
    "my wife",
    "I",
    "for",
    "nights",
    "compare",
    "book",
    "last",
    "first",
    "#",
    "Lisbon",
    "not",
    "instead of",
    "with",
    "99999999999999",
    "0",
    "2026-02-30",
    "9999-12-31",
    "9999999 weeks",
    "in 9999999 days",
    "\u{1b}[31m",
    "\u{202e}",
    "\0",
    "🏨",
    "京都",
    "ß",
    "İ",
    "e\u{301}",
    "'",
    "\"",
    "\n",
    "1.200",
    "03.07.",
    "29/2/2027",
    "family of",
    "swap",
    "vs",
    "forget",
    "budget",
    "\u{feff}",
    "٣",
    "½",
];

#[test]
fn random_sentences_never_panic() {
    let mut seeded = Seeded(42);
    let context = Context {
        known_hotels: vec!["The Wet Heron".to_owned(), String::new(), "🙂".to_owned()],
        asked: Some(Asked::Guests),
    };
    for _ in 0..1000 {
        let mut text = String::new();
        for _ in 0..seeded.next(24) {
            text.push_str(PIECES[seeded.next(PIECES.len())]);
            text.push_str([" ", "", "  "][seeded.next(3)]);
        }
        let today = [TODAY, date(2028, 2, 29), date(9999, 12, 31), date(-9999, 1, 1)][seeded.next(4)];
        let _ = understand_with(&text, today, &context);
    }
}

#[test]
fn random_characters_never_panic() {
    let mut seeded = Seeded(7);
    for _ in 0..1000 {
        let text: String = (0..seeded.next(60))
            .map(|_| {
                let range = [0x80, 0x800, 0x3000, 0x11_0000][seeded.next(4)];
                char::from_u32(u32::try_from(seeded.next(range)).unwrap_or(0)).unwrap_or('-')
            })
            .collect();
        let _ = understand(&text, TODAY);
        assert!(!clean(&text).contains('\u{1b}'));
    }
}

#[test]
fn a_long_text_takes_memory_in_proportion_to_its_length() {
    for piece in ["no ", "with a ", "3-", "my wife and ", "compare ", "the ", "€", "not in the ", "book A and "] {
        // Bytes allocated on the way, kept or not: they grow with the work, and the machine's load doesn't matter.
        let bytes = |length: usize| {
            let text = piece.repeat(length / piece.len());
            allocation_counter::measure(|| drop(understand(&text, TODAY))).bytes_total
        };
        let (short, long) = (bytes(2_000), bytes(8_000));
        // Four times the text; sixteen times the work would be a square.
        assert!(long < short * 6, "{piece:?}: {short} and {long} bytes");
    }
}

#[test]
fn days_that_no_calendar_has_are_reported() {
    let said = |text: &str| understand(text, TODAY).problems;
    let impossible = |said: &str| vec![SlotProblem::ImpossibleDate { said: said.to_owned() }];
    assert_eq!(said("from 31 June for 2 nights"), impossible("31 June"));
    assert_eq!(said("30 February to 3 March"), impossible("30 February"));
    assert_eq!(said("3 July to 32 July"), impossible("3 July to 32 July"));
    assert_eq!(said("2027-02-29"), impossible("2027-02-29"));
    assert_eq!(said("29 February for two nights"), []);
}

#[test]
fn other_currencies_and_totals_are_reported() {
    let said = |text: &str| understand(text, TODAY).problems;
    assert_eq!(said("under $200 a night"), [SlotProblem::Currency { said: "$200 a night".to_owned() }]);
    assert_eq!(said("600 euros in total"), [SlotProblem::WholeStay { said: "600 euros".to_owned() }]);
    let known = understand("3 nights from 1 July, 600 euros in total", TODAY);
    assert_eq!(known.problems, []);
    assert_eq!(known.slots.budget_max.map(|cents| cents.0), Some(20_000));
}

#[test]
fn a_bare_number_answers_the_question_asked() {
    let answer = |asked| {
        let context = Context { asked: Some(asked), ..Context::default() };
        understand_with("just 2 please", TODAY, &context).slots
    };
    assert_eq!(answer(Asked::Guests).guests, Some(2));
    assert_eq!(answer(Asked::Nights).nights, Some(2));
    assert_eq!(understand("2", TODAY).slots.guests, None);
}

#[test]
fn known_hotels_are_found_whatever_their_words_mean() {
    let context = Context {
        known_hotels: vec!["Wren and Thistle".to_owned(), "The Copper Still".to_owned(), "Pool Bar Suite".to_owned()],
        asked: None,
    };
    let found = |text: &str| {
        let slots = understand_with(text, TODAY, &context).slots;
        serde_json::to_string(&slots).expect("slots are JSON")
    };
    assert_eq!(found("book wren & thistle"), r#"{"hotels":["wren & thistle"]}"#);
    assert_eq!(found("compare the copper still and Pool Bar Suite"), r#"{"hotels":["copper still","Pool Bar Suite"]}"#);
}
