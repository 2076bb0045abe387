//! What is known, from the cards of this program.

use oscost_documents::{ALL, DocumentParameters, Found};
use oscost_families::FAMILIES;
use oscost_harness::{Choice, Setting, Tier, lacking, stated, uncountable};

use super::{Catalogue, Key, Known, KnownDocument, KnownFamily, Statement};
use crate::commands::catalogue as benchmarks;

/// Everything that is listed, and the whole grids.
pub fn catalogue() -> Catalogue {
    let cpus = cpus();
    Catalogue {
        cards: benchmarks().tier(Tier::Thorough).iter().map(|choice| known(choice, &cpus)).collect(),
        families: FAMILIES
            .iter()
            .map(|family| KnownFamily {
                name: family.name.to_owned(),
                description: family.description.to_owned(),
                keys: family.settings.iter().map(key).collect(),
            })
            .collect(),
        documents: ALL.iter().map(|document| of_document(document)).collect(),
    }
}

/// A benchmark that no list has: its id carries values of parameters, or it is hidden.
pub fn resolve(id: &str) -> Option<&'static Known> {
    let benchmark = benchmarks().find(id)?;
    // It lives as long as its card does, which is leaked too.
    Some(Box::leak(Box::new(known(&Choice { benchmark, named: true }, &cpus()))))
}

fn cpus() -> Vec<usize> {
    oscost_sys::affinity::allowed().unwrap_or_else(|_| vec![0])
}

fn known(choice: &Choice, cpus: &[usize]) -> Known {
    let card = choice.card();
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let claims = card.claims.iter().map(stated);
    Known {
        id: card.id.to_owned(),
        revision: card.revision,
        title: card.title.to_owned(),
        operation: card.operation.to_owned(),
        operations_per_iteration: card.operations_per_iteration,
        call_path: card.call_path.name().to_owned(),
        blocks: card.blocks,
        placement: card.placement.name().to_owned(),
        group: card.group.to_owned(),
        baseline: owned(card.baseline),
        subtract: owned(card.subtract),
        tier: card.tier,
        document: owned(card.document),
        headline: card.headline().to_owned(),
        claims: claims.map(|claim| (claim.claim, claim.expected)).collect(),
        traits: card.traits.to_vec(),
        remark: card.remark.to_owned(),
        lack: lacking(choice, cpus),
        countable: uncountable(card).is_none(),
    }
}

fn of_document(document: &oscost_documents::Document) -> KnownDocument {
    // Judged from nothing: what is stated does not depend on what was measured.
    let rows = document.judge(&Found::of(&[], &[], &[]), &DocumentParameters::default());
    let statement = |row: oscost_results::Reproduction| {
        Some(Statement { place: row.place, words: row.statement?, ours: row.ours })
    };
    KnownDocument {
        name: document.founding.name.to_owned(),
        number: document.founding.number.to_owned(),
        title: document.founding.title.to_owned(),
        keys: document.settings.iter().map(key).collect(),
        statements: rows.into_iter().filter_map(statement).collect(),
    }
}

fn key(setting: &Setting) -> Key {
    Key {
        key: setting.key.to_owned(),
        what: setting.what.to_owned(),
        values: setting.values(),
        words: setting.words().into_iter().map(str::to_owned).collect(),
        many: setting.many,
        default: setting.default.to_owned(),
    }
}
