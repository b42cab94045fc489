//! The nodes, routers, reducers and predicates that the files of these tests name.

use graph_engine::{DynState, DynUpdate, FieldError, In, NamedNext, NodeError, Outcome, Registry, Schema, Snap};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    into: String,
    text: String,
}

#[derive(Deserialize)]
struct Ask {
    needs: String,
    counts: String,
    question: String,
}

#[derive(Deserialize)]
struct Set {
    field: String,
    value: Value,
}

#[derive(Deserialize)]
struct Cheapest {
    from: String,
    into: String,
}

/// What a quote is asked for: JSON in the file's router, a type here.
#[derive(Deserialize)]
struct Hotel(String);

impl serde::Serialize for Hotel {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[derive(Deserialize)]
struct Until {
    field: String,
    reaches: i64,
    then: String,
    r#else: Option<String>,
}

#[derive(Deserialize)]
struct Each {
    item: String,
    to: String,
}

fn sum(total: &Value, item: Value) -> Result<Value, String> {
    let (Some(total), Some(item)) = (total.as_i64(), item.as_i64()) else { return Err("not a number".to_owned()) };
    Ok(json!(total + item))
}

async fn quote(hotel: In<Hotel>, state: Snap<DynState>) -> Result<DynUpdate, FieldError> {
    let name = &hotel.0.0;
    state.update().append("quotes", [json!({ "hotel": name, "price": name.len() })])
}

fn ask(state: &DynState, config: &Ask) -> Result<Outcome<DynState>, NodeError> {
    let outcome = Outcome::of(state.update().reduce(&config.counts, 1)?);
    Ok(if state.get(&config.needs)?.is_null() { outcome.direct(json!(config.question)) } else { outcome })
}

fn cheapest(state: &DynState, config: &Cheapest) -> Result<DynUpdate, NodeError> {
    let quotes = state.get(&config.from)?.as_array().ok_or("no list")?;
    let best = quotes.iter().min_by_key(|quote| quote["price"].as_u64()).ok_or("no quotes")?;
    Ok(state.update().set(&config.into, &best["hotel"])?)
}

fn until(state: &DynState, config: &Until) -> Result<NamedNext, NodeError> {
    let reached = state.read::<i64>(&config.field)? >= config.reaches;
    Ok(match (reached, &config.r#else) {
        (true, _) => NamedNext::go(config.then.as_str()),
        (false, Some(other)) => NamedNext::go(other.as_str()),
        (false, None) => NamedNext::stay(format!("{} is below {}", config.field, config.reaches)),
    })
}

fn each(state: &DynState, config: &Each) -> Result<NamedNext, NodeError> {
    let items = state.get(&config.item)?.as_array().ok_or("no list")?;
    Ok(NamedNext::fan_out(config.to.as_str(), items.clone()))
}

pub(crate) fn registry() -> Registry {
    Registry::new()
        .reducer("sum", sum)
        .predicate("brief", |error: &NodeError| error.to_string().len() < 20)
        .node_in("note", |config: Note, schema: &Arc<Schema>| {
            schema.position(&config.into)?;
            Ok::<_, FieldError>(move |state: Snap<DynState>| {
                let update = state.update().append(&config.into, [&config.text]);
                async move { update }
            })
        })
        .node("ask", |config: Ask| {
            Ok::<_, NodeError>(move |state: Snap<DynState>| {
                let outcome = ask(&state, &config);
                async move { outcome }
            })
        })
        .node("set", |config: Set| {
            Ok::<_, NodeError>(move |state: Snap<DynState>| {
                let update = state.update().set(&config.field, &config.value);
                async move { update }
            })
        })
        .node("cheapest", |config: Cheapest| {
            Ok::<_, NodeError>(move |state: Snap<DynState>| {
                let update = cheapest(&state, &config);
                async move { update }
            })
        })
        .node("quote", |(): ()| Ok::<_, NodeError>(quote))
        .router("until", |config: Until| Ok::<_, NodeError>(move |state: &DynState| until(state, &config)))
        .router("each", |config: Each| Ok::<_, NodeError>(move |state: &DynState| each(state, &config)))
        .router("lost", |to: String| Ok::<_, NodeError>(move |_: &DynState| to.clone()))
        .node("faulty", |(): ()| -> Result<fn() -> std::future::Ready<()>, NodeError> { panic!("no such luck") })
}
