-- Rows of NDJSON to rows.parquet, which rows.sql reads. A member that no row has is NULL; a line that is no row, as in a log, is left out.
-- Before it: SET VARIABLE ndjson = 'rows.ndjson';
COPY (FROM read_json(getvariable('ndjson'), format = 'newline_delimited', ignore_errors = true, columns = {
    id: 'VARCHAR', family: 'VARCHAR', status: 'VARCHAR', verdict: 'VARCHAR', marks: 'VARCHAR[]', quantity: 'VARCHAR',
    headline: 'BOOLEAN', "value": 'DOUBLE', low: 'DOUBLE', high: 'DOUBLE', extremes: 'BOOLEAN', unit: 'VARCHAR',
    operation: 'VARCHAR', call_path: 'VARCHAR', placement: 'VARCHAR', system_calls: 'DOUBLE', launches: 'BIGINT', why: 'VARCHAR',
    remedy: 'VARCHAR', revision: 'BIGINT', judged: 'BOOLEAN', launch: 'BIGINT', host: 'VARCHAR', boot_id: 'VARCHAR',
    cpu_model: 'VARCHAR', hypervisor: 'VARCHAR', instance_type: 'VARCHAR', kernel: 'VARCHAR', libc: 'VARCHAR',
    microcode: 'VARCHAR', result_id: 'VARCHAR', time: 'TIMESTAMP', file: 'VARCHAR', partial: 'BOOLEAN'})
    WHERE id IS NOT NULL) TO 'rows.parquet';
