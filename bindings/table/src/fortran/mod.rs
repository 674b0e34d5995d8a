//! The parts of the modules of Fortran.

mod by_key;
mod cases;
mod interfaces;
mod is_mine;
pub(crate) mod local;
pub(crate) mod ranks;
mod states;

use crate::text::{put, statement};

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

const FINALISE: &str = "   impure elemental subroutine finalise_{name}({name})
      type(treefold_{name}), intent(inout) :: {name}
      integer(c_int32_t) :: status

      if (c_associated({name}%handle)) status = c_{end}({name}%handle)
      {name}%handle = c_null_ptr
   end subroutine finalise_{name}
";

const ASSIGN: &str = "   impure elemental subroutine assign_{name}(to, from)
      class(treefold_{name}), intent(inout) :: to
      type(treefold_{name}), intent(in) :: from

      if (c_associated(from%handle)) call no_copy('treefold_{name}')
      call finalise_{name}(to)
   end subroutine assign_{name}
";

/// What ends handles, and what assigns them.
fn handles(handles: &[(&str, &str)]) -> String {
    let of = |template| {
        let each = |&(name, end): &(&str, &str)| put(template, &[("name", name), ("end", end)]);
        handles.iter().map(each).collect::<Vec<_>>().join("\n")
    };
    format!(
        "   ! Nobody is left to hear of an error in a finaliser. It has no effect on what has ended already, nor on what was never made.\n\n\
         {}\n   ! Assignments: of what has not been made, such as treefold_plan(), it ends the old value; of anything else the program.\n\n{}",
        of(FINALISE),
        of(ASSIGN)
    )
}
