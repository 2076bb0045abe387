//! Refuses numbers that are not finite, because serde_json would write them as `null`.

use std::fmt::Display;

use serde::ser::{self, Serialize, Serializer};

/// Path of the first number in `value` that is NaN or infinite ("figures[3].quantities.floor.value"), if there is one.
pub(crate) fn not_finite(value: &impl Serialize) -> Option<String> {
    value.serialize(Walk).err().map(|found| found.0.trim_start_matches('.').to_owned())
}

/// The path so far, put together from the inside out.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Found(String);

impl ser::Error for Found {
    fn custom<T: Display>(message: T) -> Self {
        Self(format!(" ({message})"))
    }
}

/// A serializer that writes nothing.
struct Walk;

/// Inside a sequence: the index of the next element.
struct Elements(usize);

/// Inside a map: the key of the next value.
struct Members(String);

impl Elements {
    fn next(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Found> {
        let index = self.0;
        self.0 += 1;
        value.serialize(Walk).map_err(|Found(inner)| Found(format!("[{index}]{inner}")))
    }
}

fn member(key: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Found> {
    value.serialize(Walk).map_err(|Found(inner)| Found(format!(".{key}{inner}")))
}

/// Scalars that are fine whatever they hold.
macro_rules! fine {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, _: $type) -> Result<(), Found> { Ok(()) })*
    };
}

impl Serializer for Walk {
    type Ok = ();
    type Error = Found;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = Elements;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Members;

    fine! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_char: char,
        serialize_str: &str, serialize_bytes: &[u8], serialize_unit_struct: &'static str
    }

    fn serialize_f32(self, value: f32) -> Result<(), Found> {
        self.serialize_f64(f64::from(value))
    }

    fn serialize_f64(self, value: f64) -> Result<(), Found> {
        if value.is_finite() { Ok(()) } else { Err(Found(String::new())) }
    }

    fn serialize_none(self) -> Result<(), Found> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Found> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Found> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Found> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Found> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Found> {
        member(variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements, Found> {
        Ok(Elements(0))
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements, Found> {
        Ok(Elements(0))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements, Found> {
        Ok(Elements(0))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Elements, Found> {
        Ok(Elements(0))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members, Found> {
        Ok(Members(String::new()))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members, Found> {
        Ok(Members(String::new()))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Members, Found> {
        Ok(Members(String::new()))
    }
}

/// The four kinds of sequence differ in the name of their method only.
macro_rules! elements {
    ($($kind:ident::$method:ident),*) => {$(
        impl ser::$kind for Elements {
            type Ok = ();
            type Error = Found;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
                self.next(value)
            }
            fn end(self) -> Result<(), Found> {
                Ok(())
            }
        }
    )*};
}
elements!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! members {
    ($($kind:ident),*) => {$(
        impl ser::$kind for Members {
            type Ok = ();
            type Error = Found;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Found> {
                member(key, value)
            }
            fn end(self) -> Result<(), Found> {
                Ok(())
            }
        }
    )*};
}
members!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Members {
    type Ok = ();
    type Error = Found;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Found> {
        // A key that is no text is serde_json's to refuse.
        self.0 = serde_json::to_value(key)
            .ok()
            .and_then(|key| key.as_str().map(str::to_owned))
            .unwrap_or_else(|| "?".to_owned());
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        member(&self.0, value)
    }

    fn end(self) -> Result<(), Found> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Estimate, Expectation, LaunchRecord, PairedValue, Quantity};

    #[test]
    fn every_way_to_hold_a_number_is_walked() {
        assert_eq!(not_finite(&(1.0, Some(-0.0), f64::MAX, [f64::MIN_POSITIVE])), None);
        assert_eq!(not_finite(&f64::NAN), Some(String::new()));
        assert_eq!(not_finite(&(0, [1.0, f64::INFINITY])), Some("[1][1]".to_owned()));
        assert_eq!(not_finite(&Some(f32::NEG_INFINITY)), Some(String::new()));
        assert_eq!(not_finite(&Expectation::Exactly(f64::NAN)), Some(String::new()));
        let between = Expectation::Between { at_least: 0.0, at_most: f64::INFINITY };
        assert_eq!(not_finite(&between), Some("at_most".to_owned()));
        let launch = LaunchRecord {
            quantities: BTreeMap::from([("floor".to_owned(), 1.0), ("max".to_owned(), f64::NAN)]),
            ..LaunchRecord::default()
        };
        assert_eq!(not_finite(&vec![launch]), Some("[0].quantities.max".to_owned()));
        // Through a flattened struct.
        let estimate = Estimate { value: 1.0, low: f64::NAN, high: 1.0, extremes: false };
        let quantity = Quantity { estimate, unit: "ns".to_owned(), unknown: serde_json::Map::new() };
        assert_eq!(not_finite(&BTreeMap::from([("floor", quantity)])), Some("floor.low".to_owned()));
        #[derive(serde::Serialize)]
        struct Pair(f64, f64);
        #[derive(serde::Serialize)]
        enum Either {
            Both(f64, f64),
            One(f64),
            Named { inner: f64 },
        }
        #[derive(serde::Serialize)]
        struct Only(f64);
        assert_eq!(not_finite(&[Only(1.0), Only(f64::NAN)]), Some("[1]".to_owned()));
        assert_eq!(not_finite(&Either::One(f64::NAN)), Some("One".to_owned()));
        assert_eq!(not_finite(&Either::Named { inner: f64::NAN }), Some("inner".to_owned()));
        assert_eq!(not_finite(&Pair(f64::NAN, 1.0)), Some("[0]".to_owned()));
        assert_eq!(not_finite(&Pair(1.0, f64::NAN)), Some("[1]".to_owned()));
        let both = not_finite(&Either::Both(f64::NAN, 1.0));
        assert!(both.is_some_and(|found| found.ends_with("[0]")));
        let ratio = PairedValue { high: Some(f64::NAN), ..PairedValue::default() };
        assert_eq!(not_finite(&ratio), Some("high".to_owned()));
    }
}
