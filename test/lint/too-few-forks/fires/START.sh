echo '<fork n="1">WORK</fork><fork n="2">WORK</fork><join of="3">MERGE</join>'
