/** Joins with real processes: what people see, and what survives a crash. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';

const FLOW = {
  'flow/START.sh': `echo '<fork n="1">WORK</fork><fork n="2">WORK</fork><fork n="3">WORK</fork>'
echo '<join of="any" failed_next="REPAIR">MERGE</join>'`,
  'flow/WORK.sh': `echo $$ >>"began$n"
case $n in
1) until [ -e go ]; do sleep 0.02; done; echo "<result>the first</result>" ;;
2) exit 3 ;;
3) trap '' TERM; while :; do sleep 0.05; done ;;
esac`,
  'flow/MERGE.sh': `cp -r "$RAYMOND_TASK_FOLDER/joined" .
printf '<result>%s</result>' "$(cat "$RAYMOND_RESULT_FILE")"`,
  'flow/REPAIR.sh': `echo '<result>repaired</result>'`,
};

async function waiting() {
  const project = newProject(FLOW);
  const started = project.start(['flow', '--workflow-id', 'joins']);
  const journal = () => project.lines('.raymond', 'state', 'joins.jsonl').join('\n');
  await eventually('one child has failed, and two work', () => {
    const began = ['began1', 'began3'].every((file) => project.lines(file).length > 0);
    return began && journal().includes('"agent-failed"');
  });
  return { project, started, journal };
}

test('show says who waits for whom, and show --json has the result of every child', async () => {
  const { project, started } = await waiting();
  const during = await command(project, ['show', 'joins']);
  expect(during.stdout).toMatch(
    /main +START\.sh .* waits for 2 of 3 children: main_work1, main_work2, main_work3/,
  );
  project.write('go', '');
  const { code, stdout, stderr } = await started.ended;
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([
    { agent: 'main_work1', status: 'ended', result: 'the first', failure: null },
    { agent: 'main_work2', status: 'failed', result: null, failure: { kind: 'script-failed' } },
    { agent: 'main_work3', status: 'stopped', result: null, variables: { n: '3' } },
  ]);
  expect(stderr).toContain(', joins reported 1 failed child agent and 1 stopped child agent');
  expect(readdirSync(project.path('joined'))).toEqual(['main_work1']);
  expect(project.read('joined', 'main_work1')).toBe('the first');

  const after = await command(project, ['show', 'joins']);
  expect(after.stdout).toMatch(
    /main_work2 +n=2 +WORK\.sh .* failed \(joined\): WORK\.sh exited with 3\./,
  );
  expect(after.stdout).toMatch(/main_work3 +n=3 +WORK\.sh .* stopped by a join/);
  const { agents } = JSON.parse((await command(project, ['show', 'joins', '--json'])).stdout);
  expect(agents).toMatchObject([
    { id: 'main', status: { kind: 'ended' } },
    { id: 'main_work1', parent: 'main', status: { kind: 'ended', result: { text: 'the first' } } },
    { id: 'main_work2', status: { kind: 'failed', failure: { kind: 'script-failed' } } },
    { id: 'main_work3', status: { kind: 'stopped', by: 'join' }, variables: { n: '3' } },
  ]);

  const [debug = ''] = readdirSync(project.path('.raymond', 'debug'));
  const log = project.read('.raymond', 'debug', debug, 'transitions.log');
  expect(log).toContain(
    '[main] START.sh -> MERGE.sh (join: waits for main_work1, main_work2, main_work3)',
  );
  expect(log).toContain('[main_work3] WORK.sh -> (stopped by main)');
  expect(log).toContain('[main] START.sh -> MERGE.sh (join: reached)');

  // Nothing is retried: the failure is handled.
  const again = await command(project, ['resume', 'joins']);
  expect([again.code, project.lines('began2').length]).toEqual([0, 1]);
});

test('a crash while the rest is stopped is finished by a resume', async () => {
  const { project, started, journal } = await waiting();
  project.write('go', '');
  // The third child ignores the polite signal, so there is time for this.
  await eventually('the stop is recorded', () => journal().includes('"agent-stop-requested"'));
  started.child.kill('SIGKILL');
  await started.ended;
  expect(journal()).not.toContain('"join-reported"');
  const { code, stdout, stderr } = await command(project, ['resume', 'joins']);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).map(({ status }: { status: string }) => status)).toEqual([
    'ended',
    'failed',
    'stopped',
  ]);
  expect(journal().match(/"join-reported"/g)).toHaveLength(1);
  expect([project.lines('began2').length, project.lines('began3').length]).toEqual([1, 1]);
});

test('a stop and a resume continue the join, and an open question of a stopped child is gone', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<fork n="1">WORK</fork><fork n="2">WORK</fork><join of="any">END</join>'`,
    'flow/WORK.sh': `[ "$n" = 2 ] && { echo '<ask next="END">Which?</ask>'; exit; }
until [ -e go ]; do sleep 0.02; done
echo '<result>one</result>'`,
    'flow/END.sh': 'echo "<result>end</result>"',
  });
  const started = project.start(['flow', '--workflow-id', 'asked']);
  const journal = () => project.lines('.raymond', 'state', 'asked.jsonl').join('\n');
  await eventually('the question is open', () => journal().includes('"agent-asked"'));
  expect(await command(project, ['stop', 'asked', '--now'])).toMatchObject({ code: 0 });
  expect((await started.ended).code).toBe(130);
  project.write('go', '');
  const { code, stdout, stderr } = await command(project, ['resume', 'asked']);
  expect([code, stdout], stderr).toEqual([0, 'end\n']);
  const answer = await command(project, ['answer', 'asked', 'this one']);
  expect(answer.code).not.toBe(0);
});
