import { expect, onTestFinished, test } from 'vitest';
import { newDatabase } from '../postgres/new-database.ts';
import { Fleet } from './fleet.ts';

async function newFleet(files: Readonly<Record<string, string>>): Promise<Fleet> {
  const fleet = await Fleet.open(await newDatabase(), files);
  onTestFinished(() => fleet.dispose());
  return fleet;
}

/** Loops, calls a workflow, forks workers and joins them, and asks a person. */
const FLOW = {
  'flow/START.sh': `n=$(( \${RAYMOND_RESULT:-0} + 1 ))
if [ $n -lt 20 ]; then echo "<goto input=\\"$n\\">START.sh</goto>"
else echo '<call return="BACK.sh">CALLED.sh</call>'; fi
`,
  'flow/CALLED.sh': 'echo "<result>called</result>"\n',
  'flow/BACK.sh': `echo '<fork n="1">W.sh</fork><fork n="2">W.sh</fork><join>ASK.sh</join>'\n`,
  'flow/W.sh': 'echo "<result>worked</result>"\n',
  'flow/ASK.sh': `echo '<ask next="END.sh">Go on?</ask>'\n`,
  'flow/END.sh': 'echo "<result>$RAYMOND_RESULT</result>"\n',
};

test('workers carry a run with loops, calls, forks, joins and a question', async () => {
  const fleet = await newFleet(FLOW);
  const run = await fleet.begin('flow');
  const workers = [fleet.worker('a'), fleet.worker('b')];
  await fleet.asks(run);
  const [question] = [...(await fleet.look(run)).agents].flatMap(([agent, { status }]) =>
    status.kind === 'asking' ? [{ agent, askedAt: status.askedAt }] : [],
  );
  expect(question).toBeDefined();
  if (question)
    await fleet.store.mailbox(run).post({ kind: 'answer', ...question, text: 'yes, <b>go</b>' });
  const ended = await fleet.ended(run).catch((error) => {
    console.log(workers.map((one) => one.stderr()));
    throw error;
  });
  expect(ended).toMatchObject({
    status: { kind: 'ended', outcome: 'completed' },
    result: 'yes, <b>go</b>',
  });
});

test('a worker drains: its steps finish, and another worker continues', async () => {
  const fleet = await newFleet({
    'flow/START.sh':
      'echo $$ > began; while [ ! -e go ]; do sleep 0.05; done\necho "<goto>NEXT.sh</goto>"\n',
    'flow/NEXT.sh': 'echo "<result>$RAYMOND_ATTEMPT</result>"\n',
  });
  const run = await fleet.begin('flow');
  const first = fleet.worker('a');
  await fleet.file('began');
  first.child.kill('SIGINT');
  fleet.project.write('go', '');
  expect(await first.ended).toMatchObject({ code: 0 });
  const { agents } = await fleet.look(run);
  expect([...agents].map(([, { state, status }]) => [state, status.kind])).toEqual([
    ['NEXT.sh', 'running'],
  ]);
  fleet.worker('b');
  expect(await fleet.ended(run)).toMatchObject({ result: '1' });
});
