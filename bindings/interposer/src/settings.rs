//! Reads the settings from the environment, and checks all variables that the interposer and its reductions use.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::OnceLock;

use comm::setting;
use comm::text::printable;
use treefold::mpi::SHARED_MEMORY_VARIABLE;
use treefold::{ALGORITHM_VARIABLE, Algorithm};

use crate::task::Op;

const MODE_VARIABLE: &str = "TREEFOLD_PMPI";

const OPS_VARIABLE: &str = "TREEFOLD_PMPI_OPS";

pub(crate) const STATS_VARIABLE: &str = "TREEFOLD_PMPI_STATS";

const PREFIX: &str = "TREEFOLD_";

/// Variables of treefold that the interposer does not use.
const OTHER_VARIABLES: [&str; 7] = [
    "TREEFOLD_MPI_LIBRARY",
    "TREEFOLD_ALONE",
    "TREEFOLD_THREADS",
    "TREEFOLD_MPI",
    "TREEFOLD_MPIRUN",
    "TREEFOLD_CLUSTER_NODES",
    "TREEFOLD_CLUSTER_CONTROL",
];

/// Who runs the program's reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// treefold runs the reductions.
    On,
    /// The MPI library runs the reductions.
    Off,
    /// Both run the reductions, and the results are compared. The program gets the MPI library's results.
    Check,
}

impl Mode {
    const ALL: [Self; 3] = [Self::On, Self::Off, Self::Check];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Check => "check",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stats {
    /// As text to standard error.
    Stderr,
    /// As JSON to a file.
    File(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) mode: Mode,
    pub(crate) stats: Option<Stats>,
    ops: [bool; Op::ALL.len()],
    /// The value of TREEFOLD_ALGORITHM.
    algorithm: Option<OsString>,
    /// Error texts for variables with invalid values. If there are any, the job ends in MPI_Init.
    pub(crate) wrong: Vec<String>,
    /// Environment variables that have treefold's prefix but are not known to treefold.
    pub(crate) unknown: Vec<String>,
}

impl Settings {
    /// The settings of this process, read once.
    #[inline]
    pub(crate) fn get() -> &'static Self {
        static SETTINGS: OnceLock<Settings> = OnceLock::new();
        SETTINGS.get_or_init(|| {
            let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
            Self {
                unknown: names.filter(|name| is_unknown(name)).collect(),
                ..Self::parse(setting::value)
            }
        })
    }

    /// Parses the variables. `value` returns the value of a variable that is set and not empty. If the mode is off, ignores all other
    /// variables.
    fn parse(value: impl Fn(&str) -> Option<OsString>) -> Self {
        let mut wrong = Vec::new();
        let mut reject = |variable: &str, value: &OsStr, expected: &str| {
            let value = value.to_string_lossy();
            wrong.push(format!(
                "{variable} is `{}`, not {expected}",
                printable(&value)
            ));
        };
        let mut mode = Mode::On;
        if let Some(value) = value(MODE_VARIABLE) {
            let is_named = |mode: &Mode| value.eq_ignore_ascii_case(mode.name());
            match Mode::ALL.into_iter().find(is_named) {
                Some(named) => mode = named,
                None => reject(MODE_VARIABLE, &value, "one of on, off, check"),
            }
        }
        let value = |name| value(name).filter(|_| mode != Mode::Off);
        let mut ops = [true, true, false, false];
        if let Some(value) = value(OPS_VARIABLE) {
            match value.to_str().and_then(parse_ops) {
                Some(named) => ops = named,
                None => {
                    let expected = "a comma-separated list of sum, prod, min and max";
                    reject(OPS_VARIABLE, &value, expected);
                }
            }
        }
        if let Some(value) = value(SHARED_MEMORY_VARIABLE)
            && setting::switch(&value).is_none()
        {
            reject(SHARED_MEMORY_VARIABLE, &value, setting::SWITCH_VALUES);
        }
        let algorithm = value(ALGORITHM_VARIABLE);
        if let Some(value) = &algorithm
            && value.to_string_lossy().parse::<Algorithm>().is_err()
        {
            let names = Algorithm::all().map(Algorithm::name).collect::<Vec<_>>();
            let expected = format!("one of {}", names.join(", "));
            reject(ALGORITHM_VARIABLE, value, &expected);
        }
        let stats = value(STATS_VARIABLE).map(|value| {
            if value == "stderr" {
                Stats::Stderr
            } else {
                Stats::File(value.into())
            }
        });
        // A check always reports.
        let by_default = (mode == Mode::Check).then_some(Stats::Stderr);
        Self {
            mode,
            stats: stats.or(by_default),
            ops,
            algorithm,
            wrong,
            unknown: Vec::new(),
        }
    }

    /// The settings that must be equal on all ranks, as text: if they differed, ranks would wait for each other forever.
    pub(crate) fn shared(&self) -> String {
        let ops = Op::ALL.into_iter().filter(|op| self.takes(*op));
        let ops: Vec<_> = ops.map(Op::name).collect();
        let mut text = format!(
            "treefold {}, {MODE_VARIABLE}={}, {OPS_VARIABLE}={}",
            env!("CARGO_PKG_VERSION"),
            self.mode.name(),
            ops.join(",")
        );
        if let Some(algorithm) = &self.algorithm {
            text += &format!(", {ALGORITHM_VARIABLE}={}", algorithm.to_string_lossy());
        }
        text + match self.stats {
            Some(_) => ", with a report",
            None => ", without a report",
        }
    }

    /// Whether reductions with this operator are replaced.
    pub(crate) fn takes(&self, op: Op) -> bool {
        self.ops[op as usize]
    }
}

