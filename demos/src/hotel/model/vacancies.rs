//! What the model says of free rooms.

use super::view::View;
use crate::hotel::catalogue::Vacancy;
use crate::hotel::facts::Availability;
use crate::hotel::phrase;
use crate::hotel::stage::Stage;
use graph_nodes::batch::ItemOutcome;

/// One line a hotel, then what can be done.
pub(super) fn say(view: &View<'_>, availability: &Availability) -> String {
    let Availability { stay, report } = availability;
    let mut text = format!("{} ({}):\n", phrase::stay(*stay), phrase::nights(stay.nights()));
    for item in &report.results {
        let said = match &item.outcome {
            ItemOutcome::Ok { value } => match serde_json::from_value(value.clone()) {
                Ok(vacancy) => vacancy_in_words(&vacancy),
                Err(_) => "I cannot tell".to_owned(),
            },
            ItemOutcome::NotFound => "not in the catalogue any more".to_owned(),
            ItemOutcome::Invalid { .. } => "not among the offers".to_owned(),
            _ => "the catalogue does not answer, ask again".to_owned(),
        };
        text.push_str(&format!("{}: {said}\n", item.id));
    }
    let offered = view.briefing.criteria.stay;
    if offered != Some(*stay) {
        text.push_str("My offers are for other days. To book for these, say them once more. ");
    }
    // A yes that follows must not be taken for other days.
    match (view.stage, &view.briefing.chosen, offered) {
        (Stage::Booking, Some(chosen), Some(offered)) => {
            text.push_str(&format!("Shall I book {chosen} for {}?", phrase::stay(offered)));
        }
        _ if offered == Some(*stay) => text.push_str("Which one shall I book?"),
        _ => text.truncate(text.trim_end().len()),
    }
    text
}

fn vacancy_in_words(vacancy: &Vacancy) -> String {
    match vacancy {
        Vacancy::Room { room, total } => format!("a {} for {total}", phrase::room(*room)),
        Vacancy::Full { night } => format!("booked out on {}", phrase::day(*night)),
        Vacancy::NoRoom => "no room as you want it".to_owned(),
    }
}
