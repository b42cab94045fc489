//! What goes into a block comes out of it, and a damaged one never panics.

use graph_engine::CheckpointId;

use super::*;

fn id(step: u64) -> CheckpointId {
    CheckpointId::derive("t", "", None, "turn", step)
}

fn header<'a>(step: u64, position: Position<'a>) -> Header<'a> {
    Header {
        id: id(step),
        parent: if step == 0 { Parent::None } else { Parent::Back(1) },
        step,
        time_ms: 1_700_000_000_000_u64.wrapping_add(step),
        kind: "step",
        due_ms: None,
        turn: "turn-1",
        tags: None,
        position,
        directory: None,
    }
}

fn record<'a>(number: i64, bytes: &'a [u8]) -> Record<'a> {
    let piece = Piece { encoding: 1, first: number as u64, items: 1, held: Held::Here(bytes) };
    let position = Position::Around("{\"version\":1,\"step\":", ",\"next\":[]}");
    let group = Group { name: "log", back: 1, pieces: vec![piece] };
    Record { number, header: Some(header(number as u64, position)), groups: vec![group] }
}

/// Records with everything that one can have.
fn strange<'a>() -> Vec<Record<'a>> {
    let large = Piece { encoding: 0, first: 0, items: u64::MAX, held: Held::Large(7) };
    let here = Piece { encoding: 2, first: u64::MAX, items: 0, held: Held::Here(b"") };
    let mut all = header(u64::MAX, Position::Row(b"\x10{}"));
    (all.parent, all.due_ms, all.tags) = (Parent::Pruned(id(9)), Some(0), Some("{\"a\":\"b\"}"));
    (all.kind, all.directory) = ("dream", Some(vec![("", 0), ("log", 300), ("é🦀", 1 << 31)]));
    let mut most = header(3, Position::Large(1));
    (most.kind, most.time_ms) = ("abandon", u64::MAX);
    vec![
        Record { number: 5, header: Some(all), groups: vec![] },
        Record { number: 9, header: None, groups: vec![Group { name: "log", back: 4, pieces: vec![large, here] }] },
        Record { number: 1_000, header: Some(most), groups: vec![Group { name: "", back: 0, pieces: vec![] }] },
    ]
}

fn read<'a>(block: &Block<'a>) -> Vec<Record<'a>> {
    let (slots, whole) = block.slots();
    whole.unwrap();
    slots.iter().map(|slot| block.record(slot).unwrap()).collect()
}

#[test]
fn records_come_back_and_a_block_that_was_read_is_gone_on_with() {
    let mut builder = Builder::new(5);
    for (at, record) in strange().iter().enumerate() {
        assert!(builder.push(record, &mut Draft::default()));
        let stored = builder.bytes().to_vec();
        assert_eq!(read(&Block::new(5, &stored)), strange()[..=at]);
        let again = Builder::again(5, stored).unwrap();
        assert_eq!((again.first, &again.texts, again.bytes()), (5, &builder.texts, builder.bytes()));
        builder = again;
    }
    let stored = builder.bytes().to_vec();
    let block = Block::new(5, &stored);
    let ids: Vec<_> = block.slots().0.iter().map(|slot| block.id(slot)).collect();
    assert_eq!(ids, [Some(id(u64::MAX)), None, Some(id(3))]);
}

#[test]
fn a_text_is_there_once_and_a_full_block_takes_no_more() {
    let (mut builder, bytes) = (Builder::new(1), [b'x'; 141]);
    let mut sizes = Vec::new();
    let mut number = 1;
    while builder.push(&record(number, &bytes), &mut Draft::default()) {
        sizes.push(builder.bytes().len());
        number += 1;
    }
    assert!(builder.bytes().len() <= SIZE && builder.bytes().len() > SIZE - 200);
    assert_eq!(sizes[1] - sizes[0], 183, "id, time, segment and little else");
    let stored = builder.bytes().to_vec();
    assert_eq!(String::from_utf8_lossy(&stored).matches("turn-1").count(), 1);
    assert_eq!(read(&Block::new(1, &stored)), (1..number).map(|at| record(at, &bytes)).collect::<Vec<_>>());
    let mut alone = Builder::new(1);
    assert!(alone.push(&record(1, &[b'x'; 100_000]), &mut Draft::default()), "one may be as large as it is");
    assert!(!alone.push(&record(2, b"x"), &mut Draft::default()));
}

#[test]
fn a_damaged_block_never_panics_and_hides_no_other_record() {
    let mut builder = Builder::new(5);
    strange().iter().for_each(|record| assert!(builder.push(record, &mut Draft::default())));
    let whole = builder.bytes().to_vec();
    let look = |bytes: &[u8]| {
        let block = Block::new(5, bytes);
        let _ = Builder::again(5, bytes.to_vec());
        for slot in block.slots().0 {
            let _ = (block.id(&slot), block.record(&slot));
        }
    };
    for at in 0..whole.len() {
        look(&whole[..at]);
        for byte in [0x00, 0x01, 0x7f, 0x80, 0xff, whole[at] ^ 0x10] {
            let mut damaged = whole.clone();
            damaged[at] = byte;
            look(&damaged);
        }
    }
    let mut damaged = whole.clone();
    let at = whole.windows(5).position(|bytes| bytes == b"dream").unwrap();
    damaged[at] = 0xff;
    let block = Block::new(5, &damaged);
    let (slots, _) = block.slots();
    assert_eq!(block.record(&slots[0]), Err(Damaged("the kind")));
    assert_eq!(block.record(&slots[1]).unwrap(), strange()[1]);
}
