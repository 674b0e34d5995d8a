//! Error messages of crate `treefold` in the terms of C, C++ and Fortran, whose names for settings and arrays differ from Rust's.

use std::any::type_name;

use treefold::exact::KeyError;
use treefold::transport::Error as TransportError;
use treefold::{BuildError, DistributionError, RunError};
use treefold_c::by_type;
use treefold_c::element::ElementType;

/// The text of an error of a transport.
pub(crate) fn of_transport(error: &TransportError) -> String {
    match error {
        TransportError::Panicked { rank, message } => format!("rank {rank} failed: {message}"),
        other => of_world(other),
    }
}

/// The text of an error of building a plan.
pub(crate) fn of_build(error: &BuildError) -> String {
    match error {
        BuildError::Transport(error) => of_transport(error),
        BuildError::Ownership(error) => of_distribution(error),
        BuildError::Disagreement {
            subject,
            first,
            second,
        } => {
            let value = |text: &str| match *subject {
                "element type" => element_type(text),
                _ => text.to_owned(),
            };
            let (first, second) = ((first.0, value(&first.1)), (second.0, value(&second.1)));
            format!(
                "ranks disagree on the {}: rank {} has {}; rank {} has {}",
                of_subject(subject),
                first.0,
                first.1,
                second.0,
                second.1
            )
        }
        BuildError::NoShare { rank } => {
            format!("rank {rank}: none of local_items, extents, even and block_cyclic is set")
        }
        BuildError::OtherSize { .. } => {
            of_world(error).replace("the distribution is", "its items are")
        }
        BuildError::OtherShare {
            rank,
            stated,
            owner,
            found,
        } => {
            format!("rank {rank} says that rank {owner} has {stated}, but rank {owner} has {found}")
        }
        BuildError::NotARule => {
            "agreed needs the setting even or the setting block_cyclic".to_owned()
        }
        BuildError::NoNativeReductions => {
            "algorithm `mpi-native` needs the reductions of an MPI library".to_owned()
        }
        BuildError::ZeroSized { .. } => {
            "an element takes no memory, so there is nothing to reduce".to_owned()
        }
        other => of_world(other),
    }
}

/// The text of an error of a run.
pub(crate) fn of_run(error: &RunError) -> String {
    match error {
        RunError::Transport(error) => of_transport(error),
        RunError::Lengths {
            rank,
            first,
            second,
        } => format!("rank {rank}: `x` has {first} elements, but `y` has {second}"),
        RunError::WrongPairs {
            rank,
            planned,
            given,
        } => format!(
            "rank {rank}: `x` and `y` are {given} arrays each, but the plan's width is {planned}"
        ),
        RunError::Keys {
            rank,
            error: KeyError::Lengths { keys, items },
        } => format!("rank {rank}: `keys` has {keys} elements, but `items` has {items}"),
        RunError::Torn { .. } => error.to_string().replace("the transport", "MPI"),
        other => of_world(other),
    }
}

/// An error's text, with "communicator" in place of "world".
fn of_world(error: &impl ToString) -> String {
    error.to_string().replace("the world", "the communicator")
}

/// The text of an invalid distribution of items.
pub(crate) fn of_distribution(error: &DistributionError) -> String {
    match error {
        DistributionError::NoRanks => "there are no ranks".to_owned(),
        DistributionError::EmptyBlocks => "a block must have at least one item".to_owned(),
        DistributionError::Reversed { rank, range } => format!(
            "rank {rank}: the range from {} to {} ends before it begins",
            range.start, range.end
        ),
        other => other.to_string(),
    }
}

/// The subject of a disagreement, in the terms of the header.
fn of_subject(subject: &str) -> &str {
    match subject {
        "kind of ownership" => "kind of setting that says which items a rank has",
        "ownership" => "rule that says which items a rank has",
        other => other,
    }
}

