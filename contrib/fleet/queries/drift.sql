-- Drift since the last boot: hosts whose figures in their newest boot lie apart from those of the boot before, beyond what others do.
WITH of_boot AS (
    SELECT host, boot_id, max(time) AS time, cpu_model FROM figure WHERE boot_id IS NOT NULL GROUP BY ALL
), numbered AS (
    SELECT host, boot_id, row_number() OVER (PARTITION BY host ORDER BY time DESC) AS back FROM of_boot
), of_host AS (
    SELECT figure.host, back, id, revision, quantity, median(ln("value")) AS position
    FROM figure JOIN numbered USING (host, boot_id)
    WHERE back <= 2 AND status = 'measured' AND enters AND "value" > 0
    GROUP BY ALL
), moved AS (
    SELECT host, median(now.position - before.position) AS moved, count(*) AS figures
    FROM (FROM of_host WHERE back = 1) AS now JOIN (FROM of_host WHERE back = 2) AS before USING (host, id, revision, quantity)
    GROUP BY host
), usual AS (SELECT median(moved) AS centre, mad(moved) / 0.6745 AS scale FROM moved)
SELECT host, figures, round(100 * (exp(moved) - 1), 1) AS percent, round((moved - centre) / scale, 1) AS scales
FROM moved, usual
WHERE abs(moved - centre) > 5 * scale
ORDER BY abs(moved - centre) DESC, host;
