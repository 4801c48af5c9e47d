echo "<result>Not released: nobody answered in 24 hours. To ask again, start a new run.</result>"
