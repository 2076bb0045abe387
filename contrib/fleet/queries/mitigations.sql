-- What mitigations cost in this fleet: hosts of one model with any that says Vulnerable, against the others. They may differ in
-- their kernels too: those are listed.
WITH of_host AS (
    SELECT cpu_model, mitigations LIKE '%Vulnerable%' AS off, host, any_value(kernel) AS kernel, id, revision, quantity,
           median(ln("value")) AS position
    FROM figure WHERE status = 'measured' AND "value" > 0 AND mitigations IS NOT NULL
    GROUP BY cpu_model, off, host, id, revision, quantity
), of_state AS (
    SELECT cpu_model, off, id, revision, quantity, median(position) AS position, count(*) AS hosts, string_agg(DISTINCT kernel, ', ' ORDER BY kernel) AS kernels
    FROM of_host GROUP BY cpu_model, off, id, revision, quantity HAVING count(*) >= 8
)
SELECT cpu_model, id, quantity, round(100 * (exp(a.position - b.position) - 1), 1) AS percent, a.hosts AS hosts_on, b.hosts AS hosts_off,
       a.kernels AS kernels_on, b.kernels AS kernels_off
FROM (FROM of_state WHERE NOT off) AS a JOIN (FROM of_state WHERE off) AS b USING (cpu_model, id, revision, quantity)
ORDER BY percent DESC, id;
