# A script that sleeps costs nothing, and the run can be stopped and resumed meanwhile.
# --set seconds=… changes how long.
sleep "${seconds:-60}"
echo "<goto>START</goto>"
