//! Data sets: files in six formats, and generated ones of the thesis' sizes.

mod formats;
mod generated;

use std::fs;
use std::path::{Path, PathBuf};

use comm::setting;
use comm::text::{counted, printable};
pub use generated::{Random, log_likelihoods, some_log_likelihoods};
use serde::{Deserialize, Serialize};

use crate::Error;
use checkout::workspace::workspace;

/// The sizes of the thesis' Table 4.1 up to aa_rokasA8.
pub const TABLE_4_1_ITEMS: [usize; 6] = [460, 767, 898, 1602, 239_763, 504_850];

/// The rest of Table 4.1, which takes a while.
pub const TABLE_4_1_LARGE_ITEMS: [usize; 4] = [1_327_505, 1_806_035, 3_011_099, 21_410_970];

/// The names of Table 4.1, in the order of both.
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

/// A number of items at which ranks rarely begin inside a pair.
const CANARY_ITEMS: usize = 100_003;

/// So few items that most ranks have none.
const CANARY_PAIRS: usize = 7;

/// Where a data set comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// This number of generated log-likelihoods.
    Generated {
        /// How many.
        items: usize,
        /// Which ones.
        seed: u64,
    },
    /// Numbers whose unordered sum differs for every number of ranks.
    Canary,
}

/// Numbers with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSet {
    /// Its name in reports.
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

/// Log-likelihoods, among them some pairs of 2^50 and -2^50.
///
/// A pair cancels, but rounds the sum so far on its rank to multiples of a quarter. That sum
/// depends on where ranks begin, so each number of ranks has a sum of its own. Numbers that merely differ in size would not
/// do: their sums are some dozen neighbouring doubles, and two numbers of ranks may well have the same one.
fn canary() -> Vec<f64> {
    let mut items = log_likelihoods(CANARY_ITEMS, 1);
    let large = 2_f64.powi(50);
    for pair in items.chunks_exact_mut(CANARY_ITEMS / CANARY_PAIRS) {
        let first = pair.len() / 3;
        (pair[first], pair[first + 1]) = (large, -large);
    }
    items
}

/// Reads a file of numbers, in the format that its name says: `.binpsllh` (an unsigned 64-bit count, then
/// doubles, little-endian), `.psllh` (text: a count, then numbers), `.npy` (one dimension of `f8` or `f4`), `.f64`
/// (doubles, little-endian), `.txt` (any number of numbers per line) or `.csv`. After `.csv` may come a colon and the column: its name, or its
/// number from 1; by default it is the first.
pub fn read(path: &Path) -> Result<Vec<f64>, Error> {
    let (path, column) = file_and_column(path);
    let path = path.as_path();
    let wrong = |reason: String| Error::file(path, reason);
    let format = path.extension().unwrap_or_default().to_string_lossy();
    if !FORMATS.contains(&&*format) {
        let known = FORMATS.map(|format| format!(".{format}")).join(", ");
        return Err(wrong(format!("unknown format; known: {known}")));
    }
    // Opening a named pipe waits for a writer.
    if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        eprintln!(
            "{}: reading a pipe, until its writer closes it",
            printable(&path.to_string_lossy())
        );
    }
    let bytes = fs::read(path).map_err(|error| wrong(error.to_string()))?;
    if bytes.is_empty() {
        return Err(wrong("the file is empty".to_owned()));
    }
    let numbers = match column {
        Some(column) => formats::csv(&bytes, Some(&column)),
        None => parse(&format, &bytes),
    };
    numbers.map_err(wrong)
}

/// A file, and its column if the name contains one.
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
/// The reason.
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

/// Doubles, little-endian, and nothing else.
fn raw(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let (doubles, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(format!(
            "{} cannot be a whole number of doubles",
            counted(bytes.len(), "byte")
        ));
    }
    Ok(doubles
        .iter()
        .map(|&double| f64::from_le_bytes(double))
        .collect())
}

fn binpsllh(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let (count, doubles) = bytes
        .split_first_chunk()
        .ok_or_else(|| format!("{}: too few for a count", counted(bytes.len(), "byte")))?;
    let count = u64::from_le_bytes(*count);
    expect_numbers(count, 8, doubles)?;
    raw(doubles)
}

/// Checks a count before allocating, since it may be arbitrary.
fn expect_numbers(count: u64, number_bytes: u64, numbers: &[u8]) -> Result<(), String> {
    let found_bytes = numbers.len() as u64;
    match fault_of(count.checked_mul(number_bytes), found_bytes) {
        None => Ok(()),
        Some(fault) => Err(format!(
            "{fault}: the count is {count}, and after it the file has {}, {number_bytes} a number",
            counted(found_bytes, "byte")
        )),
    }
}

fn psllh(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let text = formats::of_bytes(bytes)?;
    let mut words = text.split_whitespace();
    let count = words.next().ok_or("no count")?;
    let count: u64 = count
        .parse()
        .map_err(|_| format!("{} is not a count", quoted(count)))?;
    let items = formats::of_words(words)?;
    match fault_of(Some(count), items.len() as u64) {
        None => Ok(items),
        Some(fault) => {
            let found = items.len();
            Err(format!(
                "{fault}: the count is {count}, but {found} numbers follow"
            ))
        }
    }
}

/// The error of a file that has another number of items than it declares.
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
    let ellipsis = match word.chars().nth(CHARACTERS_MAX) {
        Some(_) => "…",
        None => "",
    };
    format!("`{shown}{ellipsis}`")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use distribution::Distribution;
    use reduce::threads;

    use super::canary;
    use crate::Backend;
    use crate::baselines::Baseline;

    /// For any list of ranks, the check must be able to fail, and must not fail spuriously.
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
}
