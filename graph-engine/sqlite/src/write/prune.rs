//! Pruning: checkpoints go, then the segments that no kept one sees.
//!
//! A segment is seen by a checkpoint of its branch that is not older, or by a branch that forked behind it, unless a base
//! of the same field lies between. So it is enough to know of each branch which numbers are looked from.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use graph_engine::{Encoding, Keep, Place};
use rusqlite::params;

use super::Writer;
use crate::error::Failed;
use crate::{keys, read};

/// A branch that is left.
struct Branch {
    number: i64,
    /// The parent and where it was left.
    parent: Option<(i64, i64)>,
    /// The fields that were written in it.
    series: BTreeMap<String, i64>,
    /// The checkpoints that are kept.
    kept: BTreeSet<i64>,
    /// From where later branches look at each field.
    looks: HashMap<String, BTreeSet<i64>>,
}

impl Writer {
    pub(super) fn prune(&mut self, place: &Place, keep: Keep) -> Result<u64, Failed> {
        self.heads.remove(place);
        let Some(space) = read::space(&self.connection, place)? else { return Ok(0) };
        let Some(head) = read::head(&self.connection, space)? else { return Ok(0) };
        self.choose(space, head.number(), keep)?;
        let (first, last) = keys::all(space).into_inner();
        // A parent that goes leaves its id with its children.
        self.connection.execute(
            "UPDATE checkpoints
             SET back = NULL, pruned_parent = (SELECT p.id FROM checkpoints p WHERE p.key = checkpoints.key - checkpoints.back)
             WHERE key BETWEEN ?1 AND ?2 AND back IS NOT NULL
               AND key IN (SELECT key FROM temp.kept) AND key - back NOT IN (SELECT key FROM temp.kept)",
            params![first, last],
        )?;
        let dropped = self.connection.execute(
            "DELETE FROM checkpoints WHERE key BETWEEN ?1 AND ?2 AND key NOT IN (SELECT key FROM temp.kept)",
            params![first, last],
        )?;
        if dropped > 0 {
            self.sweep(space)?;
            self.connection.execute(
                "DELETE FROM turns WHERE space = ?1
                 AND turn NOT IN (SELECT turn FROM checkpoints WHERE key BETWEEN ?2 AND ?3)",
                params![space, first, last],
            )?;
        }
        Ok(dropped as u64)
    }

    /// Notes the keys of what is kept.
    fn choose(&self, space: i64, head: i64, keep: Keep) -> Result<(), Failed> {
        self.connection.execute_batch(
            "CREATE TEMP TABLE IF NOT EXISTS kept (key INTEGER PRIMARY KEY);
             DELETE FROM temp.kept;",
        )?;
        let head = keys::key(space, head)?;
        match keep {
            Keep::Since(time) => {
                let (first, last) = keys::all(space).into_inner();
                // Times are unsigned: the upper half of them is negative here.
                let young = if time <= i64::MAX as u64 {
                    "(time_ms < 0 OR time_ms >= ?3)"
                } else {
                    "(time_ms < 0 AND time_ms >= ?3)"
                };
                let sql = format!(
                    "INSERT INTO temp.kept SELECT key FROM checkpoints
                     WHERE key BETWEEN ?1 AND ?2 AND (key = ?4 OR {young})"
                );
                self.connection.execute(&sql, params![first, last, time as i64, head])?;
            }
            Keep::Last(count) => {
                let count = i64::try_from(count.max(1)).unwrap_or(i64::MAX);
                self.connection.execute(
                    "INSERT INTO temp.kept
                     WITH RECURSIVE chain (key) AS (
                         SELECT ?1
                         UNION ALL
                         SELECT c.key - c.back FROM chain JOIN checkpoints c ON c.key = chain.key WHERE c.back IS NOT NULL
                         LIMIT ?2
                     )
                     SELECT key FROM chain",
                    params![head, count],
                )?;
            }
            // A kind of pruning that was added later keeps everything here until it is written.
            _ => {
                let (first, last) = keys::all(space).into_inner();
                self.connection.execute(
                    "INSERT INTO temp.kept SELECT key FROM checkpoints WHERE key BETWEEN ?1 AND ?2",
                    params![first, last],
                )?;
            }
        }
        Ok(())
    }

