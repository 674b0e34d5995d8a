//! Valgrind's findings in the ranks of a program. MPI libraries have findings, too; ours have a stack frame in treefold.

use std::fs;
use std::path::Path;

use crate::commands::Result;
use crate::files::{name, read, with_extension};

/// A finding is ours if it has a stack frame in this library.
const OWN_LIBRARY: &str = "libtreefold";

/// Checks the reports of all ranks, `PROGRAM.*.xml` in a folder, and removes them.
///
/// # Errors
/// The number of complete reports is wrong, or one has a finding of ours.
pub(super) fn check(folder: &Path, program: &str, ranks: usize) -> Result<String> {
    let mut reports = with_extension(folder, "xml")?;
    reports.retain(|path| name(path).starts_with(&format!("{program}.")));
    let mut others = 0;
    for path in &reports {
        let report = read(path)?;
        let shown = path.display();
        if !report.trim_end().ends_with("</valgrindoutput>") {
            return Err(format!("{shown} is not whole").into());
        }
        let (own, other) = findings(&report);
        if let Some(first) = own.first() {
            let count = own.len();
            return Err(format!("{shown}: {count} of ours:\n{first}").into());
        }
        others += other;
        fs::remove_file(path)?;
    }
    if reports.len() == ranks {
        Ok(format!("nothing of ours, {others} of the MPI library"))
    } else {
        Err(format!("{} reports of {ranks} ranks", reports.len()).into())
    }
}

/// The findings of a report that are ours, and the number of the others.
fn findings(report: &str) -> (Vec<&str>, usize) {
    let findings = report.split("<error>").skip(1);
    let findings = findings.filter_map(|text| text.split("</error>").next());
    let (own, others): (Vec<&str>, Vec<&str>) =
        findings.partition(|finding| finding.contains(OWN_LIBRARY));
    (own, others.len())
}

#[cfg(test)]
mod tests {
    use super::findings;

    #[test]
    fn a_finding_with_a_frame_of_ours_is_ours() {
        let report = "<valgrindoutput><error><kind>InvalidRead</kind><obj>/usr/lib/libmpi.so.40</obj></error>\
                      <error><obj>/usr/lib/libmpi.so.40</obj><obj>/x/libtreefold.so.0.1.0</obj></error></valgrindoutput>";
        let (own, others) = findings(report);
        assert_eq!((own.len(), others), (1, 1));
        assert!(own[0].contains("treefold"));
    }
}
