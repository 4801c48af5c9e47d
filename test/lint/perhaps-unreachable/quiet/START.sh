if test -e next.txt; then echo "<goto>$(cat next.txt)</goto>"; else echo "<goto>A</goto>"; fi
