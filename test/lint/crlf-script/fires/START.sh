make test
echo '<result>done</result>'
