next=$(cat next.txt)
echo "<goto>$next</goto>"