    /// Drops the segments and branches that nobody looks at any more.
    fn sweep(&self, space: i64) -> Result<(), Failed> {
        let mut branches = self.branches(space)?;
        // A branch is younger than its parent: from the youngest on, all looks are known when a branch is reached.
        while let Some(branch) = branches.pop() {
            let mut looked: BTreeSet<String> = branch.looks.keys().cloned().collect();
            if !branch.kept.is_empty() {
                // Those who are kept look at everything, also at fields that only an ancestor wrote.
                looked.extend(self.fields(&branches, &branch));
            }
            let mut through = false;
            for field in &looked {
                let mut looks = branch.kept.clone();
                looks.extend(branch.looks.get(field).into_iter().flatten());
                let first = match branch.series.get(field) {
                    Some(series) => self.sweep_series(*series, &looks)?,
                    None => looks.first().copied(),
                };
                // What is not found here is looked for where the parent was left.
                if let (Some(_), Some((parent, fork))) = (first, branch.parent)
                    && let Some(parent) = branches.iter_mut().find(|other| other.number == parent)
                {
                    parent.looks.entry(field.clone()).or_default().insert(fork);
                    through = true;
                }
            }
            for (field, series) in &branch.series {
                if !looked.contains(field) {
                    self.sweep_series(*series, &BTreeSet::new())?;
                }
            }
            self.end_branch(&branch, looked.is_empty(), through)?;
        }
        Ok(())
    }

    /// A branch that nobody looks at goes; one that needs nothing of its parent stands alone.
    fn end_branch(&self, branch: &Branch, forgotten: bool, through: bool) -> Result<(), Failed> {
        let empty = "DELETE FROM series WHERE branch = ?1
                     AND NOT EXISTS (SELECT 1 FROM segments WHERE key BETWEEN series << 32 AND (series << 32) | 4294967295)";
        self.connection.prepare_cached(empty)?.execute([branch.number])?;
        if forgotten && branch.kept.is_empty() {
            self.connection.prepare_cached("DELETE FROM branches WHERE branch = ?1")?.execute([branch.number])?;
        } else if !through {
            self.connection
                .prepare_cached(
                    "UPDATE branches SET parent = NULL, fork = NULL WHERE branch = ?1 AND parent IS NOT NULL",
                )?
                .execute([branch.number])?;
        }
        Ok(())
    }

    /// The fields of a branch and its ancestors.
    fn fields(&self, branches: &[Branch], branch: &Branch) -> BTreeSet<String> {
        let mut fields: BTreeSet<String> = branch.series.keys().cloned().collect();
        let mut parent = branch.parent;
        while let Some((number, _)) = parent
            && let Some(found) = branches.iter().find(|other| other.number == number)
        {
            fields.extend(found.series.keys().cloned());
            parent = found.parent;
        }
        fields
    }

    fn branches(&self, space: i64) -> Result<Vec<Branch>, Failed> {
        let mut branches = Vec::new();
        let mut kept: HashMap<i64, BTreeSet<i64>> = HashMap::new();
        let (first, last) = keys::all(space).into_inner();
        let mut query =
            self.connection.prepare_cached("SELECT branch, key FROM checkpoints WHERE key BETWEEN ?1 AND ?2")?;
        let mut rows = query.query(params![first, last])?;
        while let Some(row) = rows.next()? {
            kept.entry(row.get(0)?).or_default().insert(keys::number(row.get(1)?));
        }
        for number in self.numbers("SELECT branch FROM branches WHERE space = ?1 ORDER BY branch", space)? {
            let (parent, fork): (Option<i64>, Option<i64>) = self
                .connection
                .prepare_cached("SELECT parent, fork FROM branches WHERE branch = ?1")?
                .query_row([number], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let series = self
                .connection
                .prepare_cached("SELECT field, series FROM series WHERE branch = ?1")?
                .query_map([number], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            let kept = kept.remove(&number).unwrap_or_default();
            branches.push(Branch { number, parent: parent.zip(fork), series, kept, looks: HashMap::new() });
        }
        Ok(branches)
    }

    /// Drops the segments of a series that none of these numbers sees, and returns the first number from which no base
    /// is found.
    fn sweep_series(&self, series: i64, looks: &BTreeSet<i64>) -> Result<Option<i64>, Failed> {
        let (first, last) = keys::all(series).into_inner();
        // What is no encoding is kept, and refused by whoever reads it.
        let is_whole = |code: u8| Encoding::from_code(code).is_some_and(Encoding::is_whole);
        let segments: Vec<(i64, bool)> = self
            .connection
            .prepare_cached("SELECT key, encoding FROM segments WHERE key BETWEEN ?1 AND ?2 ORDER BY key")?
            .query_map(params![first, last], |row| Ok((row.get(0)?, is_whole(row.get(1)?))))?
            .collect::<rusqlite::Result<_>>()?;
        let mut drop = self.connection.prepare_cached("DELETE FROM segments WHERE key = ?1")?;
        // From the end, so that the next base is always known.
        let mut next_base = None;
        for (key, whole) in segments.iter().rev() {
            let number = keys::number(*key);
            let look = looks.range(number..).next();
            if look.is_none_or(|look| next_base.is_some_and(|base| base <= *look)) {
                drop.execute([key])?;
            }
            if *whole {
                next_base = Some(number);
            }
        }
        let base = segments.iter().find(|(_, whole)| *whole).map(|(key, _)| keys::number(*key));
        Ok(looks.first().copied().filter(|look| base.is_none_or(|base| base > *look)))
    }
}
