//! Comparisons as JSON.

use serde_json::{Value, json};

use crate::judge::{
    Agreement, Changes, Compared, Comparison, Differs, OneSided, Side, Verdict, name_of_pair,
};

/// The comparison as one JSON object; changes, intervals and the threshold are shares (0.05 is + 5 %).
#[must_use]
pub fn comparison_json(comparison: &Comparison<'_>) -> Value {
    let differing = |all: &[Differs]| -> Vec<Value> {
        all.iter().map(|it| json!({"what": it.what, "a": it.a, "b": it.b})).collect()
    };
    let rows = |rows: &[Compared], name: fn(Verdict) -> &'static str| -> Vec<Value> {
        rows.iter().map(|of| row(of, name(of.verdict))).collect()
    };
    let evidence: Vec<Value> = comparison
        .evidence
        .iter()
        .map(|it| json!({"id": it.id, "what": it.what, "a": it.a, "b": it.b}))
        .collect();
    let states = |all: &[OneSided]| -> Vec<Value> {
        all.iter().map(|it| json!({"id": it.id, "a": it.a, "b": it.b})).collect()
    };
    let (blind, all) = comparison.blind();
    json!({
        "format": "oscost-comparison", "version": 2,
        "a": comparison.a, "b": comparison.b, "threshold": comparison.threshold,
        "machine": differing(&comparison.machine), "conditions": differing(&comparison.conditions),
        "warnings": comparison.warnings, "evidence": evidence,
        "figures": rows(&comparison.rows, Verdict::name), "paired": rows(&comparison.pairs, name_of_pair),
        "one_sided": states(&comparison.one_sided), "neither": states(&comparison.neither),
        "not_judged": {"count": blind, "of": all},
    })
}

fn row(row: &Compared, verdict: &str) -> Value {
    let side = |of: &oscost_results::Estimate| json!({"value": of.value, "low": of.low, "high": of.high});
    json!({
        "id": row.id, "quantity": row.quantity, "unit": row.unit, "verdict": verdict, "why": row.why,
        "a": side(&row.a), "b": side(&row.b), "changed": row.changed, "baseline_only": row.baseline_only,
        "change": row.change.map(|change| json!({
            "value": change.change, "low": change.low, "high": change.high, "level": change.level,
        })),
    })
}

/// Our figures beside those of other tools as data.
#[must_use]
pub fn agreement_json(rows: &[Agreement]) -> Value {
    let side = |side: &Result<Side, String>| match side {
        Ok(side) => json!({
            "value": side.quoted.value, "low": side.quoted.low, "high": side.quoted.high, "best": side.best,
            "spread": side.spread, "seconds": side.seconds, "unit": "ns",
        }),
        Err(why) => json!({ "why": why }),
    };
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "peer": row.peer, "version": row.version, "measures": row.measures, "conversion": row.conversion,
                "found": side(&row.found),
                "id": row.ours.0, "ours": side(&row.ours.1),
                "ratio": row.ratio.map(|ratio| json!({"value": ratio.value, "low": ratio.low, "high": ratio.high})),
                "best_ratio": row.best(), "verdict": row.verdict(),
            })
        })
        .collect();
    json!({ "format": "oscost-crosscheck", "version": 1, "rows": rows })
}

/// Two results of counts against each other as data.
pub(crate) fn changes(changes: &Changes) -> Value {
    let differing = changes.differing.iter();
    let differing = differing.map(|(what, before, now)| json!({"what": what, "a": before, "b": now}));
    // Whole numbers are written as such: only parts of an iteration have none.
    let own = |own: f64| if own.fract() > 0.0 { json!(own) } else { json!(own as u64) };
    let function =
        |(name, before, now): &(String, f64, f64)| json!({"name": name, "a": own(*before), "b": own(*now)});
    let rows = changes.rows.iter().map(|row| {
        json!({
            "id": row.id, "unit": "instructions", "verdict": row.verdict.word(), "why": row.why,
            "a": row.before, "b": row.now, "change": row.difference(),
            "functions": row.functions.iter().map(function).collect::<Vec<_>>(),
        })
    });
    json!({
        "format": "oscost-comparison-of-counts", "version": 1,
        "conditions": differing.collect::<Vec<_>>(), "figures": rows.collect::<Vec<_>>(),
    })
}
