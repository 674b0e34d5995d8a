//! Counts calls for the report.

use std::time::Instant;

use comm::text::counted;
use treefold::mpi::mpi_library;

use crate::boundary::calls::arguments::{ANOTHER_DATATYPE, Count, Reason, has_no_order};
use crate::boundary::library::loaded::Mpi;
use crate::boundary::process::site::site;
use crate::settings::{Mode, Settings};
use crate::statistics::{self, Counts, Kind, size_class};
use crate::task::{Op, Task};

impl Counts {
    /// Compares the MPI library's result with treefold's and counts the differences.
    pub(crate) fn compare(&mut self, task: &Task, library: &[u8], own: &[u8]) {
        self.differing_elements = task.element.differing(library, own);
        self.differing = (self.differing_elements > 0).into();
        self.differing_environments = self.differing.min(self.environments);
        self.elements = task.length as u64;
        self.compared = 1;
    }
}

/// Counts a call that treefold ran.
pub(crate) fn count_taken(task: &Task, counts: Counts) {
    let bytes = task.width_bytes() as u64;
    let counts = Counts {
        calls: 1,
        bytes,
        ..counts
    };
    count_more(task, counts);
}

/// Counts a call whose results differ or may differ, under the place in the program that made the call.
pub(crate) fn count_site(call: &str, site: Option<&str>) {
    if let Some(site) = site {
        statistics::own().count_site(call, site, 1);
    }
}

/// Adds `counts` to the counts of earlier calls of the same kind.
pub(crate) fn count_more(task: &Task, counts: Counts) {
    let kind = Kind {
        passed: String::new(),
        call: task.name().to_owned(),
        element: task.element.name().to_owned(),
        op: task.op.name().to_owned(),
        size_class: size_class(task.width_bytes() as u64),
        is_open: false,
    };
    statistics::own().count(kind, counts);
}

/// Counts a call that treefold failed to compare.
pub(crate) fn count_failed(task: &Task) {
    let counts = Counts {
        failed: 1,
        ..Counts::default()
    };
    count_more(task, counts);
}

/// Counts a call that was passed on to the MPI library at `begin`, with the reason.
pub(crate) fn count_passed(
    name: &str,
    reason: Reason,
    count: Count,
    datatype: mpi_library::Datatype,
    op: mpi_library::Op,
    begin: Instant,
) {
    let mpi = Mpi::get();
    let element = mpi.element(datatype);
    let count = match count {
        Count::Of(count) => u64::try_from(count).unwrap_or(0),
        // A list of counts is not added up.
        _ => 0,
    };
    let (element, element_bytes) = match element {
        Some(element) => (element.name().to_owned(), element.bytes() as u64),
        None => mpi.describe_type(datatype),
    };
    let bytes = count.saturating_mul(element_bytes);
    let passed = match reason {
        ANOTHER_DATATYPE => format!("{reason}, of {}", counted(element_bytes, "byte")),
        _ => reason.to_owned(),
    };
    let kind = Kind {
        passed,
        call: name.to_owned(),
        element,
        op: mpi.op(op).map_or("", Op::name).to_owned(),
        size_class: size_class(bytes),
        is_open: !has_no_order(reason) && mpi.depends_on_order(datatype, op),
    };
    let counts = Counts {
        calls: 1,
        bytes,
        library_ns: elapsed_ns(begin),
        ..Counts::default()
    };
    if kind.is_open && Settings::get().mode == Mode::Check {
        count_site(name, site().as_deref());
    }
    statistics::own().count(kind, counts);
}

/// The nanoseconds since `begin`.
pub(crate) fn elapsed_ns(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
