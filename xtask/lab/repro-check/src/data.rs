//! Data sets: reads files in six formats, and generates data of the thesis' sizes.

mod formats;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use checkout::files;
use checkout::workspace::workspace;
use comm::setting;
use comm::text::{counted, printable};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The numbers of items in the thesis' Table 4.1 up to aa_rokasA8.
pub const TABLE_4_1_ITEMS: [usize; 6] = [460, 767, 898, 1602, 239_763, 504_850];

/// The other numbers of items in Table 4.1, whose sums take a while.
pub const TABLE_4_1_LARGE_ITEMS: [usize; 4] = [1_327_505, 1_806_035, 3_011_099, 21_410_970];

/// The names in Table 4.1, in the order of the two lists above.
pub const TABLE_4_1_NAMES: [&str; 10] = [
    "354",
    "multi100",
    "prim",
    "fusob",
    "dna_rokasD4",
    "aa_rokasA8",
    "dna_rokasD1",
    "aa_rokasA4",
    "dna_PeteD8",
    "dna_rokasD7",
];

/// The folder of the thesis' own data: `TREEFOLD_DATA`, or `../shared/data` next to the checkout. The data is not part of the project.
pub fn published_folder() -> Option<PathBuf> {
    let beside = || workspace().join("../shared/data");
    let folder = setting::value("TREEFOLD_DATA").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// The canary's number of items. With this number, ranks rarely begin inside a pair.
const CANARY_ITEMS: usize = 100_003;

/// The canary's number of pairs: so small that most ranks have no pair.
const CANARY_PAIRS: usize = 7;

/// Where a data set comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// This number of generated log-likelihoods.
    Generated {
        /// How many numbers.
        items: usize,
        /// The seed of their generator.
        seed: u64,
    },
    /// Numbers whose plain sum is different for every number of ranks.
    Canary,
}

/// Numbers with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSet {
    /// The data set's name in reports.
    pub name: String,
    /// The numbers, in their order.
    pub items: Vec<f64>,
}

impl Source {
    /// Reads or generates the data set.
    pub fn load(&self) -> Result<DataSet, Error> {
        let (name, items) = match self {
            Source::File(path) => {
                let (file, column) = file_and_column(path);
                let stem = file.file_stem().unwrap_or(path.as_os_str());
                let mut name = stem.to_string_lossy().into_owned();
                if let Some(column) = column {
                    name += &format!(":{column}");
                }
                (name, read(path)?)
            }
            Source::Generated { items, seed } => {
                let name = format!("generated-{items}");
                (name, log_likelihoods(*items, *seed))
            }
            Source::Canary => ("canary".to_owned(), canary()),
        };
        Ok(DataSet { name, items })
    }
}

/// Log-likelihoods with some pairs of 2^50 and -2^50 among them.
///
/// The two numbers of a pair cancel, but the first one rounds the rank's partial sum to a multiple of a quarter. This partial sum depends
/// on where the rank begins, so each number of ranks has a different sum. Numbers that only differ in size would not suffice: all sums
/// would be within a few dozen neighbouring doubles, and two numbers of ranks might well have the same sum.
fn canary() -> Vec<f64> {
    let mut items = log_likelihoods(CANARY_ITEMS, 1);
    let large = 2_f64.powi(50);
    for pair in items.chunks_exact_mut(CANARY_ITEMS / CANARY_PAIRS) {
        let first = pair.len() / 3;
        (pair[first], pair[first + 1]) = (large, -large);
    }
    items
}

/// Reads a file of numbers. Its extension names the format: `.binpsllh` (an unsigned 64-bit count, then
/// doubles, little-endian), `.psllh` (text: a count, then numbers), `.npy` (one dimension of `f8` or `f4`), `.f64`
/// (doubles, little-endian), `.txt` (any number of numbers per line) or `.csv`. After `.csv`, a colon and the name or number (from 1) of a
/// column may follow; the default is the first column.
pub fn read(path: &Path) -> Result<Vec<f64>, Error> {
    let (path, column) = file_and_column(path);
    let path = path.as_path();
    let wrong = |reason: String| Error::file(path, reason);
    let format = path.extension().unwrap_or_default().to_string_lossy();
    if !FORMATS.contains(&&*format) {
        let known = FORMATS.map(|format| format!(".{format}")).join(", ");
        return Err(wrong(format!("unknown format; known: {known}")));
    }
    // Says why the program waits: a named pipe can be opened only when it has a writer.
    if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        let name = path.to_string_lossy();
        let name = printable(&name);
        eprintln!("{name}: reading from a pipe until its writer closes it");
    }
    let bytes = files::bytes(path)?;
    if bytes.is_empty() {
        return Err(wrong("the file is empty".to_owned()));
    }
    let numbers = match column {
        Some(column) => formats::csv(&bytes, Some(&column)),
        None => parse(&format, &bytes),
    };
    numbers.map_err(wrong)
}

/// Splits a name into a file and its column, if the name contains one.
fn file_and_column(path: &Path) -> (PathBuf, Option<String>) {
    let whole = path.to_str().unwrap_or_default();
    match whole.rsplit_once(".csv:") {
        Some((stem, column)) if !path.exists() => {
            let file = PathBuf::from(format!("{stem}.csv"));
            (file, Some(column.to_owned()))
        }
        _ => (path.to_owned(), None),
    }
}

/// The formats that [`read`] knows, by file extension.
pub const FORMATS: [&str; 6] = ["binpsllh", "psllh", "npy", "f64", "txt", "csv"];

