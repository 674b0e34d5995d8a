//! Fuzz targets for code that reads foreign bytes: files of numbers, partial results, the words of exact sums, messages of another rank, and
//! environment variables. A target must return for any input; a panic is a fault.
//!
//! `cargo xtask test --stage fuzz` lets libFuzzer search for faults, one minute per target. libFuzzer's seeds and findings are in `corpus/`.
//! Ordinary tests also pass these to the targets.

use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::time::Duration;

use comm::{Communicator, Error, Request, RequestId, Requests, Tag, Traffic};
use exact_sum::{Accumulator, ComplexSum, ProductSum, Sum};
use harness::data;
use reduce::{Algorithm, Partial, Plan, World};

/// A name, which is also that of a folder in `corpus/`, and a function that reads foreign bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 5] = [
    ("numbers", numbers),
    ("partial", partial),
    ("exact_words", exact_words),
    ("agreement", agreement),
    ("settings", settings),
];

/// Reads a file of numbers. The first byte chooses the file's format; the file follows.
pub fn numbers(bytes: &[u8]) {
    let Some((&format, file)) = bytes.split_first() else {
        return;
    };
    let format = data::FORMATS[usize::from(format) % data::FORMATS.len()];
    if let Ok(numbers) = data::parse(format, file) {
        // Even the shortest number takes a byte.
        let (numbers, bytes) = (numbers.len(), file.len());
        assert!(numbers <= bytes, "{format}: {numbers} in {bytes} bytes");
    }
}

/// Builds a partial result as another process may send it: 16 bytes for the total and the width, then 16 bytes for each node.
pub fn partial(bytes: &[u8]) {
    let (chunks, _) = bytes.as_chunks::<16>();
    let Some((head, nodes)) = chunks.split_first() else {
        return;
    };
    let [total, width] = bytemuck::pod_read_unaligned::<[u64; 2]>(head);
    let width = usize::try_from(width % 4).unwrap_or(0);
    let nodes = nodes.iter().map(|node| {
        let [x, value] = bytemuck::pod_read_unaligned::<[u64; 2]>(node);
        // The upper byte is the height, so that small heights are frequent.
        let (x, height) = (x & (u64::MAX >> 8), (x >> 56) as u32);
        (x, height, vec![f64::from_bits(value); width])
    });
    let Ok(partial) = Partial::from_nodes(nodes, width, total, "sum") else {
        return;
    };
    let nodes = partial.nodes().map(|(x, y, row)| (x, y, row.to_vec()));
    let again = Partial::from_nodes(nodes, width, total, "sum");
    again.expect("its nodes make a partial result");
    // `merge` fails if the items overlap, and `result` if some are missing.
    let _ = partial.merge(&partial, &reduce::Sum);
    let _ = partial.result(&reduce::Sum);
}

/// Adds the words of two exact sums, which follow one another in `bytes`.
pub fn exact_words(bytes: &[u8]) {
    add_words::<Sum<f64>>(bytes, |sum| sum.value().to_bits());
    add_words::<Sum<f32>>(bytes, |sum| sum.value().to_bits().into());
    add_words::<ProductSum<f64>>(bytes, |sum| sum.value().to_bits());
    add_words::<ComplexSum<f64>>(bytes, |sum| {
        let [re, im] = sum.value();
        re.to_bits() ^ im.to_bits().rotate_left(1)
    });
}

/// Checks that merging two sums' words gives the same as adding the words of both to one sum.
fn add_words<A: Accumulator + Default>(bytes: &[u8], value: impl Fn(&A) -> u64) {
    let chunks = bytes.chunks_exact(size_of::<A::Words>());
    let mut words = chunks.map(bytemuck::pod_read_unaligned::<A::Words>);
    let (Some(mut merged), Some(other)) = (words.next(), words.next()) else {
        return;
    };
    let mut one_by_one = A::default();
    let added = one_by_one.add_words(&merged);
    let added = added.and_then(|()| one_by_one.add_words(&other));
    A::merge_words(&mut merged, &other);
    let mut at_once = A::default();
    assert_eq!(at_once.add_words(&merged), added, "{}", A::name());
    if added.is_err() {
        return;
    }
    assert_eq!(value(&one_by_one), value(&at_once), "{}", A::name());
}

