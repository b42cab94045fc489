//! The demo `weather`: its transcripts, and how many requests it makes.

mod transcript;

use demos::weather::graph::{Talk, graph};
use demos::weather::service::{Forecast, Service};
use demos::weather::tools::{Forecasts, Tenant};
use demos::weather::{console, model};
use graph_nodes::message::{Message, check_history};

#[tokio::test(start_paused = true)]
async fn transcripts_are_what_the_program_says() {
    transcript::check("weather", console, |state: &Talk| {
        assert_eq!(check_history(state.history.iter()), Ok(()));
        assert!(state.draft.is_none());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn two_calls_of_one_response_are_one_request() {
    let (mut console, mut said) = (console().unwrap(), Vec::new());
    console.talk(&b"how is the weather in Bern and Oslo?\n"[..], &mut said, false).await.unwrap();
    let state = console.thread.state().await.unwrap().state;
    let calls: Vec<usize> =
        state.history.iter().map(|message| message.calls().len()).filter(|calls| *calls > 0).collect();
    assert_eq!(calls, [2], "both calls are in one response");
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("[weather service: 1 request, for Bern, Oslo]"), "{said}");
    let answers: Vec<String> =
        state.history.iter().filter(|message| message.call_id().is_some()).map(Message::text).collect();
    assert!(answers[0].contains("Bern") && answers[1].contains("Oslo"), "{answers:?}");
}

#[tokio::test(start_paused = true)]
async fn forecasts_that_are_asked_for_together_are_one_request_for_each_tenant() {
    let service = Service::default();
    let forecasts = Forecasts::new(&service);
    let (desk, shop) = (Tenant("travel-desk".into()), Tenant("shop".into()));
    let together = tokio::join!(
        forecasts.get(&desk, "Bern"),
        forecasts.get(&desk, " oslo"),
        forecasts.get(&desk, "BERN"),
        forecasts.get(&shop, "Bern"),
        forecasts.get(&desk, "Atlantis"),
    );
    let city = |found: Result<Option<Forecast>, _>| found.unwrap().map(|forecast| forecast.city);
    assert_eq!(city(together.0).as_deref(), Some("Bern"));
    assert_eq!(city(together.1).as_deref(), Some("Oslo"));
    assert_eq!(city(together.2).as_deref(), Some("Bern"));
    assert_eq!(city(together.3).as_deref(), Some("Bern"));
    assert_eq!(city(together.4), None);
    let requests = "weather service: 2 requests, for Bern, Oslo, Atlantis + Bern";
    assert_eq!(service.take_requests().as_deref(), Some(requests));
    assert!(forecasts.get(&Tenant(" ".into()), "Bern").await.is_err());
}

#[test]
fn cities_are_read() {
    assert_eq!(model::cities("and in Turin, in Porto , and Lyon"), ["Turin", "Porto", "Lyon"]);
    assert_eq!(model::cities("weather in New Bern?"), ["New Bern"]);
    assert!(model::cities("weather in ?").is_empty());
}

#[test]
fn the_graph_has_no_warnings() {
    assert!(graph().unwrap().warnings().is_empty());
}
