# Fewer than two reviewers gave a result: they failed, or 30 minutes have passed.
echo '<result>No verdict: fewer than two reviewers gave a result.</result>'