/// Whether a name has treefold's prefix but is not a variable of treefold.
fn is_unknown(name: &str) -> bool {
    let own = [
        MODE_VARIABLE,
        OPS_VARIABLE,
        STATS_VARIABLE,
        SHARED_MEMORY_VARIABLE,
        ALGORITHM_VARIABLE,
    ];
    name.starts_with(PREFIX) && !own.contains(&name) && !OTHER_VARIABLES.contains(&name)
}

/// The operators of a comma-separated list; `None` if any word is not an operator.
fn parse_ops(list: &str) -> Option<[bool; Op::ALL.len()]> {
    let mut ops = [false; Op::ALL.len()];
    for word in list.split(',').map(str::trim) {
        let op = Op::ALL.into_iter().find(|op| op.name() == word);
        ops[op? as usize] = true;
    }
    Some(ops)
}

#[cfg(test)]
mod tests {
    use super::{Mode, PREFIX, Settings, Stats, is_unknown};
    use crate::task::Op;

    /// The page that documents all variables.
    const PAGE: &str = include_str!("../../../docs/environment.md");

    fn parse(values: &[(&str, &str)]) -> Settings {
        Settings::parse(|variable| {
            let mut values = values.iter();
            let found = values.find(|(name, _)| *name == variable);
            found.map(|(_, value)| value.into())
        })
    }

    /// Each error names the variable, its value and the allowed values.
    #[test]
    fn wrong_values_are_errors() {
        let wrong = |variable, value| parse(&[(variable, value)]).wrong;
        for (variable, value, message) in [
            (
                "TREEFOLD_PMPI",
                "chek",
                "TREEFOLD_PMPI is `chek`, not one of on, off, check",
            ),
            (
                "TREEFOLD_PMPI_OPS",
                "sum,add",
                "TREEFOLD_PMPI_OPS is `sum,add`, not a comma-separated list of sum, prod, min and max",
            ),
            (
                "TREEFOLD_SHARED_MEMORY",
                "perhaps",
                "TREEFOLD_SHARED_MEMORY is `perhaps`, not one of on, off",
            ),
            (
                "TREEFOLD_ALGORITHM",
                "fastest",
                "TREEFOLD_ALGORITHM is `fastest`, not one of direct, ",
            ),
            (
                "TREEFOLD_ALGORITHM",
                "a\n",
                "TREEFOLD_ALGORITHM is `a\\n`, not",
            ),
        ] {
            let wrong = wrong(variable, value);
            assert_eq!(wrong.len(), 1, "{variable}={value}: {wrong:?}");
            assert!(wrong[0].starts_with(message), "{}", wrong[0]);
        }
        let both = parse(&[("TREEFOLD_PMPI", "chek"), ("TREEFOLD_PMPI_OPS", "add")]);
        assert_eq!(both.wrong.len(), 2);
    }

    #[test]
    fn a_mode_may_be_in_capitals() {
        for (value, mode) in [("ON", Mode::On), ("Off", Mode::Off), ("CHECK", Mode::Check)] {
            let settings = parse(&[("TREEFOLD_PMPI", value)]);
            assert_eq!((settings.mode, settings.wrong), (mode, Vec::new()));
        }
    }

    #[test]
    fn variables_of_the_page_are_known() {
        let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
        let words = PAGE.split(|c| !is_name(c));
        let is_whole = |word: &&str| word.starts_with(PREFIX) && *word != PREFIX;
        let names: Vec<_> = words.filter(is_whole).collect();
        assert!(names.len() > 10, "{names:?}");
        assert!(!names.into_iter().any(is_unknown));
        assert!(is_unknown("TREEFOLD_PMPI_STAT"));
        assert!(!is_unknown("TREE"));
    }

    #[test]
    fn what_ranks_share_is_in_words() {
        let shared = |values: &[(&str, &str)]| parse(values).shared();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            shared(&[]),
            format!(
                "treefold {version}, TREEFOLD_PMPI=on, TREEFOLD_PMPI_OPS=sum,prod, without a report"
            )
        );
        for other in [
            ("TREEFOLD_PMPI", "check"),
            ("TREEFOLD_PMPI_OPS", "sum"),
            ("TREEFOLD_PMPI_STATS", "a"),
            ("TREEFOLD_ALGORITHM", "ring"),
        ] {
            assert_ne!(shared(&[other]), shared(&[]), "{other:?}");
        }
    }

    #[test]
    fn where_it_is_off_nothing_else_counts() {
        let off = parse(&[
            ("TREEFOLD_PMPI", "off"),
            ("TREEFOLD_PMPI_OPS", "add"),
            ("TREEFOLD_PMPI_STATS", "stderr"),
        ]);
        assert_eq!((off.mode, off.stats), (Mode::Off, None));
        assert_eq!(off.wrong, [""; 0]);
    }

    #[test]
    fn a_check_reports() {
        let stats = |values: &[(&str, &str)]| parse(values).stats;
        let check = ("TREEFOLD_PMPI", "check");
        assert_eq!(stats(&[check]), Some(Stats::Stderr));
        let file = ("TREEFOLD_PMPI_STATS", "a.json");
        assert_eq!(stats(&[file]), Some(Stats::File("a.json".into())));
        assert_eq!(stats(&[check, file]), Some(Stats::File("a.json".into())));
        assert_eq!(stats(&[]), None);
    }

    #[test]
    fn operators_are_listed() {
        let settings = parse(&[("TREEFOLD_PMPI_OPS", "min, max")]);
        assert!(settings.takes(Op::Min) && settings.takes(Op::Max) && !settings.takes(Op::Sum));
        assert_eq!(settings.wrong, [""; 0]);
    }
}
