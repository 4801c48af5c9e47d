// Front matter, options and configuration set the agent's model, effort and permissions.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inSuite, isLong } from '../long.ts';
import { type Age, suiteAges } from './claude-sandbox.ts';
import { fakeClaude } from './fake-claude.ts';
import { answering, bash, eventsOf, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

const ownModel = '---\nmodel: claude-opus-4-5\neffort: high\n---\n';
const three = {
  'START.md': 'Do one.',
  'TWO.md': `${ownModel}Do two.`,
  'THREE.md': 'Do three.',
  'FOUR.md': 'Do four.',
};
const through = {
  'Do one.': '<goto>TWO</goto>',
  'Do two.': '<goto>THREE</goto>',
  'Do three.': '<function return="THREE" model="claude-sonnet-4-6" effort="medium">FOUR</function>',
  'Do four.': '<result>ok</result>',
};

test.each(
  inSuite<{ age: Age; flags: readonly string[]; processes: number }>(
    [{ age: 'newer', flags: [], processes: 1 }],
    [
      { age: 'older', flags: ['--no-warm'], processes: 3 },
      { age: 'older', flags: [], processes: 1 },
    ],
  ),
)('each state has its own model and effort: $age $flags', async (way) => {
  const { age, flags, processes } = way;
  const { run, model, file } = await sandbox({
    age,
    workflow: three,
    script: answering(through),
  });
  await mkdir(file('.raymond'));
  const config = '[raymond]\nmodel = "claude-opus-4-6"\neffort = "medium"\nmax_iterations = 4\n';
  await writeFile(file('.raymond/config.toml'), config);
  await run('workflow', '--effort', 'low', '--workflow-id', 'r', ...flags);
  expect(model.requests.map(({ model: name, effort }) => [name, effort])).toEqual([
    ['claude-opus-4-6', 'low'],
    ['claude-opus-4-5', 'high'],
    ['claude-opus-4-6', 'low'],
    ['claude-sonnet-4-6', 'medium'],
  ]);
  const started = [1, 2, 3].filter((n) =>
    existsSync(file(`.raymond/runs/r/steps/main/${n}/process.json`)),
  );
  expect(started).toHaveLength(processes);
});

test.each(
  inSuite<{ age: Age; flags: readonly string[]; settings: object }>(
    [
      { age: 'newer', flags: ['--no-warm'], settings: {} },
      { age: 'older', flags: [], settings: { model: 'claude-sonnet-4-6' } },
    ],
    [
      { age: 'older', flags: ['--no-warm'], settings: {} },
      { age: 'newer', flags: ['--no-warm'], settings: { model: 'claude-sonnet-4-6' } },
      { age: 'newer', flags: [], settings: {} },
    ],
  ),
)('the model of one state does not apply to the next: $age $flags $settings', async (way) => {
  const { run, model, claude } = await sandbox({
    age: way.age,
    workflow: {
      'START.md': 'Do one.',
      'TWO.md': '---\nmodel: claude-opus-4-5\n---\nDo two.',
      'THREE.md': 'Do three.',
    },
    script: answering({
      'Do one.': '<goto>TWO</goto>',
      'Do two.': '<goto>THREE</goto>',
      'Do three.': '<result>ok</result>',
    }),
  });
  await writeFile(join(claude.configFolder, 'settings.json'), JSON.stringify(way.settings));
  expect(await run('workflow', ...way.flags)).toMatchObject({ code: 0 });
  const [first, second, third] = model.requests.map((request) => request.model);
  expect(second).toBe('claude-opus-4-5');
  expect(first).not.toBe('claude-opus-4-5');
  expect(third).toBe(first);
});

describe.each(suiteAges)('the user’s own model, with the %s Claude Code', (age) => {
  const own = 'claude-haiku-4-5';
  const places = {
    'the environment of its settings': { env: { ANTHROPIC_MODEL: own } },
    'its settings': { model: own },
  };
  const workflow = {
    'START.md': 'Do one.',
    'SUB.md': 'Look into it.',
    'BACK.md': 'It was {{result}}.',
    'DEAR.md': '---\nmodel: claude-opus-4-5\n---\nDo it well.',
    'PLAIN.md': 'Do the rest.',
    'DEAR_FIRST.md': '---\nmodel: claude-opus-4-5\n---\nBegin well.',
  };
  const script = answering({
    'Do one.': '<call return="BACK">SUB</call>',
    'Look into it.': '<result>found</result>',
    'It was': '<goto>DEAR</goto>',
    'Do it well.': '<goto>PLAIN</goto>',
    'Begin well.': '<goto>PLAIN</goto>',
    'Do the rest.': '<result>done</result>',
  });

  async function world(place: keyof typeof places) {
    const made = await sandbox({ age, workflow, script });
    const file = join(made.claude.configFolder, 'settings.json');
    await writeFile(file, JSON.stringify(places[place]));
    return { ...made, models: () => made.model.requests.map(({ model }) => model) };
  }

  test.each(
    inSuite<[keyof typeof places, readonly string[]]>(
      [['the environment of its settings', []]],
      [
        ['its settings', ['--no-warm']],
        ['the environment of its settings', ['--no-warm']],
      ],
    ),
  )(
    'in %s is kept at call and return, and after a state with another model: %j',
    async (place, flags) => {
      const { run, models } = await world(place);
      expect(await run('workflow', ...flags)).toMatchObject({ code: 0 });
      expect(models()).toEqual([own, own, own, 'claude-opus-4-5', own]);
    },
  );

  if (isLong)
    test('is kept at a resume, and is found even if the first state names another', async () => {
      const { run, models } = await world('the environment of its settings');
      const args = ['workflow/DEAR_FIRST.md', '--workflow-id', 'r', '--max-iterations', '1'];
      expect(await run(...args)).toMatchObject({ code: 3 });
      expect(await run('resume', 'r', '--max-iterations', '9')).toMatchObject({ code: 0 });
      expect(models()).toEqual(['claude-opus-4-5', own]);
    });
});

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('a tool that is not allowed is denied, and every output reports it', async () => {
    const { run, file, journal } = await sandbox({
      age,
      workflow: { 'START.md': 'Work.' },
      script: [bash('touch made'), bash('bash -c "touch forbidden"'), '<result>tried</result>'],
    });
    const { code, stderr } = await run('workflow', '--quiet', '--workflow-id', 'r');
    expect(code).toBe(0);
    expect([existsSync(file('made')), existsSync(file('forbidden'))]).toEqual([true, false]);
    expect(stderr).toContain('START.md was denied: Bash bash -c "touch forbidden"');
    expect(eventsOf(journal('r'), 'step-ended')).toMatchObject([
      { denied: ['Bash bash -c "touch forbidden"'] },
    ]);
  });

  if (isLong)
    test('a warning of the agent about an untrusted folder is shown once', async () => {
      const { run, file } = await sandbox({
        age,
        workflow: { 'START.md': 'Work.', 'TWO.md': 'Work more.' },
        script: answering({ 'Work.': '<goto>TWO</goto>', 'Work more.': '<result>done</result>' }),
      });
      await mkdir(file('.claude'));
      const rules = { permissions: { allow: ['Bash(bash -c:*)'] } };
      await writeFile(file('.claude/settings.json'), JSON.stringify(rules));
      const { stderr } = await run('workflow', '--no-warm');
      expect(stderr.match(/Claude Code says: .*trust/g)).toHaveLength(1);
    });

  if (isLong)
    test('a permission mode is passed on', async () => {
      const { run, file } = await sandbox({
        age,
        workflow: { 'START.md': 'Work.' },
        script: [bash('touch made'), '<result>planned</result>'],
      });
      const { stderr } = await run('workflow', '--permission-mode', 'default');
      expect(stderr).toContain('was denied: Bash touch made');
      expect(existsSync(file('made'))).toBe(false);
    });
});

