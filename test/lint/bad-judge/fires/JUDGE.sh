echo '<result>YES</result>'
