//! Fortran's interfaces of C's functions, as a header declares them.

use std::collections::BTreeSet;

use crate::Error;
use crate::prototypes::Prototype;
use crate::text::{followed, statement};

/// An interface for each function.
pub(crate) fn interfaces(prototypes: &[Prototype]) -> Result<String, Error> {
    let functions: Vec<_> = prototypes.iter().map(interface).collect::<Result<_, _>>()?;
    Ok(format!(
        "   interface\n{}   end interface\n",
        functions.join("\n")
    ))
}

fn interface(prototype: &Prototype) -> Result<String, Error> {
    let Prototype {
        name,
        arguments,
        returns,
    } = prototype;
    let unknown = || Error::Prototype {
        header: format!("the header of treefold_{name}"),
        text: format!("{prototype:?}"),
    };
    let mut kinds = BTreeSet::new();
    // One line for all arguments of one declaration, in the order in which these begin.
    let mut declarations: Vec<(String, Vec<String>)> = Vec::new();
    for (at, (kind, argument)) in arguments.iter().enumerate() {
        // A pointer before a length is to an array, and so is one to the parts of a complex number.
        let is_array = arguments
            .get(at + 1)
            .is_some_and(|(next, _)| next == "size_t")
            || name.ends_with("_c32")
            || name.ends_with("_c64");
        let (text, of_iso_c, shape) = declared(kind, is_array).ok_or_else(unknown)?;
        kinds.insert(of_iso_c);
        let argument = format!("{argument}{shape}");
        match declarations.iter_mut().find(|(known, _)| known == text) {
            Some((_, names)) => names.push(argument),
            None => declarations.push((text.to_owned(), vec![argument])),
        }
    }
    let (result, of_iso_c) = match returns.as_str() {
        "treefold_status" | "int32_t" | "uint32_t" => ("integer(c_int32_t)", "c_int32_t"),
        "size_t" => ("integer(c_size_t)", "c_size_t"),
        "const char *" => ("type(c_ptr)", "c_ptr"),
        _ => return Err(unknown()),
    };
    kinds.insert(of_iso_c);
    let names: Vec<_> = arguments.iter().map(|(_, name)| name.clone()).collect();
    let begin = statement(&format!("      function c_{name}("), &names, "");
    let bind = format!("bind(c, name='treefold_{name}') result(returned)");
    let mut text = followed(&format!("{})", begin.trim_end()), &bind);
    let kinds: Vec<_> = kinds.into_iter().map(str::to_owned).collect();
    text += &statement("         import :: ", &kinds, "");
    for (declaration, names) in declarations {
        text += &statement(&format!("         {declaration} :: "), &names, "");
    }
    Ok(text + &format!("         {result} :: returned\n      end function c_{name}\n"))
}

/// How Fortran declares an argument of a type of C, the kind that it needs for it, and the shape of its name.
fn declared(kind: &str, is_array: bool) -> Option<(&'static str, &'static str, &'static str)> {
    let place = |scalar, of_iso_c| (scalar, of_iso_c, if is_array { "(*)" } else { "" });
    Some(match kind {
        "treefold_type" | "treefold_op" | "treefold_status" | "int32_t" => {
            ("integer(c_int32_t), value", "c_int32_t", "")
        }
        "int" => ("integer(c_int), value", "c_int", ""),
        "size_t" => ("integer(c_size_t), value", "c_size_t", ""),
        "uint64_t" => ("integer(c_int64_t), value", "c_int64_t", ""),
        "double" => ("real(c_double), value", "c_double", ""),
        "treefold_combine" | "treefold_interrupted" | "treefold_mpi_function" => {
            ("type(c_funptr), value", "c_funptr", "")
        }
        "const char *" => ("character(kind=c_char), intent(in)", "c_char", "(*)"),
        "const float *" => ("real(c_float), intent(in)", "c_float", "(*)"),
        "const double *" => ("real(c_double), intent(in)", "c_double", "(*)"),
        "float *" => place("real(c_float), intent(inout)", "c_float"),
        "double *" => place("real(c_double), intent(inout)", "c_double"),
        "int *" => ("integer(c_int), intent(inout)", "c_int", ""),
        "uint64_t *" => place("integer(c_int64_t), intent(inout)", "c_int64_t"),
        "size_t *" => ("integer(c_size_t), intent(inout)", "c_size_t", ""),
        _ if kind == "const void *const *" => ("type(c_ptr), value", "c_ptr", ""),
        _ if kind.ends_with("**") => ("type(c_ptr), intent(inout)", "c_ptr", ""),
        _ if kind.ends_with('*') => ("type(c_ptr), value", "c_ptr", ""),
        _ => return None,
    })
}
