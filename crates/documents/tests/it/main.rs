//! Tests of the founding documents' statements.

mod statements;
