-- Views over result files: figure (one row a figure of a result), check_of (one a check of the doctor), result (one a result),
-- file (one a file, with what it is). A damaged file costs no other: left_out.sql counts them.
-- Before it: SET VARIABLE results = 'folder/**/*.json';
-- Files of more than 16 MiB are no results. DuckDB does not compare their checksums: `oscost report` does.
CREATE TEMP TABLE read AS
SELECT filename, size <= 16777216 AS fits, CASE WHEN fits THEN TRY(from_json(CASE WHEN json_valid(text) THEN text END, '{
    "format": "VARCHAR", "started": "TIMESTAMP", "duration_ns": "UBIGINT", "partial": "BOOLEAN",
    "machine": {"cpu_model": "VARCHAR", "hypervisor": "VARCHAR", "instance_type": "VARCHAR", "host": "VARCHAR"},
    "conditions": {"kernel": "VARCHAR", "microcode": "VARCHAR", "mitigations": "VARCHAR", "boot_id": "VARCHAR"},
    "plan": {"seed": "UBIGINT"},
    "doctor": [{"check": "VARCHAR", "state": "VARCHAR", "says": "VARCHAR"}],
    "figures": [{"id": "VARCHAR", "revision": "INTEGER", "status": "VARCHAR", "headline": "VARCHAR", "judged": "VARCHAR",
                 "call_path": "VARCHAR",
                 "quantities": "MAP(VARCHAR, STRUCT(\"value\" DOUBLE, low DOUBLE, high DOUBLE, unit VARCHAR))",
                 "evidence": {"system_calls": "MAP(VARCHAR, DOUBLE)"}}]}')) END AS it
FROM (SELECT filename, size, TRY(decode(content)) AS text FROM read_blob(getvariable('results')));

CREATE TEMP TABLE raw AS
SELECT DISTINCT ON (started, duration_ns, plan.seed, conditions.boot_id) *
FROM (SELECT filename, unnest(it) FROM read WHERE it.format = 'oscost-result')
ORDER BY filename;

CREATE TEMP VIEW file AS
SELECT filename, CASE WHEN NOT fits THEN 'too large' WHEN it IS NULL THEN 'damaged' WHEN it.format IS DISTINCT FROM 'oscost-result'
    THEN 'no result' WHEN filename IN (SELECT filename FROM raw) THEN 'result' ELSE 'copy' END AS state
FROM read;

CREATE TEMP VIEW result AS
SELECT coalesce(nullif(machine.host, ''), conditions.boot_id, filename) AS host, conditions.boot_id AS boot_id, started AS time, partial,
       machine.cpu_model AS cpu_model, machine.instance_type AS instance_type, conditions.kernel AS kernel,
       conditions.mitigations AS mitigations, doctor, figures
FROM raw;

CREATE TEMP TABLE figure AS
SELECT host, boot_id, time, cpu_model, instance_type, kernel, mitigations, f.id AS id, coalesce(f.revision, 1) AS revision,
       f.status AS status, quantity, f.quantities[quantity]."value" AS "value", f.quantities[quantity].unit AS unit,
       f.status = 'measured' AND list_sum(map_values(f.evidence.system_calls)) >= 0.5 AS enters
FROM (SELECT * EXCLUDE (figures), unnest(figures) AS f FROM result) AS one,
     LATERAL (SELECT coalesce(nullif(f.judged, ''), f.headline) AS quantity);

CREATE TEMP VIEW check_of AS
SELECT host, time, c."check" AS name, c.state AS state, c.says AS says
FROM (SELECT host, time, unnest(doctor) AS c FROM result);