/// Parses the contents of a file in one of the [`FORMATS`].
///
/// # Errors
/// The contents are not in this format; the error is the reason.
pub fn parse(format: &str, bytes: &[u8]) -> Result<Vec<f64>, String> {
    match format {
        "binpsllh" => binpsllh(bytes),
        "psllh" => psllh(bytes),
        "npy" => formats::npy(bytes),
        "f64" => raw(bytes),
        "txt" => formats::numbers(bytes),
        "csv" => formats::csv(bytes, None),
        _ => Err("unknown format".to_owned()),
    }
}

/// Parses a file that has only little-endian doubles.
fn raw(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let (doubles, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        let bytes = counted(bytes.len(), "byte");
        return Err(format!("{bytes} cannot be a whole number of doubles"));
    }
    let doubles = doubles.iter().copied();
    Ok(doubles.map(f64::from_le_bytes).collect())
}

fn binpsllh(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let too_few = || format!("{}, too few for a count", counted(bytes.len(), "byte"));
    let (count, doubles) = bytes.split_first_chunk().ok_or_else(too_few)?;
    let count = u64::from_le_bytes(*count);
    expect_numbers(count, 8, doubles)?;
    raw(doubles)
}

/// Checks the count in a file before memory is allocated, because the count may be wrong.
fn expect_numbers(count: u64, number_bytes: u64, numbers: &[u8]) -> Result<(), String> {
    let found_bytes = numbers.len() as u64;
    match fault_of(count.checked_mul(number_bytes), found_bytes) {
        None => Ok(()),
        Some(fault) => Err(format!(
            "{fault}: the count is {count} numbers of {number_bytes} bytes, but {} follow",
            counted(found_bytes, "byte")
        )),
    }
}

fn psllh(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let text = formats::of_bytes(bytes)?;
    let mut words = text.split_whitespace();
    let count = words.next().ok_or("no count")?;
    let number = count.parse::<u64>();
    let count = number.map_err(|_| format!("{} is not a count", quoted(count)))?;
    let items = formats::of_words(words)?;
    let found = items.len();
    match fault_of(Some(count), found as u64) {
        None => Ok(items),
        Some(fault) => Err(format!(
            "{fault}: the count is {count}, but {found} numbers follow"
        )),
    }
}

/// The error of a file whose number of items differs from the number that it declares.
fn fault_of(expected: Option<u64>, found: u64) -> Option<&'static str> {
    match expected {
        Some(expected) if expected == found => None,
        Some(expected) if expected < found => Some("too long"),
        _ => Some("truncated"),
    }
}

/// Quotes a file's text in an error: one line of limited length.
fn quoted(word: &str) -> String {
    const CHARACTERS_MAX: usize = 40;
    let visible = |c: char| if c.is_control() { '\u{FFFD}' } else { c };
    let shown: String = word.chars().take(CHARACTERS_MAX).map(visible).collect();
    let ellipsis = word.chars().nth(CHARACTERS_MAX).map_or("", |_| "…");
    format!("`{shown}{ellipsis}`")
}

/// `count` negative numbers similar to per-site log-likelihoods, from -100 to -1, most of them small.
///
/// A seed gives the same numbers on every machine.
#[must_use]
pub fn log_likelihoods(count: usize, seed: u64) -> Vec<f64> {
    some_log_likelihoods(0..count as u64, seed)
}

/// A range of the infinite sequence of [`log_likelihoods`] with this seed.
#[must_use]
pub fn some_log_likelihoods(numbers: Range<u64>, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    random.skip(numbers.start);
    let mut one = || {
        let uniform = random.uniform();
        -(1.0 + 99.0 * uniform * uniform)
    };
    numbers.map(|_| one()).collect()
}

/// The difference between successive states of [`Random`].
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Generates random numbers by SplitMix64 (Steele, Lea and Flood, 2014), which is small and gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Skips `words` words.
    pub fn skip(&mut self, words: u64) {
        self.0 = self.0.wrapping_add(STEP.wrapping_mul(words));
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in 0..bound. It is slightly biased, but this bias does not matter for measurements.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.word() % bound
    }

    /// An index below a bound.
    pub fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).expect("it is below a usize")
    }

    /// A number in 0..1.
    pub fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use distribution::Distribution;
    use reduce::threads;

    use super::{canary, log_likelihoods, some_log_likelihoods};
    use crate::Backend;
    use crate::baselines::Baseline;

    /// If the canary had the same sum on two numbers of ranks, a check on these two would report that it proves nothing.
    #[test]
    fn the_canary_has_another_sum_on_every_number_of_ranks() {
        let items = canary();
        let mut ranks_by_bits = BTreeMap::new();
        for ranks in (1..=96).chain([128, 177, 241]) {
            let totals = threads::run(ranks, |world| {
                let distribution = Distribution::lower(items.len() as u64, ranks).unwrap();
                let unordered = Baseline::unordered(world, Backend::Threads).unwrap();
                let range = distribution.range(world.rank());
                let index = |item: u64| usize::try_from(item).unwrap();
                let local = &items[index(range.start)..index(range.end)];
                unordered.allreduce(local).unwrap().to_bits()
            });
            let bits = totals.unwrap()[0];
            let other = ranks_by_bits.insert(bits, ranks);
            assert_eq!(other, None, "p = {ranks} has the same sum");
        }
    }

    #[test]
    fn any_part_of_the_data_is_the_same() {
        let all = log_likelihoods(100, 7);
        for (start, end) in [(0, 100), (3, 50), (99, 100), (40, 40)] {
            let numbers = start as u64..end as u64;
            assert_eq!(some_log_likelihoods(numbers, 7), all[start..end]);
        }
    }
}
