import { beforeAll, expect, test } from 'vitest';
import { command } from '../command.ts';
import { Project } from '../raymond.ts';

let project: Project;

beforeAll(async () => {
  project = new Project({
    'START.sh': `echo '<fork n="1">WORK</fork><fork n="2">WORK</fork><join failed_next="LATE">LATE</join>'`,
    'WORK.sh': `[ "$n" = 1 ] && echo '<result>ok</result>'`,
    'LATE.sh': `echo '<result>done</result>'`,
  });
  await project.run(['.', '--workflow-id', 'crew']);
  return () => project.dispose();
});

const shown = (args: readonly string[], env: Record<string, string> = {}) =>
  command(project, ['show', '--timeline', ...args], { env });

test('the timeline has a row for each agent, in the order of their creation', async () => {
  const { code, stdout } = await shown([], { LC_ALL: 'C.UTF-8' });
  expect(code).toBe(0);
  const names = stdout.split('\n').flatMap((line) => /^main\S*/.exec(line)?.[0] ?? []);
  expect(names).toEqual(['main', 'main_work1', 'main_work2']);
  expect(stdout).toMatch(/^main_work1 1 .*✓$/m);
  expect(stdout).toMatch(/^main_work2 2 .*✗$/m);
  expect(stdout).toContain('┄ waits for its child agents');
});

test.each([{ LC_ALL: 'C' }, { LC_ALL: '', LC_CTYPE: '', LANG: '' }, { LC_ALL: '', LANG: 'de_DE' }])(
  'without a UTF-8 locale it is ASCII: %j',
  async (env) => {
    const { stdout } = await shown([], env);
    expect(stdout).toMatch(/^[\x20-\x7e\n]+$/);
    expect(stdout).toMatch(/^main_work2 2 .*X$/m);
  },
);

test('--svg draws a picture, and --json has the bars', async () => {
  const { stdout: svg } = await shown(['--svg']);
  expect(svg).toMatch(/^<svg class="raymond"[\s\S]*<\/svg>\n$/);
  const { stdout: json } = await shown(['--json']);
  const { timeline, states } = JSON.parse(json);
  expect(timeline.rows).toMatchObject([
    { agent: 'main' },
    { agent: 'main_work1' },
    { agent: 'main_work2', bars: [{ failed: 1 }] },
  ]);
  expect(timeline.rows[0].bars.map((bar: { kind: string }) => bar.kind)).toEqual([
    'work',
    'join',
    'work',
  ]);
  expect(states.map(({ state }: { state: string }) => state)).toEqual([
    'START.sh',
    'WORK.sh',
    'LATE.sh',
  ]);
});

test.each([
  [['show', '--svg'], '--svg draws a timeline.'],
  [['show', '--timeline', '--svg', '--json'], 'Both --svg and --json are given.'],
])('%j is an error that helps', async (args, text) => {
  const { code, stderr } = await command(project, args);
  expect(code).toBe(64);
  expect(stderr).toContain(text);
});
