//! The procedures of accumulators and keyed states that there are for each type of elements.

use super::{generic, public};
use crate::exact::{METHODS, Method, Takes};
use crate::text::put;

/// The kinds of keys, and the codes of their types: the module of a type knows its own code by another name.
pub(super) const KEYS: [(&str, &str); 2] = [("int32", "OF_INT32"), ("int64", "OF_INT64")];

/// The types of elements that a method has procedures for. Those of a method without elements are written by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Real and complex numbers.
    Floats,
    Reals,
    Integers,
}

fn methods(of: Of) -> impl Iterator<Item = &'static Method> {
    let is_one = move |method: &&Method| match method.takes {
        Takes::Other => false,
        Takes::Items | Takes::Pairs | Takes::Element => of == Of::Floats,
        Takes::KeyedItems => of != Of::Floats,
        // Of two types with real parts of one kind, procedures would be alike.
        Takes::Spread | Takes::KeyedPairs | Takes::Elements | Takes::Spreads => of == Of::Reals,
    };
    METHODS.iter().filter(is_one)
}

/// The procedures of a method: what their names end by, and their texts.
fn of_method(method: &Method, of: Of) -> Vec<(String, String)> {
    let name = method.full_name();
    let make = |end: &str, template: &str, values: &[(&str, &str)]| {
        let name = format!("{name}{end}");
        let names = [("name", name.as_str()), ("c", &method.full_name())];
        (name.clone(), put(&put(template, values), &names))
    };
    let of_kinds = |end: &str, template: &str, shape: &str| {
        let of_kind = |(kind, code): (&str, &str)| {
            let values = [
                ("kind", kind),
                ("code", code),
                ("shape", shape),
                ("check", check_of(shape, "x")),
            ];
            make(&format!("{end}_{kind}"), template, &values)
        };
        KEYS.map(of_kind).to_vec()
    };
    let no_ddof = [("ddof", ""), ("declared", "")];
    let ddof = [("ddof", "ddof, "), ("declared", DDOF)];
    match method.takes {
        Takes::Items => vec![make("_items", ITEMS, &[]), make("_one", ONE, &[])],
        Takes::Pairs => vec![make("_items", PAIRS, &[])],
        Takes::Element => {
            let template = put(ELEMENT, &[("other", "other_accumulator")]);
            vec![make("_one", &template, &no_ddof)]
        }
        Takes::Spread => {
            let template = put(ELEMENT, &[("other", "other_part")]);
            vec![make("_one", &template, &ddof)]
        }
        Takes::Elements => {
            // Means of integers are real.
            let other = ["other_keyed", "other_mean"][usize::from(method.name == "means")];
            let template = put(ELEMENTS, &[("other", other)]);
            let of_shape = |shape| {
                put(
                    &template,
                    &[("shape", shape), ("check", check_of(shape, "result"))],
                )
            };
            let items = of_shape(":");
            let mut made = vec![make("_items", &items, &no_ddof)];
            if method.name == "sums" {
                made.push(make("_rows", &of_shape(":, :"), &no_ddof));
            }
            made
        }
        Takes::Spreads => {
            let template = put(
                ELEMENTS,
                &[("other", "other_keyed"), ("shape", ":"), ("check", "")],
            );
            vec![make("_items", &template, &ddof)]
        }
        Takes::KeyedItems if of == Of::Integers => of_kinds("", KEYED, ":"),
        Takes::KeyedItems => {
            let rows = of_kinds("_rows", KEYED, ":, :");
            [of_kinds("", KEYED, ":"), rows].concat()
        }
        Takes::KeyedPairs => of_kinds("", KEYED_PAIRS, ":"),
        Takes::Other => Vec::new(),
    }
}

/// The public names, and the generic ones.
pub(super) fn names(of: Of) -> String {
    let each = |method: &Method| {
        let procedures: Vec<_> = of_method(method, of)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        generic(&method.full_name(), &procedures)
    };
    let generics: String = methods(of).map(each).collect();
    public(methods(of).map(Method::full_name)) + "\n" + &generics
}

pub(super) fn procedures(of: Of) -> String {
    let texts = methods(of).flat_map(|method| of_method(method, of));
    let texts = texts.map(|(_, text)| text);
    texts.collect::<Vec<_>>().join("\n")
}

/// What C does not see of rows in an array of this shape: how long they are.
fn check_of(shape: &str, array: &str) -> &'static str {
    match (shape, array) {
        (":", _) => "",
        (_, "x") => "      if (other_row('x', size(x, 1, int64), keyed, ierr)) return\n",
        _ => "      if (other_row('result', size(result, 1, int64), keyed, ierr)) return\n",
    }
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
      TREEFOLD_TYPE, intent(in), contiguous, target :: x({shape})
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
{check}      call report(c_{c}(handle, {code}, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine {name}
";

const KEYED_PAIRS: &str = "   subroutine {name}(keyed, keys, x, y, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer({kind}), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_{c}(handle, {code}, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t), address(y), size(y, kind=c_size_t)), ierr)
   end subroutine {name}
";

const ELEMENTS: &str = "   subroutine {name}(keyed, {ddof}result, ierr)
      type(treefold_keyed), intent(in) :: keyed
{declared}      TREEFOLD_TYPE, intent(inout), contiguous, target :: result({shape})
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if ({other}(keyed, element, handle, ierr)) return
{check}      call report(c_{c}(handle, {ddof}address(result), size(result, kind=c_size_t)), ierr)
   end subroutine {name}
";
