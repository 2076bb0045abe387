-- The doctor's findings: each check that disturbs somewhere, on how many hosts, and what it says most often.
SELECT name, count(DISTINCT host) AS hosts, mode(says) AS says
FROM check_of WHERE state = 'disturbs' GROUP BY name ORDER BY hosts DESC, name;
