//! The macros that declare tables and their keys.

/// Declares a table: its structure, how it is read, and its
/// [`Section`](crate::keys::declaration::Section) with the keys. The comment of a key is what it
/// is; behind the type of its field stands what is allowed. Behind the keys stand tables in the
/// table, and keys that it had before, each with the key that took its place. `list` after the path
/// says that there may be several of them, `switch` that the table means something without a key.
///
/// Several studies may declare a table of the same path, each with the keys that it reads: a key of
/// the same path means the same in all of them.
#[macro_export]
macro_rules! section {
    (
        $( #[doc = $doc:literal] )+
        $section:ident = $path:literal $($mark:ident)*, $raw:ident {
            $( $( #[doc = $about:literal] )+ $field:ident: $type:ty = $key:expr, )*
        }
        $( tables { $( $( #[doc = $below:literal] )+ $table:ident: $table_type:ty, )* } )?
        $( former { $( $was:ident => $now:literal, )* } )?
    ) => {
        #[doc = concat!($($doc),+)]
        #[derive(Debug, Default)]
        pub struct $raw {
            $( #[doc = concat!($($about),+)] pub $field: $type, )*
            $( $( #[doc = concat!($($below),+)] pub $table: $table_type, )* )?
        }

        impl $crate::keys::reader::FromFile for $raw {
            fn from_file(
                node: $crate::keys::reader::Node<'_>,
                errors: &mut Vec<$crate::keys::reader::Error>,
            ) -> Self {
                let mut keys = $crate::keys::reader::KeysOfTable::of(node, errors);
                Self {
                    $( $field: keys.take(stringify!($field)), )*
                    $( $( $table: keys.take(stringify!($table)), )* )?
                }
            }
        }

        /// Keys as they are declared, with what the file gives.
        #[allow(dead_code)] // Of names, lists and enums the structure alone is read.
        impl $raw {
            $(
                #[doc = concat!($($about),+)]
                pub const fn $field(&self) -> $crate::keys::field::Field<'_, $type> {
                    const KEY: &$crate::keys::declaration::Key = &$crate::keys::declaration::Key {
                        path: concat!($path, ".", stringify!($field)),
                        about: concat!($($about),+).trim_ascii(),
                        ..$key
                    };
                    $crate::keys::field::Field::new(KEY, &self.$field)
                }
            )*

            /// The dotted paths of the keys that the file gives.
            pub(crate) fn given_keys(&self) -> Vec<&'static str> {
                let keys = [$((concat!($path, ".", stringify!($field)), self.$field.is_some()),)*];
                keys.into_iter().filter(|(_, is_given)| *is_given).map(|(path, _)| path).collect()
            }
        }

        #[doc = concat!($($doc),+)]
        pub const $section: $crate::keys::declaration::Section = $crate::keys::declaration::Section {
            path: $path,
            is_list: $crate::keys::declaration::Section::is_marked(&[$(stringify!($mark)),*], "list"),
            is_switch: $crate::keys::declaration::Section::is_marked(&[$(stringify!($mark)),*], "switch"),
            former: &[ $( $(
                $crate::keys::former::FormerKey {
                    was: concat!($path, ".", stringify!($was)),
                    now: $now,
                },
            )* )? ],
            about: concat!($($doc),+).trim_ascii(),
            keys: &[ $(
                $crate::keys::declaration::Key {
                    path: concat!($path, ".", stringify!($field)),
                    about: concat!($($about),+).trim_ascii(),
                    ..$key
                },
            )* ],
        };
    };
}

/// Declares which tables are a study's: field, structure and section of each, and of what may stand
/// in it; behind a semicolon, which tables of other studies it reads.
#[macro_export]
macro_rules! tables {
    (
        $($field:ident: $raw:ident = $section:ident $(with $below:ident)?,)*
        $(; $($other:ident: $other_raw:ident = $other_section:ident,)*)?
    ) => {
        /// What a file says of the study.
        #[derive(Debug, Default)]
        pub struct RawTables {
            $(#[doc = concat!("`[", stringify!($field), "]`.")] pub $field: $crate::keys::declaration::Table<$raw>,)*
            $($(
                #[doc = concat!("`[", stringify!($other), "]`, declared by another study.")]
                pub $other: $crate::keys::declaration::Table<$other_raw>,
            )*)?
        }

        impl $crate::keys::declaration::Tables for RawTables {
            const SECTIONS: &'static [$crate::keys::declaration::Section] = &[$($section, $($below,)?)*];

            fn read(from: &mut $crate::keys::reader::TableReader<'_, '_>) -> Self {
                Self {
                    $($field: from.table($section.path),)*
                    $($($other: from.table($other_section.path),)*)?
                }
            }

            fn given(&self) -> Vec<$crate::keys::declaration::GivenTable> {
                let tables = [$(($section.path, &self.$field.place, self.$field.given_keys()),)*];
                let given = tables.into_iter().filter_map(|(path, place, keys)| {
                    let place = place.clone()?;
                    Some($crate::keys::declaration::GivenTable { path, place, keys })
                });
                given.collect()
            }
        }
    };
}
