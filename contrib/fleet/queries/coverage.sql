-- Coverage: of each figure, on how many hosts it has a number, and its state on the others.
SELECT id, count(DISTINCT host) AS hosts, count(DISTINCT host) FILTER (status = 'measured') AS measured,
       string_agg(DISTINCT status, ', ' ORDER BY status) FILTER (status <> 'measured') AS others
FROM figure GROUP BY id ORDER BY measured, id;
