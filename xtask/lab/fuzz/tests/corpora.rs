//! Passes the corpora and random variations of them to the fuzz targets, without the tools that `cargo fuzz` needs.

use std::fs;
use std::path::Path;

use fuzz::TARGETS;
use harness::data::Random;

/// How many variations are made for each target.
const CASES: u64 = 1000;

/// The number of changed bytes per file is below this.
const CHANGES: usize = 8;

#[test]
fn nothing_in_a_corpus_is_a_fault() {
    for (name, feed) in TARGETS {
        let corpus = corpus(name);
        assert!(!corpus.is_empty(), "{name} has no corpus");
        corpus.iter().for_each(|bytes| feed(bytes));
    }
}

#[test]
fn nothing_beside_a_corpus_is_a_fault() {
    for (name, feed) in TARGETS {
        let corpus = corpus(name);
        for seed in 0..CASES {
            // This line is shown only if the test fails.
            println!("{name}, seed {seed}");
            feed(&changed(&corpus, &mut Random::new(seed)));
        }
    }
}

/// A file of the corpus with some bytes changed, and perhaps truncated.
fn changed(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut below = |bound: usize| {
        let bound = u64::try_from(bound).expect("files are short");
        usize::try_from(random.below(bound)).expect("it is below the bound")
    };
    let mut bytes = corpus[below(corpus.len())].clone();
    for _ in 0..below(CHANGES) {
        let place = below(bytes.len());
        bytes[place] = u8::try_from(below(256)).expect("it is below 256");
    }
    bytes.truncate(below(2 * bytes.len()) + 1);
    bytes
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let files = fs::read_dir(folder.join(name)).expect("a folder for each target");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    let read = |path: &_| fs::read(path).expect("a file");
    paths.iter().map(read).collect()
}
