//! One HTTP exchange: what is sent where, how long it may take, and the bytes that come back.

mod answer;
mod client;
mod clock;
mod connection;
mod endpoint;
mod exchange;
mod transport;

#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod reading_tests;

pub(crate) use answer::Answer;
pub(crate) use client::client;
pub(crate) use connection::Connection;
pub(crate) use endpoint::Endpoint;
#[cfg(feature = "testing")]
pub(crate) use transport::TransportError;
pub(crate) use transport::{ReqwestTransport, Transport};
