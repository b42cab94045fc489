SELECT at.branch, at.seq AS upto FROM at
    UNION ALL
    SELECT l.branch, l.upto FROM {schema}.branches b, unnest(b.froms, b.uptos) AS l(branch, upto)
    WHERE b.place = (SELECT place FROM at) AND b.branch = (SELECT branch FROM at)
