//! The macros that declare tables and their keys.

/// Declares a table: its structure for serde, and its
/// [`Section`](crate::keys::declaration::Section) with the keys. The comment of a key is what it
/// is; behind the type of its field stands what is allowed. Tables in the table are named last.
/// `list` after the path says that there may be several of them.
#[macro_export]
macro_rules! section {
    (
        $( #[doc = $doc:literal] )+
        $section:ident = $path:literal $($list:ident)?, $raw:ident {
            $( $( #[doc = $about:literal] )+ $field:ident: $type:ty = $key:expr, )*
        }
        $( tables { $( $( #[doc = $below:literal] )+ $table:ident: $table_type:ty, )* } )?
    ) => {
        #[doc = concat!($($doc),+)]
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $raw {
            $( #[doc = concat!($($about),+)] pub $field: $type, )*
            $( $( #[doc = concat!($($below),+)] #[serde(default)] pub $table: $table_type, )* )?
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
        }

        #[doc = concat!($($doc),+)]
        pub const $section: $crate::keys::declaration::Section = $crate::keys::declaration::Section {
            path: $path,
            is_list: !concat!($(stringify!($list))?).is_empty(),
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

            fn given(&self) -> Vec<(&'static str, std::ops::Range<usize>)> {
                let places = [$(($section.path, &self.$field.place),)*];
                places.into_iter().filter_map(|(path, place)| Some((path, place.clone()?))).collect()
            }
        }
    };
}
