//! The invented weather service, which likes to be asked for many cities at once.

use graph_engine::BoxError;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the service thinks about a request.
const THINKS: Duration = Duration::from_millis(40);

const WEATHER: [(&str, i32, &str); 8] = [
    ("Bern", 19, "light rain"),
    ("Graz", 24, "sunny"),
    ("Lisbon", 27, "sunny"),
    ("Lyon", 23, "cloudy"),
    ("Oslo", 14, "wind and showers"),
    ("Porto", 22, "fog in the morning"),
    ("Tallinn", 12, "cloudy"),
    ("Turin", 25, "thunder in the evening"),
];

/// The weather of a city.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forecast {
    /// The city, as the service writes it.
    pub city: String,
    /// Degrees Celsius.
    pub celsius: i32,
    /// What the sky does.
    pub sky: String,
}

/// The service, which counts its requests.
#[derive(Clone, Debug, Default)]
pub struct Service {
    requests: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Service {
    /// The weather of these cities, each under the name that it was asked for by. Unknown ones are left out.
    ///
    /// # Errors
    /// None: the invented service never fails.
    pub async fn forecasts(self, cities: Vec<String>) -> Result<HashMap<String, Forecast>, BoxError> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(cities.clone());
        tokio::time::sleep(THINKS).await;
        let known = |asked: &str| WEATHER.into_iter().find(|(city, ..)| *city == asked);
        Ok(cities
            .into_iter()
            .filter_map(|asked| {
                let (city, celsius, sky) = known(&asked)?;
                Some((asked, Forecast { city: city.to_owned(), celsius, sky: sky.to_owned() }))
            })
            .collect())
    }

    /// The requests since the last time, as a line beside the conversation.
    #[must_use]
    pub fn take_requests(&self) -> Option<String> {
        let requests = std::mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner));
        let cities: Vec<String> = requests.iter().map(|cities| cities.join(", ")).collect();
        match requests.len() {
            0 => None,
            1 => Some(format!("weather service: 1 request, for {}", cities[0])),
            count => Some(format!("weather service: {count} requests, for {}", cities.join(" + "))),
        }
    }
}
