//! Why a store can't be opened.

use graph_engine::StoreError;

/// A store can't be opened. No message holds the URL or a part of it.
///
/// ```
/// use graph_engine_postgres::{PostgresError, PostgresStore};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let error = PostgresStore::connect("postgres://agent:secret@[not a host").await.unwrap_err();
/// assert!(matches!(error, PostgresError::Url));
/// assert!(!format!("{error} {error:?}").contains("secret"));
/// # });
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The URL is none. It isn't shown, because it may hold a password.
    #[error(
        "the connection URL can't be read (it isn't shown, it may hold a password); its form is \
         `postgres://user:password@host:port/database`, special characters in it as %XX"
    )]
    Url,
    /// The schema's name is none.
    #[error("`{name}` can't be a schema: a name has 1 to 63 bytes, no NUL, and doesn't begin with `pg_`")]
    SchemaName {
        /// The name.
        name: String,
    },
    /// The tables are those of a newer version of this crate. Nothing was changed.
    #[error(
        "the tables in schema `{schema}` have version {found}, this program knows versions up to {known}; update the \
         program, or give it another schema"
    )]
    Newer {
        /// The schema.
        schema: String,
        /// The version of the tables.
        found: i32,
        /// The newest version that this crate knows.
        known: i32,
    },
    /// The server can't be reached or refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}