test.each([
  { flags: [], passedOn: false },
  { flags: ['--dangerously-skip-permissions'], passedOn: true },
])('permissions are skipped only on request: $flags', async ({ flags, passedOn }) => {
  const fake = await fakeClaude('answers');
  const { run } = await sandbox({
    age: 'newer',
    workflow: { 'START.md': 'Work.' },
    script: [],
    environment: fake.environment,
  });
  const { code, stderr } = await run('workflow', ...flags);
  expect(code).toBe(0);
  const [argv = []] = fake.argvs();
  expect(argv.includes('--dangerously-skip-permissions')).toBe(passedOn);
  expect(argv.includes('--permission-mode')).toBe(!passedOn);
  expect(stderr.includes('WARNING: permissions are skipped')).toBe(passedOn);
});

test('the environment or the configuration names the executable', async () => {
  const fake = await fakeClaude('answers');
  const { run, file } = await sandbox({
    age: 'newer',
    workflow: { 'START.md': 'Work.' },
    script: [],
    environment: { ...fake.environment, RAYMOND_CLAUDE: '' },
  });
  await mkdir(file('.raymond'));
  const path = JSON.stringify(fake.environment.RAYMOND_CLAUDE);
  await writeFile(file('.raymond/config.toml'), `[raymond]\nclaude_path = ${path}\n`);
  expect(await run('trust', '--yes')).toMatchObject({ code: 0 });
  expect(await run('workflow')).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(readFileSync(fake.log, 'utf8')).toContain('spawned');
});

test.each([
  ['RAYMOND_CLAUDE', { RAYMOND_CLAUDE: '/no/such/claude' }, /RAYMOND_CLAUDE names \/no\/such/],
  ['PATH', { RAYMOND_CLAUDE: '', PATH: '/usr/bin:/bin' }, /npm install -g @anthropic-ai/],
])('a run does not start without the executable from %s', async (_, environment, expected) => {
  const { run, model } = await sandbox({
    age: 'newer',
    workflow: { 'START.md': 'Work.' },
    script: ['<result>no</result>'],
    environment,
  });
  const { code, stderr } = await run('workflow');
  expect(code).toBe(1);
  expect(stderr).toMatch(expected);
  expect(model.requests).toEqual([]);
});
