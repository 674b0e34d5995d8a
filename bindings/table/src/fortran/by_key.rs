//! The procedures of `treefold_mpi.F90` on items with keys, of real types.

use super::is_mine::with_is_mine;
use super::{generic, public};
use crate::functions::{Call, with_keys};
use crate::text::put;

/// The kinds of keys, and the codes of their types in C.
const KEYS: [(&str, &str); 2] = [("int32", "TREEFOLD_I32"), ("int64", "TREEFOLD_I64")];

/// The procedures of a template, one for each kind of keys: their generic name, and for each its name and its text.
fn of_keys(template: &str, call: &Call) -> (String, Vec<(String, String)>) {
    let values = [("name", call.name), ("call", &call.name.to_uppercase())];
    let template = with_is_mine(&put(template, &values), call);
    let name = template
        .split(['(', ' '])
        .find(|word| word.contains("{kind}"));
    let name = name.unwrap_or_default().to_owned();
    let each = |(kind, code)| {
        let values = [("kind", kind), ("code", code)];
        (put(&name, &values), put(&template, &values))
    };
    (name.replace("_{kind}", ""), KEYS.map(each).to_vec())
}

fn of_all_keys() -> Vec<(String, Vec<(String, String)>)> {
    let runs = with_keys().map(|call| of_keys(RUN, call));
    runs.chain(with_keys().map(|call| of_keys(START, call)))
        .collect()
}

/// The public names, and the generic ones.
pub(super) fn names() -> String {
    let hashed = || with_keys().map(|call| format!("hashed_{}", call.name));
    let keyed = of_all_keys();
    let mut names: Vec<_> = keyed.iter().map(|(name, _)| name.clone()).collect();
    names.extend(hashed());
    let generics = keyed.iter().map(|(name, procedures)| {
        let procedures: Vec<_> = procedures.iter().map(|(name, _)| name.clone()).collect();
        generic(name, &procedures)
    });
    let of_hashed = hashed().map(|name| generic(&name, &[format!("{name}_items")]));
    let generics: String = generics.chain(of_hashed).collect();
    public(names) + "\n" + &generics
}

pub(super) fn procedures() -> String {
    let keyed = of_all_keys()
        .into_iter()
        .flat_map(|(_, procedures)| procedures);
    let mut texts: Vec<_> = keyed.map(|(_, text)| text).collect();
    texts.extend(with_keys().map(|call| {
        let capitals = call.name.to_uppercase();
        put(HASHED, &[("name", call.name), ("call", &capitals)])
    }));
    texts.join("\n")
}

const RUN: &str = "   subroutine {name}_by_key_{kind}(plan, keys, x, result, {is_mine_}ierr)
      type(treefold_plan), intent(in) :: plan
      integer({kind}), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
{declares_is_mine}      integer, intent(out), optional :: ierr

      call run_by_key(TREEFOLD_CALL_{call}, plan, element, {code}, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), address(result), size(result, kind=c_size_t), {passes_is_mine})
   end subroutine {name}_by_key_{kind}
";

const START: &str = "   subroutine start_{name}_by_key_{kind}(plan, keys, x, run, ierr)
      type(treefold_plan), intent(in) :: plan
      integer({kind}), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_by_key(TREEFOLD_CALL_{call}, plan, element, {code}, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), run, ierr)
   end subroutine start_{name}_by_key_{kind}
";

const HASHED: &str = "   subroutine hashed_{name}_items(hashed, keys, x, count, ierr)
      type(treefold_hashed), intent(in) :: hashed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer(int64), intent(out) :: count
      integer, intent(out), optional :: ierr

      call run_hashed(TREEFOLD_CALL_{call}, hashed, element, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), count, ierr)
   end subroutine hashed_{name}_items
";
