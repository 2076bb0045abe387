//! A comparison as data.

use serde_json::{Value, json};

use super::Comparison;

/// The comparison as one JSON object; changes, intervals and margins are shares (0.05 is + 5 %).
#[must_use]
pub fn comparison_json(comparison: &Comparison<'_>) -> Value {
    let differing = |all: &[super::Differs]| -> Vec<Value> {
        all.iter().map(|it| json!({"what": it.what, "a": it.a, "b": it.b})).collect()
    };
    let rows: Vec<Value> = comparison
        .rows
        .iter()
        .map(|row| {
            json!({
                "id": row.id, "unit": row.unit, "verdict": row.verdict.name(), "why": row.why,
                "a": {"value": row.a.value, "low": row.a.low, "high": row.a.high},
                "b": {"value": row.b.value, "low": row.b.low, "high": row.b.high},
                "change": row.change.map(|change| json!({
                    "value": change.change, "low": change.low, "high": change.high, "margin": change.margin,
                })),
                "typical_change": row.typical,
            })
        })
        .collect();
    let evidence: Vec<Value> = comparison
        .evidence
        .iter()
        .map(|it| json!({"id": it.id, "what": it.what, "a": it.a, "b": it.b}))
        .collect();
    let states = |all: &[super::OneSided]| -> Vec<Value> {
        all.iter().map(|it| json!({"id": it.id, "a": it.a, "b": it.b})).collect()
    };
    json!({
        "format": "oscost-comparison", "version": 1,
        "a": comparison.a, "b": comparison.b,
        "machine": differing(&comparison.machine), "conditions": differing(&comparison.conditions),
        "warnings": comparison.warnings, "evidence": evidence, "figures": rows, "one_sided": states(&comparison.one_sided),
        "neither": states(&comparison.neither),
    })
}
