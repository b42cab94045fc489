//! The end of a place, so that the next commit needs no look-up.

use std::collections::HashMap;

use graph_engine::{CheckpointId, Place};

use super::Writer;
use crate::block::Builder;
use crate::error::Failed;
use crate::read;

pub(super) struct Head {
    pub(super) space: read::Space,
    pub(super) number: i64,
    pub(super) id: CheckpointId,
    /// Results may be saved after it.
    pub(super) saved: bool,
    /// The number of the record that wrote each field last.
    pub(super) fields: HashMap<String, i64>,
    /// How many records are looked at to find that out.
    pub(super) looks: usize,
    /// The checkpoints that are not in the index by id.
    pub(super) tail: Vec<(CheckpointId, i64)>,
    /// The last block.
    pub(super) block: Builder,
    /// The last number of a large row, once it is known.
    pub(super) large: Option<i64>,
}

impl Writer {
    /// The end of a place, if there is one.
    pub(super) fn head(&mut self, place: &Place) -> Result<Option<Box<Head>>, Failed> {
        if let Some(head) = self.heads.remove(place) {
            return Ok(Some(head));
        }
        let Some(space) = read::space(&self.connection, place)? else { return Ok(None) };
        let mut blocks = read::Blocks::new(&self.connection, space.number, &place.thread);
        let whose = blocks.whose;
        let Some((number, id)) = read::newest(&mut blocks)? else { return Ok(None) };
        let (fields, looks) = read::directory(&mut blocks, number, 0)?;
        let Some(last) = blocks.before(number)? else { return Ok(None) };
        let block = Builder::again(last.first, last.bytes.clone());
        let block = block.map_err(|damaged| whose.damaged(number, damaged))?;
        let (mut tail, mut upto) = (Vec::new(), number);
        while upto > space.indexed
            && let Some(loaded) = blocks.before(upto)?
        {
            let (view, first) = (loaded.view(), loaded.first);
            let newer = loaded.slots.iter().rev().filter(|slot| slot.number > space.indexed);
            tail.extend(newer.filter_map(|slot| Some((view.id(slot)?, slot.number))));
            // In a damaged file a block may say that it begins behind what was looked for: it must not be found again.
            upto = upto.min(first) - 1;
            if first > number {
                break;
            }
        }
        tail.reverse();
        let fields = fields.into_iter().collect();
        Ok(Some(Box::new(Head { space, number, id, saved: true, fields, looks, tail, block, large: None })))
    }

    /// A new place.
    pub(super) fn first(&mut self, place: &Place) -> Result<Box<Head>, Failed> {
        let number = self.new_space()?;
        self.connection
            .prepare_cached("INSERT INTO places (thread, namespace, space, indexed) VALUES (?1, ?2, ?3, 0)")?
            .execute(rusqlite::params![&*place.thread, &*place.namespace, number])?;
        Ok(Box::new(Head {
            space: read::Space { number, indexed: 0, due: false },
            number: 0,
            id: CheckpointId::default(),
            saved: false,
            fields: HashMap::new(),
            looks: 0,
            tail: Vec::new(),
            block: Builder::new(1),
            large: None,
        }))
    }
}
