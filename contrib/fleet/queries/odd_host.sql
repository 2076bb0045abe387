-- The odd host out: how far each host lies from the median of its model and kernel, in all figures that enter the kernel together.
-- Scales are median absolute deviations of hosts. A host is listed from 5 of them on.
WITH of_host AS (
    SELECT cpu_model, kernel, host, id, revision, quantity, median(ln("value")) AS position
    FROM figure WHERE status = 'measured' AND enters AND "value" > 0
    GROUP BY ALL
), centre AS (
    SELECT cpu_model, kernel, id, revision, quantity, median(position) AS centre, mad(position) / 0.6745 AS scale, count(*) AS hosts
    FROM of_host GROUP BY ALL HAVING count(*) >= 8
), apart AS (
    SELECT cpu_model, kernel, host, avg(greatest(-5, least(5, (position - centre) / scale))) AS score, median(position - centre) AS apart,
           count(*) AS figures
    FROM of_host JOIN centre USING (cpu_model, kernel, id, revision, quantity)
    WHERE scale > 0 GROUP BY ALL
), usual AS (
    SELECT cpu_model, kernel, median(score) AS centre, mad(score) / 0.6745 AS scale FROM apart GROUP BY ALL
)
SELECT host, cpu_model, kernel, figures, round(100 * (exp(apart) - 1), 1) AS percent, round((score - centre) / scale, 1) AS scales
FROM apart JOIN usual USING (cpu_model, kernel)
WHERE abs(score - centre) > 5 * scale
ORDER BY abs(score - centre) / scale DESC, host;
