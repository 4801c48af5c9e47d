# A script that sleeps costs nothing. You can stop and resume the run while it sleeps.
sleep "$seconds"
echo "<goto>START</goto>"
