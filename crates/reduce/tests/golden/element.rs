//! The element types of the golden vectors, and how their words are read and written.

use bytemuck::Pod;
use reduce::exact;

/// An element type of the vectors.
pub(crate) trait Element: Pod + Send + Sync {
    /// Reads hexadecimal digits; for a complex number, two groups of digits.
    fn from_word(word: &str) -> Self;

    fn word(self) -> String;

    /// The value, with all NaNs in one form.
    #[must_use]
    fn canonical(self) -> Self {
        self
    }
}

/// An element type whose values can be compared and subtracted.
pub(crate) trait Real: Element {
    /// `self` minus `other`; integers wrap around.
    #[must_use]
    fn less(self, other: Self) -> Self;
}

/// A float type.
pub(crate) trait Float: Real + exact::Float {
    fn rounded(number: f64) -> Self;
    fn times(self, other: Self) -> Self;
    fn dot(x: &[Self], y: &[Self]) -> Self;
    fn squared_norm(x: &[Self]) -> Self;
}

macro_rules! float {
    ($float:ident, $word:ident, $digits:literal) => {
        impl Element for $float {
            fn from_word(word: &str) -> Self {
                $float::from_bits($word::from_str_radix(word, 16).unwrap())
            }
            fn word(self) -> String {
                format!(concat!("{:0", $digits, "X}"), self.to_bits())
            }
            fn canonical(self) -> Self {
                if self.is_nan() { $float::NAN } else { self }
            }
        }

        impl Real for $float {
            fn less(self, other: Self) -> Self {
                self - other
            }
        }

        impl Float for $float {
            #[allow(clippy::cast_possible_truncation, reason = "the cast rounds")]
            fn rounded(number: f64) -> Self {
                number as $float
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn dot(x: &[Self], y: &[Self]) -> Self {
                reduce::dot(x, y).unwrap()
            }
            fn squared_norm(x: &[Self]) -> Self {
                reduce::squared_norm(x).unwrap()
            }
        }
    };
}

float!(f64, u64, "16");
float!(f32, u32, "8");

macro_rules! integer {
    ($(($integer:ident, $word:ident, $digits:literal)),*) => {
        $(
            impl Element for $integer {
                fn from_word(word: &str) -> Self {
                    bytemuck::cast($word::from_str_radix(word, 16).unwrap())
                }
                fn word(self) -> String {
                    format!(concat!("{:0", $digits, "X}"), self)
                }
            }

            impl Real for $integer {
                fn less(self, other: Self) -> Self {
                    self.wrapping_sub(other)
                }
            }
        )*
    };
}

integer!(
    (i8, u8, "2"),
    (i16, u16, "4"),
    (i32, u32, "8"),
    (i64, u64, "16"),
    (u8, u8, "2"),
    (u16, u16, "4"),
    (u32, u32, "8"),
    (u64, u64, "16")
);

/// The two parts of a complex number.
impl<T: Element + exact::Float> Element for [T; 2] {
    fn from_word(word: &str) -> Self {
        let (re, im) = word.split_once(' ').unwrap();
        [re, im].map(T::from_word)
    }

    fn word(self) -> String {
        self.map(T::word).join(" ")
    }

    fn canonical(self) -> Self {
        self.map(T::canonical)
    }
}

#[cfg(feature = "num-complex")]
impl<T: Element + exact::Float> Element for num_complex::Complex<T>
where
    Self: Pod,
{
    fn from_word(word: &str) -> Self {
        let [re, im] = <[T; 2]>::from_word(word);
        Self { re, im }
    }

    fn word(self) -> String {
        [self.re, self.im].word()
    }

    fn canonical(self) -> Self {
        let [re, im] = [self.re, self.im].canonical();
        Self { re, im }
    }
}
