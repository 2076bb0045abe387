//! Tests of what the program says and of the sources themselves: none measures.

mod answers;
mod corpus;
mod disassembly;
mod documents;
mod edition;
mod layers;
mod modules;
mod one_meaning;
mod prose;
mod repository;
mod sources;
