//! What no result may say: a figure beside an error, and an exit code that hides one. The judge is tried on results that are made
//! up, before anybody believes that it found nothing.

use oscost_results::{Figure, RunResult, Status, from_bytes};

/// What is wrong with a result and the code that its run ended with, in words.
pub fn wrong(result: &RunResult, code: Option<i32>) -> Vec<String> {
    let mut wrong: Vec<String> = result.figures.iter().flat_map(wrong_figure).collect();
    let own = || result.figures.iter().filter(|figure| figure.call_path != "foreign");
    let withheld = own().any(|figure| matches!(figure.status, Status::Failed | Status::Contradicted));
    if code == Some(0) && withheld {
        wrong.push("exit code 0 with a figure that failed".to_owned());
    }
    if code == Some(3) && own().all(|figure| figure.status == Status::Measured) {
        wrong.push("exit code 3, and every figure is there".to_owned());
    }
    wrong
}

fn wrong_figure(figure: &Figure) -> Vec<String> {
    let shown = figure.status == Status::Measured;
    let number = figure.quantities.get(&figure.headline);
    let finite = number.is_some_and(|number| number.estimate.value.is_finite());
    let properties = [
        (shown && figure.launches.is_empty(), "a figure, and no launch"),
        (shown && !finite, "measured, and no number"),
        (shown && figure.why.is_some(), "a figure, and a reason why there is none"),
        (!shown && !figure.quantities.is_empty(), "a number beside its reason"),
        (!shown && figure.why.as_deref().unwrap_or_default().is_empty(), "neither a figure nor a reason"),
    ];
    properties
        .iter()
        .filter(|(broken, _)| *broken)
        .map(|(_, words)| format!("{}: {words}", figure.id))
        .collect()
}

/// Whether the judge sees what it is there for, and nothing else.
pub fn is_sharp() -> Result<(), String> {
    let sample =
        from_bytes(include_bytes!("../../../results/tests/samples/v2.json")).map_err(|it| it.to_string())?;
    let measured = |result: &RunResult| result.figures.iter().position(|it| it.status == Status::Measured);
    let at = measured(&sample).ok_or("the sample has no measured figure")?;
    let only = |change: &dyn Fn(&mut Figure)| {
        let mut result = RunResult { figures: vec![sample.figures[at].clone()], ..sample.clone() };
        change(&mut result.figures[0]);
        result
    };
    let good = only(&|_| {});
    let failed = only(&|figure| {
        figure.status = Status::Failed;
        figure.quantities.clear();
        figure.launches.clear();
        figure.why = Some("semop: EIO (launch)".to_owned());
    });
    for (result, code) in [(&good, Some(0)), (&good, None), (&failed, Some(3))] {
        if let Some(words) = wrong(result, code).first() {
            return Err(format!("what is right is called wrong: {words}"));
        }
    }
    let bad: [(&str, RunResult, Option<i32>); 7] = [
        ("no launch", only(&|figure| figure.launches.clear()), Some(0)),
        ("no number", only(&|figure| figure.quantities.clear()), Some(0)),
        ("a reason", only(&|figure| figure.why = Some("semop: EIO".to_owned())), Some(0)),
        (
            "a failed figure with numbers",
            only(&|figure| {
                figure.status = Status::Failed;
                figure.why = Some("semop: EIO".to_owned());
            }),
            Some(3),
        ),
        (
            "a failed figure without a reason",
            only(&|figure| {
                figure.status = Status::Failed;
                figure.quantities.clear();
            }),
            Some(3),
        ),
        ("code 0 beside a failure", failed, Some(0)),
        ("code 3 without one", good, Some(3)),
    ];
    match bad.iter().find(|(_, result, code)| wrong(result, *code).is_empty()) {
        Some((name, ..)) => Err(format!("it does not see {name}")),
        None => Ok(()),
    }
}
