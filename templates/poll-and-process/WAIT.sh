# A script that sleeps costs nothing. You can stop and resume the run while it sleeps.
# --set seconds=… changes the pause.
sleep "${seconds:-60}"
echo "<goto>START</goto>"
