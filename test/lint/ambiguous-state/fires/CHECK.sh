echo '<goto>CHECK.md</goto>'
