//! What valgrind found in the ranks of a program. MPI libraries have findings of their own; ours are those with a frame of treefold's.

use std::fs;
use std::path::Path;

/// Frames of this library make a finding ours.
const OWN_LIBRARY: &str = "libtreefold";

/// Looks at the reports of all ranks, `NAME.*.xml` in a folder, and removes them.
///
/// # Errors
/// There are other than so many whole reports, or one has a finding of ours.
pub(super) fn check(folder: &Path, name: &str, ranks: usize) -> Result<String, String> {
    let failed = |path: &Path, error| format!("{}: {error}", path.display());
    let mut reports = 0;
    let mut others = 0;
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let path = entry.map_err(|error| failed(folder, error))?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        if !file.starts_with(&format!("{name}.")) || !file.ends_with(".xml") {
            continue;
        }
        let report = fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
        if !report.trim_end().ends_with("</valgrindoutput>") {
            return Err(format!("{} is not whole", path.display()));
        }
        let (own, other) = findings(&report);
        if let Some(first) = own.first() {
            return Err(format!(
                "{}: {} of ours:\n{first}",
                path.display(),
                own.len()
            ));
        }
        reports += 1;
        others += other;
        fs::remove_file(&path).map_err(|error| failed(&path, error))?;
    }
    if reports == ranks {
        Ok(format!("nothing of ours, {others} of the MPI library"))
    } else {
        Err(format!("{reports} reports of {ranks} ranks"))
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
        assert_eq!(findings("<valgrindoutput></valgrindoutput>"), (vec![], 0));
    }
}
