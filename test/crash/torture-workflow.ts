/**
 * Loops, a call into a loop of resets, forks, and nested forks with questions that have no answer.
 * Every step writes its input to a log. The values are large, so that the journal gets snapshots.
 * LEAF starts a background job without any mark of the run. The job must not outlive the run.
 */
export const TORTURE_WORKFLOW: Readonly<Record<string, string>> = {
  'torture/START.sh': script(`
note 0
for i in 1 2 3 4; do
  echo "<fork item=\\"$i &lt;ä &quot;q&quot;&gt;\\" input=\\"0 $pad\\">WORK</fork>"
done
echo "<goto input=\\"0 $pad\\">LOOP</goto>"`),
  'torture/LOOP.sh': script(`
n=\${RAYMOND_RESULT%% *}
note "$n"
if [ "$n" -lt 12 ]; then
  echo "<goto input=\\"$((n + 1)) $pad\\">LOOP</goto>"
else
  echo "<call return=\\"BACK\\" input=\\"$n\\">SUB</call>"
fi`),
  'torture/SUB.sh': script(`
note "$RAYMOND_RESULT"
echo "<reset input=\\"0 $pad\\">DEEP</reset>"`),
  'torture/DEEP.sh': script(`
n=\${RAYMOND_RESULT%% *}
note "$n"
if [ "$n" -lt 3 ]; then
  echo "<reset input=\\"$((n + 1)) $pad\\">DEEP</reset>"
else
  echo "<result>deep <goto>NOWHERE</goto> $RAYMOND_AGENT_ID $pad</result>"
fi`),
  'torture/BACK.sh': script(`
note back
echo "<result>main has \${RAYMOND_RESULT%% 0*}</result>"`),
  'torture/WORK.sh': script(`
n=\${RAYMOND_RESULT%% *}
note "$n"
case $n in
2)
  echo "<fork item=\\"leaf of \${item%% *}\\" input=\\"$pad\\">LEAF</fork>"
  echo "<goto input=\\"3 $pad\\">WORK</goto>" ;;
4) echo "<function return=\\"WORKED\\" input=\\"$n\\">SUB</function>" ;;
*) echo "<goto input=\\"$((n + 1)) $pad\\">WORK</goto>" ;;
esac`),
  'torture/LEAF.sh': script(`
note leaf
env -i setsid sleep 600 <&- >/dev/null 2>&1 &
echo '<ask next="NEVER" timeout="1.5s" timeout_next="LATE">Is anybody there?</ask>'`),
  'torture/NEVER.sh': script('note never; exit 1'),
  'torture/LATE.sh': script(`
note late
echo "<result>$item</result>"`),
  'torture/WORKED.sh': script(`
note worked
echo "<result>$item has \${RAYMOND_RESULT%% 0*}</result>"`),
};

/**
 * Joins of children that join their own children, a child that fails, a race whose losers are
 * stopped, and a deadline that no child meets. Losers write no note, because they may be stopped
 * before that. The child that fails writes none either: a resume retries it until a join has
 * reported it.
 */
export const JOIN_WORKFLOW: Readonly<Record<string, string>> = {
  'joins/START.sh': script(`
note "\${RAYMOND_RESULT:=0}"
for i in 1 2 3 4; do
  echo "<fork item=\\"$i\\" round=\\"$RAYMOND_RESULT\\">WORK</fork>"
done
echo '<join>MERGE</join>'`),
  'joins/WORK.sh': script(`
[ "$item" != 3 ] || exit 3
note "work $round"
echo "<fork item=\\"$item.1\\" input=\\"$pad\\">LEAF</fork><fork item=\\"$item.2\\">LEAF</fork>"
echo '<join>WORKED</join>'`),
  'joins/LEAF.sh': script(`
note leaf
echo "<result>leaf $item $pad</result>"`),
  'joins/WORKED.sh': script(`
note "worked $(joined)"
echo "<result>$item has \${#RAYMOND_RESULT}</result>"`),
  'joins/MERGE.sh': script(`
note "merge $(joined)"
for item in fast slow slower; do
  echo "<fork item=\\"$item\\" round=\\"$(round)\\">RACE</fork>"
done
echo '<join of="any">DONE</join>'`),
  'joins/RACE.sh': script(`
[ "$item" = fast ] || { sleep 60; echo '<result>too late</result>'; exit; }
note "race $round"
echo '<result>won</result>'`),
  'joins/DONE.sh': script(`
note "done $(joined)"
echo "<fork item=\\"late\\" round=\\"$(round)\\">RACE</fork>"
echo '<join timeout="1.5s" timeout_next="LATE" failed_next="LATE" rest="stop">NEVER</join>'`),
  'joins/NEVER.sh': script('note never; exit 1'),
  'joins/LATE.sh': script(`
note "late $(round) $(joined)"
[ "$(round)" = 2 ] || { echo "<goto input=\\"$(($(round) + 1))\\">START</goto>"; exit; }
echo "<result>$RAYMOND_RESULT</result>"`),
};

/** Only builtins, except in a step that should last. The note is one short write at the end of a file. */
export function script(body: string): string {
  return `
note() {
  printf '%s\\n' "$RAYMOND_AGENT_ID $RAYMOND_STATE $1 item=\${item-} got=\${#RAYMOND_RESULT} try=$RAYMOND_ATTEMPT" >>"$log"
  [ "$pause" = 0 ] || sleep "$pause"
}
joined() {
  cd "$RAYMOND_TASK_FOLDER/joined" && echo *
}
round() {
  local after=\${RAYMOND_RESULT#*\\"round\\":\\"}
  echo "\${after%%\\"*}"
}
printf -v pad '%020000d' 0
${body}
`;
}
