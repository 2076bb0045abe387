//! Tests of what the program says and of the sources themselves: none measures.

mod answers;
mod corpus;
mod disassembly;
mod documents;
mod layers;
mod one_meaning;
mod prose;
mod rooms;
mod sources;
