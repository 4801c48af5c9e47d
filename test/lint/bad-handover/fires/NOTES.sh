echo '<result>notes</result>'
