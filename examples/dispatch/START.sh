# Starts an agent for each file here, all at the same time, and adds up what they found.
#
#   raymond examples/dispatch
#   raymond examples/dispatch --max-parallel 4
#
# Each <fork> is a separate agent. Its attributes are variables for all of that agent's states.
# The agent that forks waits with the <join>, and continues at SUM when the last of them has ended.

for file in *; do
  [ -f "$file" ] || continue
  # An attribute of a tag is escaped as in XML.
  name=$(printf '%s' "$file" | sed -e 's/&/\&amp;/g' -e 's/"/\&quot;/g' -e 's/</\&lt;/g')
  echo "<fork file=\"$name\">COUNT</fork>"
done
echo '<join>SUM</join>'
