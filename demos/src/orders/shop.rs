//! The invented shop: the latest orders of its one customer, and the tracking system behind it.

use graph_engine::BoxError;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the tracking system thinks about a request.
const THINKS: Duration = Duration::from_millis(40);

/// The number of the newest order; the first one is 1.
const NEWEST: u32 = 32;

/// The customer's orders, newest first. One of them is a voucher of the old shop, which tracking knows nothing of.
#[must_use]
pub fn latest(count: usize) -> Vec<String> {
    let mut orders: Vec<String> = (1..=NEWEST).rev().map(|number| format!("ORD-{}", 7000 + number)).collect();
    orders.insert(4, "W-118".to_owned());
    orders.truncate(count);
    orders
}

/// What tracking knows of an order. Only a part of it is meant for the customer.
#[derive(Clone, Debug, Serialize)]
pub struct Parcel {
    /// Where it is in the process: `packed`, `delayed`, `shipped` or `delivered`.
    pub status: &'static str,
    /// Who carries it, once it has left.
    pub carrier: Option<&'static str>,
    /// Not for customers.
    pub shelf: String,
    /// Not for customers, and long.
    pub scans: Vec<String>,
}

/// The tracking system, which counts its requests.
#[derive(Clone, Debug, Default)]
pub struct Tracking {
    requests: Arc<Mutex<Vec<usize>>>,
}

impl Tracking {
    /// Where these orders are. Orders that it doesn't know are left out.
    ///
    /// # Errors
    /// None: the invented system never fails.
    pub async fn parcels(self, orders: Vec<String>) -> Result<HashMap<String, Parcel>, BoxError> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(orders.len());
        tokio::time::sleep(THINKS).await;
        Ok(orders.into_iter().filter_map(|order| Some((order.clone(), parcel(&order)?))).collect())
    }

    /// The requests since the last time, as a line beside the conversation.
    #[must_use]
    pub fn take_requests(&self) -> Option<String> {
        let sizes = std::mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner));
        let orders: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        match sizes.len() {
            0 => None,
            1 => Some(format!("tracking: 1 request, for {} orders", orders[0])),
            requests => Some(format!("tracking: {requests} requests, for {} orders", orders.join(" + "))),
        }
    }
}

fn parcel(order: &str) -> Option<Parcel> {
    let number = order.strip_prefix("ORD-")?.parse::<u32>().ok()?.checked_sub(7000)?;
    // Number 9 was deleted long ago.
    if number == 0 || number > NEWEST || number == 9 {
        return None;
    }
    let (status, carrier) = match number {
        31.. => ("packed", None),
        _ if number % 7 == 3 => ("delayed", None),
        25.. => ("shipped", Some(if number % 2 == 0 { "Alpine Parcel" } else { "Heron Post" })),
        _ => ("delivered", Some("Heron Post")),
    };
    let scans = (0..50).map(|scan| format!("scan {scan} of {order}")).collect();
    Some(Parcel { status, carrier, shelf: format!("R{}", number % 9), scans })
}
