//! The parts of the modules of Fortran.

mod interfaces;
pub(crate) mod local;
pub(crate) mod ranks;

use crate::text::statement;

/// A generic name, and the procedures of a module that have it.
fn generic(name: &str, procedures: &[String]) -> String {
    let procedures = statement("      module procedure ", procedures, "");
    format!("   interface treefold_{name}\n{procedures}   end interface\n")
}

/// The names that a module makes public.
fn public(names: impl IntoIterator<Item = String>) -> String {
    let names: Vec<_> = names
        .into_iter()
        .map(|name| format!("treefold_{name}"))
        .collect();
    statement("   public :: ", &names, "")
}
