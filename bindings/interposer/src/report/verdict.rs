//! The first line of a check's report.

use std::collections::BTreeSet;

use comm::text::counted;

use super::Report;

/// The maximum number of MPI functions that the line names; the report's tables name all of them.
const KINDS_MAX: usize = 3;

impl Report<'_> {
    /// Returns the line. It reports differences or, if there are none, reductions that were not compared or, otherwise, the same bits.
    pub(crate) fn verdict(&self) -> String {
        let total = self.total();
        if total.differing > 0 {
            let (differing, compared) = (total.differing, total.compared);
            return format!(
                "NOT reproducible: {differing} of {compared} depend on MPI's algorithm"
            );
        }
        if let (0, Some(ahead)) = (self.calls_seen(), &self.ahead) {
            return format!("could not tell: {ahead} hides the program's reductions");
        }
        let all = self.statistics.iter();
        let open = all.map(
            |(kind, counts)| match (kind.passed.is_empty(), kind.is_open) {
                (true, _) => (kind, counts.failed),
                (false, true) => (kind, counts.calls),
                (false, false) => (kind, 0),
            },
        );
        let open: Vec<_> = open.filter(|(_, calls)| *calls > 0).collect();
        if open.is_empty() {
            return match total.compared {
                0 => "no reductions".to_owned(),
                1 => "same bits as treefold's order in the one reduction".to_owned(),
                compared => format!("same bits as treefold's order in all {compared} reductions"),
            };
        }
        let calls = open.iter().map(|(_, calls)| *calls);
        let calls = calls.fold(0, u64::saturating_add);
        let kinds = open.iter().map(|(kind, _)| format!("MPI_{}", kind.call));
        let mut kinds: Vec<String> = kinds.collect::<BTreeSet<_>>().into_iter().collect();
        if kinds.len() > KINDS_MAX {
            let others = kinds.len() - (KINDS_MAX - 1);
            kinds.truncate(KINDS_MAX - 1);
            kinds.push(format!("{others} others"));
        }
        format!(
            "could not tell: {} not compared: {}",
            counted(calls, "reduction"),
            kinds.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{kind, report};
    use crate::statistics::{Counts, Kind, Statistics};

    fn verdict(list: &[(Kind, Counts)]) -> String {
        let mut statistics = Statistics::default();
        for (kind, counts) in list {
            statistics.count(kind.clone(), *counts);
        }
        report(&statistics).verdict()
    }

    #[test]
    fn what_differs_comes_before_what_is_not_known() {
        let compared = |differing| Counts {
            calls: 4,
            compared: 4,
            differing,
            ..Counts::default()
        };
        let passed = |call: &str, is_open| Kind {
            passed: "a reason".to_owned(),
            call: call.to_owned(),
            is_open,
            ..kind()
        };
        let differs = (kind(), compared(3));
        let alike = (kind(), compared(0));
        let open = (passed("Scan_init", true), compared(0));
        let exact = (passed("Reduce", false), compared(0));
        let failed = Counts {
            failed: 2,
            ..compared(0)
        };
        for (list, expected) in [
            (
                vec![differs.clone(), open.clone()],
                "NOT reproducible: 3 of 4 depend on MPI's algorithm",
            ),
            (
                vec![alike.clone(), open.clone(), exact.clone()],
                "could not tell: 4 reductions not compared: MPI_Scan_init",
            ),
            (
                vec![open, (passed("Iscan", true), compared(0))],
                "could not tell: 8 reductions not compared: MPI_Iscan, MPI_Scan_init",
            ),
            (
                ["Scan", "Exscan", "Iscan", "Iexscan"]
                    .map(|call| (passed(call, true), compared(0)))
                    .to_vec(),
                "could not tell: 16 reductions not compared: MPI_Exscan, MPI_Iexscan, 2 others",
            ),
            (
                vec![(kind(), failed)],
                "could not tell: 2 reductions not compared: MPI_Allreduce",
            ),
            (
                vec![alike, exact.clone()],
                "same bits as treefold's order in all 4 reductions",
            ),
            (vec![exact], "no reductions"),
            (vec![], "no reductions"),
        ] {
            assert_eq!(verdict(&list), expected);
        }
    }
}
