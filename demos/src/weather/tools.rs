//! The tool, and the coalescer behind it.

use crate::weather::graph::Talk;
use crate::weather::service::{Forecast, Service};
use graph_nodes::coalesce::{CoalesceError, Coalescer};
use graph_nodes::tool::{FnTool, ToolReply, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// On whose behalf the service is asked: keys of two tenants never share a request.
#[derive(Clone, Debug)]
pub struct Tenant(pub String);

/// Forecasts that are asked for at the same time, loaded by one request.
#[derive(Clone, Debug)]
pub struct Forecasts(Coalescer<String, Forecast>);

impl Forecasts {
    /// Forecasts of this service.
    #[must_use]
    pub fn new(service: &Service) -> Self {
        let service = service.clone();
        Self(Coalescer::new(move |_tenant, cities| service.clone().forecasts(cities)))
    }

    /// The forecast for a city; `None` if there is no station. However it is written, it is one key.
    ///
    /// # Errors
    /// If the request failed.
    pub async fn get(&self, Tenant(tenant): &Tenant, city: &str) -> Result<Option<Forecast>, CoalesceError> {
        self.0.tenant(tenant).get(key(city)).await
    }
}

/// Every word with a capital letter.
fn key(city: &str) -> String {
    let words = city.split_whitespace().map(|word| {
        let mut letters = word.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters.flat_map(char::to_lowercase)).collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What `weather` is given.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WeatherArgs {
    /// The city.
    pub city: String,
}

/// The weather of one city. Needs [`Forecasts`] and the [`Tenant`].
pub fn weather() -> FnTool<Talk> {
    tool::<Talk, WeatherArgs>("weather", "The weather in one city today.", |args: WeatherArgs, call| async move {
        let (forecasts, tenant) = (call.resource::<Forecasts>()?, call.resource::<Tenant>()?);
        match forecasts.get(&tenant, &args.city).await? {
            Some(forecast) => Ok(ToolReply::json(forecast)),
            None => Err(format!("there is no station in {}", args.city.trim()).into()),
        }
    })
    .concurrent()
    .read_only()
    .needs::<Forecasts>()
    .needs::<Tenant>()
}
