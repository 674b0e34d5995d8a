//! A rank's own part of a run.

/// What this rank brings to a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Local<'r, T> {
    /// Its rows.
    Rows(&'r [T]),
    /// The reductions of its own nodes, which were made elsewhere.
    Nodes(&'r [T]),
}

impl<'r, T> Local<'r, T> {
    /// The rows, which a scan's end needs again.
    pub(super) fn rows_of(local: Option<Self>) -> &'r [T] {
        match local {
            Some(Local::Rows(rows)) => rows,
            Some(Local::Nodes(_)) | None => &[],
        }
    }
}
