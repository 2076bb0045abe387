//! Records of a run, piece by piece: the journal keeps them, and figures are made of them.

use serde::{Deserialize, Serialize};

use super::message::{Audited, Failure, Launched, Pair};

/// What a run finds, piece by piece. The figures follow from these alone ([`crate::rebuild`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// The audit of one benchmark.
    Audited {
        /// Its id.
        id: String,
        /// What was counted.
        audited: Audited,
    },
    /// One launch of one group.
    Launched {
        /// Position in the run.
        sequence: u32,
        /// Ids and what each yielded.
        members: Vec<(String, Launched)>,
        /// Paired comparisons.
        pairs: Vec<Pair>,
        /// How idle CPUs were kept awake, or why they were not, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        awake: Option<Result<String, String>>,
    },
    /// What else became of members of a launch.
    Befell {
        /// Their ids.
        ids: Vec<String>,
        /// What it was.
        what: Befell,
        /// How many launches of each this group had recorded; nothing in older journals.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        launches: Vec<usize>,
    },
}

/// What becomes of members of a launch besides what it measures of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Befell {
    /// The launch does not count, for this reason.
    Void(String),
    /// A CPU quota stopped it.
    Throttled,
    /// A call failed: what the launch measured of them is thrown away.
    Failed(Failure),
    /// They ended the worker, and are not measured.
    Lost(Failure),
    /// They cannot be measured here.
    Unsupported {
        /// What is lacking.
        why: String,
        /// What would mend it.
        remedy: String,
    },
}

/// Puts what one more launch says of idle CPUs to what others said: where one was refused, a run does not say that they were awake.
pub(crate) fn add_awake(awake: &mut Option<Result<String, String>>, more: Option<&Result<String, String>>) {
    if !matches!(awake, Some(Err(_))) && (awake.is_none() || matches!(more, Some(Err(_)))) {
        *awake = more.cloned();
    }
}

/// How idle CPUs were kept awake in the launches of a run, if they were in all.
#[must_use]
pub fn kept_awake(records: &[Record]) -> Option<String> {
    let mut awake = None;
    for record in records {
        if let Record::Launched { awake: more, .. } = record {
            add_awake(&mut awake, more.as_ref());
        }
    }
    awake?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_launch_in_which_a_cpu_slept_is_enough() {
        let launch = |awake: Option<Result<&str, &str>>| Record::Launched {
            sequence: 1,
            members: Vec::new(),
            pairs: Vec::new(),
            awake: awake.map(|it| it.map(str::to_owned).map_err(str::to_owned)),
        };
        let of = |awake: &[Option<Result<&str, &str>>]| {
            let text = serde_json::to_string(&awake.iter().map(|it| launch(*it)).collect::<Vec<_>>());
            kept_awake(&serde_json::from_str::<Vec<Record>>(&text.expect("data")).expect("the same"))
        };
        let (how, why) = (Some(Ok("by a device")), Some(Err("refused")));
        assert_eq!(of(&[None, how, None]).as_deref(), Some("by a device"));
        assert_eq!((of(&[how, why, how]), of(&[why, how]), of(&[None])), (None, None, None));
        let old = r#"{"Launched":{"sequence":1,"members":[],"pairs":[]}}"#;
        assert_eq!(kept_awake(&[serde_json::from_str(old).expect("an older journal")]), None);
    }
}
