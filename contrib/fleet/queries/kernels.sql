-- Kernel B against kernel A within an instance type: each pair of kernels, over the hosts that run them.
-- The interval is 95 % of the difference of two medians over hosts.
WITH of_host AS (
    SELECT coalesce(instance_type, cpu_model) AS type, kernel, host, id, revision, quantity, median(ln("value")) AS position
    FROM figure WHERE status = 'measured' AND "value" > 0 GROUP BY ALL
), of_kernel AS (
    SELECT type, kernel, id, revision, quantity, median(position) AS position, 1.2533 * mad(position) / 0.6745 / sqrt(count(*)) AS error, count(*) AS hosts
    FROM of_host GROUP BY ALL HAVING count(*) >= 8
)
SELECT type, a.kernel AS a, b.kernel AS b, id, quantity, round(100 * (exp(b.position - a.position) - 1), 1) AS percent,
       round(196 * sqrt(a.error ** 2 + b.error ** 2), 1) AS plus_minus, a.hosts AS hosts_a, b.hosts AS hosts_b
FROM of_kernel AS a JOIN of_kernel AS b USING (type, id, revision, quantity)
WHERE a.kernel < b.kernel
ORDER BY type, a, b, id;