/// Builds a plan and runs it twice, as one of two ranks. The bytes are the other rank's messages.
pub fn agreement(bytes: &[u8]) {
    let Some((&how, said)) = bytes.split_first() else {
        return;
    };
    let world = World::new(Foreign::new(said.to_vec()));
    let builder = Plan::builder(&world).operator(reduce::Sum);
    let algorithms: Vec<Algorithm> = Algorithm::all().collect();
    let builder = builder.algorithm(algorithms[usize::from(how >> 2) % algorithms.len()]);
    let (builder, items) = match how % 4 {
        0 => (builder.local_items(3), 3),
        1 => (builder.extents(&[0..2, 5..6]), 3),
        2 => (builder.local_items(0), 0),
        _ => (builder.local_items(3).items(8), 3),
    };
    let Ok(plan) = builder.build::<f64>() else {
        return;
    };
    // The other rank's items are arbitrary, so the results are not checked.
    let items = &[0.5; 3][..items];
    let _ = plan.allreduce(items);
    let _ = plan.reduce(items);
}

/// Parses the bytes as the value of several settings: an algorithm, a list of names, an MPI library, and `on` or `off`.
pub fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(algorithm) = text.parse::<Algorithm>() {
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
    }
    let known = ["on", "off"];
    let is_known = |name: &str| {
        let found = known.iter().copied().find(|&known| known == name);
        found.ok_or_else(|| name.to_owned())
    };
    let _ = checkout::names("--option", &text, &known, is_known);
    let _ = launch::Library::parse("--mpi", &text);
    let switch = comm::setting::switch(OsStr::new(&*text));
    assert!(switch.is_none() || text.len() <= "false".len());
}

/// Rank 0 of two. Every message from rank 1 has the requested length and consists of the next given bytes. After the last byte, rank 1
/// counts as having left.
#[derive(Debug)]
struct Foreign {
    said: Vec<u8>,
    position: Cell<usize>,
    messages: RefCell<Requests<Option<Vec<u8>>>>,
    traffic: Cell<Traffic>,
}

impl Foreign {
    fn new(said: Vec<u8>) -> Self {
        Self {
            said,
            position: Cell::new(0),
            messages: RefCell::default(),
            traffic: Cell::default(),
        }
    }

    fn gone() -> Error {
        Error::Left {
            rank: 1,
            awaited_by: 0,
        }
    }
}

impl Communicator for Foreign {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        2
    }

    fn start_send(
        &self,
        _to: usize,
        _tag: Tag,
        message: Vec<u8>,
        _capacity_bytes: usize,
    ) -> Result<Request, Error> {
        Traffic::count(&self.traffic, &message);
        Ok(self.messages.borrow_mut().insert(Some(message)))
    }

    fn start_receive(
        &self,
        _from: usize,
        _tag: Tag,
        mut buffer: Vec<u8>,
    ) -> Result<Request, Error> {
        let begin = self.position.get();
        let said = self.said.get(begin..begin + buffer.len());
        self.position.set(begin + buffer.len());
        let message = said.map(|said| {
            buffer.copy_from_slice(said);
            buffer
        });
        Ok(self.messages.borrow_mut().insert(message))
    }

    fn test(&self, request: &Request) -> Result<bool, Error> {
        let mut messages = self.messages.borrow_mut();
        match messages.get_mut(request.id()) {
            Some(_) => Ok(true),
            None => Err(Self::gone()),
        }
    }

    fn wait(&self, request: Request) -> Result<Vec<u8>, Error> {
        let message = self.messages.borrow_mut().remove(request);
        message.ok_or_else(Self::gone)
    }

    fn wait_any(&self, requests: &[RequestId], _timeout: Option<Duration>) -> Result<bool, Error> {
        let mut messages = self.messages.borrow_mut();
        let mut is_there = |request| messages.get_mut(request).is_some();
        if requests.iter().any(|&request| is_there(request)) {
            Ok(true)
        } else {
            Err(Self::gone())
        }
    }

    fn cancel(&self, request: Request) {
        self.messages.borrow_mut().remove(request);
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }
}
