/** What a step said, with `raymond show RUN AGENT:STEP`. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';

const FAKE_CLAUDE = join(import.meta.dirname, '..', 'real-agent', 'fake-claude.js');

const FLOW = {
  'flow/START.md': `---
ensures:
  - { run: "echo all is well", say: It must be well. }
---
Review the change.`,
};

test('the prompt, the words, the check and the cost of a turn', async () => {
  const project = newProject(FLOW);
  const env = {
    RAYMOND_CLAUDE: FAKE_CLAUDE,
    FAKE_CLAUDE: 'acts',
    FAKE_CLAUDE_COMMAND: '',
    FAKE_CLAUDE_ANSWER: 'I have read \x1b[31mit. <result>good</result>',
    FAKE_CLAUDE_LOG: project.path('agent.log'),
  };
  expect(await project.run(['flow', '--workflow-id', 'r'], { env })).toMatchObject({ code: 0 });
  const { code, stdout } = await project.run(['show', 'r', 'main:1']);
  expect(code).toBe(0);
  expect(stdout.replaceAll(/\d\d:\d\d:\d\d|\d+\.\d s|\$[\d.]+/g, 'N')).toBe(`\
main:1 START.md (by claude), started N

prompt
  | Review the change.

says
  | I have read \\x1b[31mit. <result>good</result>

ended (N, N, x)

check, step 2 (exit 0, N)
  | all is well
`);
  const logs = async (...options: readonly string[]) =>
    (await project.run(['logs', 'r', ...options])).stdout;
  const verbose = await logs('--verbose');
  // The conversation stands before the line about the end of the step.
  expect(verbose).toMatch(
    /^main:1 START\.md \(by claude\)[\s\S]*\| Review the change\.[\s\S]*says\n {2}\| I have read \\x1b\[31mit[\s\S]*^main:2 [\s\S]*\| all is well\n[\s\S]*run +r completed/m,
  );
  expect(await logs('--verbose', '--follow')).toBe(verbose);
  expect(await logs()).not.toContain('I have read');
  expect(await logs('--verbose', '--json')).toContain('Both --verbose and --json');
  const json = JSON.parse((await project.run(['show', 'r', 'main:1', '--json'])).stdout);
  expect(json).toMatchObject({
    run: 'r',
    prompt: { text: 'Review the change.' },
    outcome: { kind: 'ended' },
    checks: [{ step: 2, task: 'check', outcome: { exit: 0 } }],
    abandoned: false,
  });
});

test('a step is followed until it is over', async () => {
  const project = newProject({
    'flow/START.sh': `echo first; until [ -e go ]; do sleep 0.02; done; echo second
echo '<result>ok</result>'`,
  });
  const run = project.start(['flow', '--workflow-id', 'r']);
  await eventually('the step has begun', () => project.lines('.raymond/state/r.jsonl').length > 2);
  const shown = project.start(['show', 'r', 'main:1', '--follow']);
  await eventually('its first words are shown', () => shown.stdout().includes('first'));
  expect(shown.stdout()).not.toContain('ended');
  project.write('go', '');
  expect((await shown.ended).stdout).toMatch(/second\n(.*\n)*\nended \(/);
  expect((await run.ended).code).toBe(0);
});

test('a step that a rewind has abandoned can still be read', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<goto>NEXT</goto>'`,
    'flow/NEXT.sh': `echo 'worked here'; echo '<result>ok</result>'`,
  });
  await project.run(['flow', '--workflow-id', 'r']);
  await project.run(['rewind', 'r', '--to', 'main:2', '--yes']);
  const { stdout } = await project.run(['show', 'r', 'main:2']);
  expect(stdout).toContain('main:2 NEXT.sh (abandoned by a rewind)');
  expect(stdout).toContain('  | worked here');
});

test.each([
  [['show', 'r', 'main:9'], 'The run has no step 9 of an agent main.'],
  [['show', 'r', 'nobody:1'], 'The run has no step 1 of an agent nobody.'],
  [['show', 'r', 'main:x'], '"main:x" is not the name of a step.'],
  [['show', 'r', '--follow'], '--follow needs a step.'],
  [['show', 'r', 'main:1', '--timeline'], 'A step is named, so it has no list and no timeline.'],
])('%j is refused', async (args, message) => {
  const project = newProject({ 'flow/START.sh': `echo '<result>ok</result>'` });
  await project.run(['flow', '--workflow-id', 'r']);
  const { code, stderr } = await project.run(args);
  expect(stderr).toContain(message);
  expect(code).toBe(64);
});
