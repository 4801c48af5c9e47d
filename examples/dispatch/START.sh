# Starts a worker for each file here, all at the same time, and does not wait for them.
#
#   raymond examples/dispatch
#   raymond examples/dispatch --max-parallel 4
#
# Each <fork> is a separate agent. Its attributes are variables for all of that agent's states.
# The agent that forks continues with the <goto>. The run ends when the last agent has ended.

sent=0
for file in *; do
  [ -f "$file" ] || continue
  # An attribute of a tag is escaped as in XML.
  name=$(printf '%s' "$file" | sed -e 's/&/\&amp;/g' -e 's/"/\&quot;/g' -e 's/</\&lt;/g')
  echo "<fork file=\"$name\">COUNT</fork>"
  sent=$((sent + 1))
done
echo "<goto input=\"$sent\">SENT</goto>"
