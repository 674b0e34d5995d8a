//! The procedures of accumulators and keyed states that there are for each type of elements.

use super::{generic, public};
use crate::exact::{METHODS, Method, Takes};
use crate::text::put;

/// The kinds of keys, and the codes of their types in C.
pub(super) const KEYS: [(&str, &str); 2] = [("int32", "TREEFOLD_I32"), ("int64", "TREEFOLD_I64")];

/// The methods that there are for real elements only, or for complex ones, too. Those without elements are written by hand.
fn methods(of_reals: bool) -> impl Iterator<Item = &'static Method> {
    let is_one = move |method: &&Method| match method.takes {
        Takes::Other => false,
        Takes::Items | Takes::Pairs | Takes::Element => !of_reals,
        // Of two types with real parts of one kind, procedures would be alike.
        Takes::Spread | Takes::KeyedItems | Takes::Elements | Takes::Spreads => of_reals,
    };
    METHODS.iter().filter(is_one)
}

/// The procedures of a method: what their names end by, and their texts.
fn of_method(method: &Method) -> Vec<(String, String)> {
    let name = method.full_name();
    let make = |end: &str, template: &str| {
        let name = format!("{name}{end}");
        let values = [("name", name.as_str()), ("c", &method.full_name())];
        (name.clone(), put(template, &values))
    };
    match method.takes {
        Takes::Items => vec![make("_items", ITEMS), make("_one", ONE)],
        Takes::Pairs => vec![make("_items", PAIRS)],
        Takes::Element => vec![make(
            "_one",
            &put(
                ELEMENT,
                &[
                    ("ddof", ""),
                    ("declared", ""),
                    ("other", "other_accumulator"),
                ],
            ),
        )],
        Takes::Spread => vec![make(
            "_one",
            &put(
                ELEMENT,
                &[
                    ("ddof", "ddof, "),
                    ("declared", DDOF),
                    ("other", "other_part"),
                ],
            ),
        )],
        Takes::Elements => vec![make(
            "_items",
            &put(ELEMENTS, &[("ddof", ""), ("declared", "")]),
        )],
        Takes::Spreads => vec![make(
            "_items",
            &put(ELEMENTS, &[("ddof", "ddof, "), ("declared", DDOF)]),
        )],
        Takes::KeyedItems => {
            let of_kind = |(kind, code): (&str, &str)| {
                make(
                    &format!("_{kind}"),
                    &put(KEYED, &[("kind", kind), ("code", code)]),
                )
            };
            KEYS.map(of_kind).to_vec()
        }
        Takes::Other => Vec::new(),
    }
}

/// The public names, and the generic ones.
pub(super) fn names(of_reals: bool) -> String {
    let each = |method: &Method| {
        let procedures: Vec<_> = of_method(method)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        generic(&method.full_name(), &procedures)
    };
    let generics: String = methods(of_reals).map(each).collect();
    public(methods(of_reals).map(Method::full_name)) + "\n" + &generics
}

pub(super) fn procedures(of_reals: bool) -> String {
    let texts = methods(of_reals).flat_map(of_method).map(|(_, text)| text);
    texts.collect::<Vec<_>>().join("\n")
}

const DDOF: &str = "      real(real64), intent(in) :: ddof\n";

const ITEMS: &str = "   subroutine {name}(accumulator, x, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_accumulator(accumulator, element, handle, ierr)) return
      call report(c_{c}(handle, address(x), size(x, kind=c_size_t)), ierr)
   end subroutine {name}
";

const ONE: &str = "   subroutine {name}(accumulator, x, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      TREEFOLD_TYPE, intent(in), target :: x
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_accumulator(accumulator, element, handle, ierr)) return
      call report(c_{c}(handle, c_loc(x), 1_c_size_t), ierr)
   end subroutine {name}
";

const PAIRS: &str = "   subroutine {name}(accumulator, x, y, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_accumulator(accumulator, element, handle, ierr)) return
      call report(c_{c}(handle, address(x), size(x, kind=c_size_t), address(y), size(y, kind=c_size_t)), ierr)
   end subroutine {name}
";

const ELEMENT: &str = "   subroutine {name}(accumulator, {ddof}result, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
{declared}      TREEFOLD_TYPE, intent(inout), target :: result
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if ({other}(accumulator, element, handle, ierr)) return
      call report(c_{c}(handle, {ddof}c_loc(result)), ierr)
   end subroutine {name}
";

const KEYED: &str = "   subroutine {name}(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer({kind}), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_{c}(handle, {code}, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine {name}
";

const ELEMENTS: &str = "   subroutine {name}(keyed, {ddof}result, ierr)
      type(treefold_keyed), intent(in) :: keyed
{declared}      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_{c}(handle, {ddof}address(result), size(result, kind=c_size_t)), ierr)
   end subroutine {name}
";