/// The name in `treefold.h` of a Rust type, or the description of a user-defined operator's item.
fn element_type(rust: &str) -> String {
    const NAMES: [&str; ElementType::ALL.len()] = [
        "F32", "F64", "C32", "C64", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64",
    ];
    let mut types = ElementType::ALL.iter().zip(NAMES);
    let known = types.find(|(element, _)| by_type!(**element, T => type_name::<T>()) == rust);
    known.map_or_else(
        || "items of a user-defined operator, or exact sums".to_owned(),
        |(_, name)| format!("TREEFOLD_{name}"),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use std::collections::BTreeSet;
    use std::fs;
    use std::ops::Range;
    use std::path::Path;
    use std::time::Duration;

    use treefold::environment::EnvironmentError;
    use treefold::exact::{KeyError, LimitError};
    use treefold::transport::{Error as TransportError, Tag};
    use treefold::{
        Algorithm, BuildError, DEFAULT_LINK, DistributionError, FoldError, Network, RunError,
        ScheduleError, UnknownName,
    };
    use treefold_c::failure::Failure;

    use crate::failure::{of_build, of_run, of_transport};

    /// Terms of Rust that must not appear in messages to other languages.
    const FOREIGN: [&str; 11] = [
        "slice",
        "distribution",
        "ownership",
        "world",
        "Builder",
        "()",
        "::",
        "None",
        "Some(",
        "panick",
        "u64",
    ];

    /// The name of an error's variant, and the text that a program reads.
    type Row = (&'static str, String);

    macro_rules! rows {
        ($of:expr; $($kind:ident::$variant:ident $({ $($field:ident: $value:expr),* $(,)? })? $(($inner:expr))?),+ $(,)?) => {
            vec![$((
                stringify!($variant),
                $of(&$kind::$variant $({ $($field: $value),* })? $(($inner))?).message.clone(),
            )),+]
        };
    }

    fn transport_errors() -> Vec<Row> {
        let any = Tag::new(1);
        rows![of_transport;
            TransportError::NoSuchRank { call: "send", peer: 3, size: 2 },
            TransportError::Truncated { rank: 0, from: 1, capacity_bytes: 8 },
            TransportError::TooLong { rank: 0, length_bytes: 9, limit_bytes: 8 },
            TransportError::Panicked { rank: 1, message: "it is over".to_owned() },
            TransportError::Left { rank: 1, awaited_by: 0 },
            TransportError::Lost { rank: 0, lost: vec![1, 2] },
            TransportError::Revoked { rank: 0 },
            TransportError::NotSurvivable { rank: 0, library: "MPI".to_owned(), advice: "" },
            TransportError::NotSplittable { rank: 0 },
            TransportError::Deadlock("rank 0 waits for rank 1".to_owned()),
            TransportError::NotStarted { rank: 1, reason: "no memory".to_owned() },
            TransportError::Connection { rank: 0, peer: 1, reason: "reset".to_owned() },
            TransportError::Silent { rank: 0, peers: 1..3, after: Duration::from_secs(1) },
            TransportError::Interrupted { rank: 0 },
            TransportError::Finalised { rank: 0 },
            TransportError::Forked { rank: 0 },
            TransportError::Mismatched { rank: 0, from: 1, expected: any, found: any },
            TransportError::GivenUp { rank: 1, awaited_by: 0 },
            TransportError::NotOpened { call: "send", tag: any },
            TransportError::BadSetting {
                rank: 1,
                variable: "TREEFOLD_SHARED_MEMORY",
                value: "maybe".to_owned(),
                expected: "on or off",
            },
            TransportError::Nested { rank: 0 },
            TransportError::NoLibrary { reason: "it lacks MPI_Scan".to_owned() },
            TransportError::NotRunning { state: "finalised" },
            TransportError::Mpi { rank: 0, call: "MPI_Send", code: 1, text: "no".to_owned() },
        ]
    }

    fn distribution_errors() -> Vec<Row> {
        let of = |error: &DistributionError| of_build(&BuildError::Ownership(error.clone()));
        rows![of;
            DistributionError::NoRanks,
            DistributionError::Alpha { alpha: 2.0 },
            DistributionError::TooManyItems { rank: 1 },
            DistributionError::FirstStart { start: 1 },
            DistributionError::Decreasing { rank: 1, start: 3, end: 2 },
            DistributionError::EmptyBlocks,
            DistributionError::Reversed { rank: 1, range: Range { start: 5, end: 3 } },
            DistributionError::Overlap { ranks: (0, 1), items: 3..5 },
            DistributionError::Gap { items: 3..5, rank: 1 },
            DistributionError::NoSuchRank { rank: 2, ranks: 2 },
            DistributionError::TwiceARank { rank: 1 },
        ]
    }

    fn build_errors() -> Vec<Row> {
        let error = "nonsense".parse::<Algorithm>().unwrap_err();
        let unknown = UnknownName {
            variable: "TREEFOLD_ALGORITHM",
            error,
        };
        let finalised = TransportError::Finalised { rank: 0 };
        rows![of_build;
            BuildError::Disagreement {
                subject: "kind of ownership",
                first: (0, "a rule".to_owned()),
                second: (1, "a list of ranges".to_owned()),
            },
            BuildError::NoShare { rank: 0 },
            BuildError::OtherSize { rank: 0, planned: 2, size: 3 },
            BuildError::Environment { rank: 0, error: EnvironmentError::Rounding },
            BuildError::NotARule,
            BuildError::Root { root: 3, size: 3 },
            BuildError::Memory { rank: 0, bytes: 8 },
            BuildError::ZeroWidth,
            BuildError::Lanes { lanes: 0 },
            BuildError::BesideLanes { rank: 1, start: 3, end: 9, lanes: 16 },
            BuildError::NoKeys,
            BuildError::ZeroMessageLimit,
            BuildError::ZeroSized { element: "[u64; 0]" },
            BuildError::MessageBuffer { values: 0 },
            BuildError::Network {
                network: Network::from(DEFAULT_LINK),
                demand: "`latency_ns` must be finite and positive",
            },
            BuildError::Parameter(ScheduleError::Nested),
            BuildError::NoSchedule { algorithm: Algorithm::MpiNative },
            BuildError::NoNativeReductions,
            BuildError::NoRows { algorithm: Algorithm::MpiNative, width: 2 },
            BuildError::UnknownAlgorithm(unknown),
            BuildError::ItemCount { rank: 0, expected: 2, found: 3 },
            BuildError::OtherShare {
                rank: 1,
                stated: "items 0..4".to_owned(),
                owner: 0,
                found: "no items".to_owned(),
            },
            BuildError::Ownership(DistributionError::EmptyBlocks),
            BuildError::Scattered { algorithm: Algorithm::MpiNative },
            BuildError::TooManyItems,
            BuildError::NoItems { operator: "min".to_owned() },
            BuildError::Nested { rank: 0 },
            BuildError::Transport(finalised),
        ]
    }

    fn run_errors() -> Vec<Row> {
        let finalised = TransportError::Finalised { rank: 0 };
        rows![of_run;
            RunError::WrongLength { rank: 0, planned: 2, given: 3 },
            RunError::WrongResultLength { rank: 0, expected: 1, given: 2 },
            RunError::Lengths { rank: 0, first: 2, second: 3 },
            RunError::WrongPairs { rank: 0, planned: 2, given: 3 },
            RunError::NotRows { rank: 0, values: 3, width: 2 },
            RunError::Keys { rank: 0, error: KeyError::Lengths { keys: 1, items: 2 } },
            RunError::Keys { rank: 0, error: KeyError::OutOfRange { item: 1, key: 5, sums: 5 } },
            RunError::WrongKeys { rank: 0, planned: 2, given: 3 },
            RunError::Limit { rank: 0, error: LimitError::Items },
            RunError::WrongEntries { rank: 0, reason: "an entry is cut off".to_owned() },
            RunError::NoEmptyValue { rank: 0, operator: "min".to_owned() },
            RunError::NotOffered { rank: 0, algorithm: Algorithm::MpiNative },
            RunError::NoOwnNodes { rank: 0, algorithm: Algorithm::MpiNative },
            RunError::NotFolded { rank: 0, reason: "the device is gone".to_owned() },
            RunError::UnderWay { rank: 0 },
            RunError::TimedOut { rank: 0, awaited: vec![1], after: Duration::from_secs(1) },
            RunError::Environment { rank: 0, error: EnvironmentError::FlushToZero },
            RunError::RankFailed { rank: 1 },
            RunError::RanksFailed { count: 2 },
            RunError::WrongMessage { rank: 0, from: 1, reason: "it is too long".to_owned() },
            RunError::Torn { rank: 0 },
            RunError::Nested { rank: 0 },
            RunError::Spent { rank: 0 },
            RunError::Transport(finalised),
        ]
    }

    fn fold_errors() -> Vec<Row> {
        let of = |error: &FoldError| Failure::from(error.clone());
        rows![of;
            FoldError::NoItems { operator: "min".to_owned() },
            FoldError::Lengths { first: 3, position: 1, found: 4 },
            FoldError::NotRows { values: 3, width: 2 },
            FoldError::ResultLength { width: 2, found: 3 },
            FoldError::Lanes { lanes: 0 },
            FoldError::Environment(EnvironmentError::DenormalsAreZero),
        ]
    }

    /// The variants of another crate's enum, from its source.
    fn variants(file: &str, name: &str) -> BTreeSet<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../crates")
            .join(file);
        let source = fs::read_to_string(path).unwrap();
        let begin = source
            .split(&format!("pub enum {name} {{\n"))
            .nth(1)
            .unwrap();
        let body = begin.split("\n}").next().unwrap();
        let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
        let names = lines.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
        names
            .filter_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric()).next())
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn no_error_speaks_of_what_only_rust_has() {
        // Exceptions: variants with a `Turn` or a `Cost`, which only other crates can construct, and errors of iterators, which C lacks.
        let tables = [
            ("comm/src/error.rs", "Error", transport_errors(), vec![]),
            (
                "distribution/src/error.rs",
                "Error",
                distribution_errors(),
                vec!["Cost"],
            ),
            (
                "reduce/src/error/build.rs",
                "BuildError",
                build_errors(),
                vec!["Mismatched"],
            ),
            (
                "reduce/src/error/run.rs",
                "RunError",
                run_errors(),
                vec!["Mismatched"],
            ),
            (
                "reduce/src/error/fold.rs",
                "FoldError",
                fold_errors(),
                vec!["Iterator"],
            ),
        ];
        for (file, name, rows, exempt) in tables {
            let mut known: BTreeSet<String> = rows.iter().map(|(of, _)| (*of).to_owned()).collect();
            known.extend(exempt.into_iter().map(str::to_owned));
            assert_eq!(
                variants(file, name),
                known,
                "{name} of {file}: every variant must have a row here"
            );
            for (variant, text) in rows {
                let found = FOREIGN.iter().find(|word| text.contains(**word));
                assert_eq!(found, None, "{name}::{variant}: {text}");
            }
        }
    }

    #[test]
    fn types_have_the_names_of_the_header() {
        let disagreement = |first: &str, second: &str| {
            let error = BuildError::Disagreement {
                subject: "element type",
                first: (0, first.to_owned()),
                second: (2, second.to_owned()),
            };
            of_build(&error).message.clone()
        };
        assert_eq!(
            disagreement("f64", "num_complex::Complex<f32>"),
            "ranks disagree on the element type: rank 0 has TREEFOLD_F64; rank 2 has TREEFOLD_C32"
        );
        assert!(disagreement("[u64; 3]", "u16").ends_with("rank 2 has TREEFOLD_U16"));
    }
}
