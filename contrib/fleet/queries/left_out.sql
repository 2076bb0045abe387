-- What was left out: files by what they are. A copy is a run that another file has, too.
SELECT state, count(*) AS files, min(filename) AS first FROM file GROUP BY state ORDER BY state;
