//! A statement that grows by constant parts, with everything else as bound parameters.

use deadpool_postgres::Transaction;
use graph_engine::longterm::Namespace;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::trouble::Trouble;
use crate::sql::within;

type Parameter = Box<dyn ToSql + Sync + Send>;

/// A statement and its parameters.
pub(super) struct Query {
    sql: String,
    parameters: Vec<Parameter>,
}

impl Query {
    pub(super) fn new(schema: &str, sql: &'static str) -> Self {
        Self { sql: within(schema, sql), parameters: Vec::new() }
    }

    /// Adds a part of the statement.
    pub(super) fn part(&mut self, sql: &'static str) -> &mut Self {
        self.sql.push_str(sql);
        self
    }

    /// Adds a part in which the schema's name was put.
    pub(super) fn schema_part(&mut self, sql: &str) -> &mut Self {
        self.sql.push_str(sql);
        self
    }

    /// Adds the place of a parameter and its value.
    pub(super) fn bind(&mut self, value: impl ToSql + Sync + Send + 'static) -> &mut Self {
        self.parameters.push(Box::new(value));
        self.sql.push_str(&format!("${}", self.parameters.len()));
        self
    }

    /// Only live items of a namespace and of everything inside of it.
    pub(super) fn live_under(&mut self, now_ms: i64, under: Option<&Namespace>) -> &mut Self {
        self.part(" WHERE (expires_ms IS NULL OR expires_ms > ").bind(now_ms).part(")");
        if let Some(under) = under {
            let (from, to) = under.inside();
            let bytes = |text: &str| text.as_bytes().to_vec();
            // The index holds the beginnings.
            self.part(" AND substring(namespace FROM 1 FOR 256) >= substring(")
                .bind(bytes(under.as_str()))
                .part("::bytea FROM 1 FOR 256) AND substring(namespace FROM 1 FOR 256) <= substring(")
                .bind(bytes(&to))
                .part("::bytea FROM 1 FOR 256) AND (namespace = ")
                .bind(bytes(under.as_str()))
                .part(" OR (namespace >= ")
                .bind(bytes(&from))
                .part(" AND namespace < ")
                .bind(bytes(&to))
                .part("))");
        }
        self
    }

    fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.parameters.iter().map(|parameter| &**parameter as &(dyn ToSql + Sync)).collect()
    }

    pub(super) async fn rows(&self, transaction: &Transaction<'_>) -> Result<Vec<Row>, Trouble> {
        let statement = transaction.prepare_cached(&self.sql).await?;
        Ok(transaction.query(&statement, &self.parameters()).await?)
    }

    pub(super) async fn execute(&self, transaction: &Transaction<'_>) -> Result<u64, Trouble> {
        let statement = transaction.prepare_cached(&self.sql).await?;
        Ok(transaction.execute(&statement, &self.parameters()).await?)
    }
}
