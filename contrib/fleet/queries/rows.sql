-- The view figure over rows of `oscost report --format csv` that were kept as Parquet; rows have neither mitigations nor checks.
-- Before it: SET VARIABLE rows = 'rows.parquet';
CREATE TEMP VIEW figure AS
SELECT coalesce(host, boot_id, file) AS host, boot_id, time, cpu_model, instance_type, kernel, id, revision, status, quantity,
       "value", unit, system_calls >= 0.5 AS enters
FROM read_parquet(getvariable('rows'))
WHERE launch IS NULL AND (judged OR judged IS NULL);
