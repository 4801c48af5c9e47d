// Deliveries to a real `raymond up`: what is on disk when it says so, and what runs start from it.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { isLong } from '../long.ts';
import { Project } from '../raymond.ts';
import { deliver, githubHeaders, type RunningUp, standardHeaders, startUp } from './up.ts';

const SECRET = "It's a Secret to Everybody";
const MANIFEST = 'triggers: [{ webhook: issues, secret: HOOK, match: { action: opened } }]\n';
const OPENED = '{"action":"opened"}';

const projects: Project[] = [];
afterEach(async () => {
  for (const project of projects.splice(0)) await project.dispose();
});

async function approved(files: Readonly<Record<string, string>>): Promise<Project> {
  const project = new Project({ 'flow/workflow.yaml': MANIFEST, ...files }, 'ein Projekt ü');
  projects.push(project);
  await project.run(['secret', 'set', 'HOOK'], { input: SECRET });
  const { code, stderr } = await project.run(['trust', 'flow', '--yes']);
  expect(stderr).toContain('webhook issues');
  expect(code).toBe(0);
  return project;
}

const ECHO = {
  'flow/START.sh':
    'cp "$RAYMOND_RESULT_FILE" "input-$RAYMOND_WORKFLOW_ID"\necho "<result>ok</result>"\n',
};
/** Holds the first run, so that all others wait. */
const HOLD = {
  'flow/START.sh': 'while [ ! -e go ]; do sleep 0.1; done\necho "<result>ok</result>"\n',
};

const inputs = (project: Project) =>
  readdirSync(project.folder)
    .filter((name) => name.startsWith('input-'))
    .map((name) => project.read(name))
    .filter((text) => text !== '');

const post = ({ address }: RunningUp, id: string, body = OPENED) =>
  deliver(`${address}/hooks/issues`, body, standardHeaders(SECRET, id, body));

interface ShownOccasion {
  readonly id: string;
  readonly cause: string;
  readonly outcome: string;
  readonly replays: string | null;
  readonly run: string | null;
}

async function occasions(project: Project): Promise<readonly ShownOccasion[]> {
  const { stdout, stderr } = await project.run(['triggers', '--occasions', '5000', '--json']);
  if (stdout === '') expect(stderr).toBe('');
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

test('a delivery starts one run, whose input is the payload as it was sent', async () => {
  const project = await approved(ECHO);
  const up = await startUp(project);
  const body = `{ "action": "opened", "title": "$(touch stolen) \`touch stolen\` {{task_folder}} <goto>X</goto> ü\\u0000" }\n`;
  expect(await post(up, 'a', body)).toBe('202 accepted');
  expect(await post(up, 'a', body)).toBe('200 duplicate');
  expect(await post(up, 'b', '{"action":"closed"}')).toBe('202 ignored');
  const github = githubHeaders(SECRET, 'g', OPENED);
  expect(await deliver(`${up.address}/hooks/issues`, OPENED, github)).toBe('202 accepted');
  await eventually('both have run', () => inputs(project).length === 2);
  expect(inputs(project).sort()).toEqual([body, OPENED].sort());
  expect(existsSync(project.path('stolen'))).toBe(false);
  await up.end();
  expect(up.stderr()).toContain('was ignored: its payload does not match.');
  expect((await occasions(project)).map(({ cause }) => cause).sort()).toEqual(['a', 'g']);
});

test('nothing of a secret is in a reply or in the log', async () => {
  const project = await approved(ECHO);
  const up = await startUp(project);
  expect(
    await deliver(`${up.address}/hooks/issues`, OPENED, githubHeaders('guess', 'x', OPENED)),
  ).toBe('401 refused');
  expect(await deliver(`${up.address}/hooks/other`, OPENED, {})).toBe('401 refused');
  await up.end();
  expect(up.stderr()).toContain('/hooks/issues was refused: the signature does not match.');
  expect(up.stderr()).toContain('/hooks/other was refused: there is no such webhook.');
  expect(up.stderr()).not.toContain(SECRET);
});

test('many deliveries at once are all recorded, and kill -9 loses none', async () => {
  const project = await approved(HOLD);
  const first = await startUp(project);
  const ids = Array.from({ length: isLong ? 1_000 : 300 }, (_, n) => `burst-${n}`);
  const replies = await Promise.all(ids.map((id) => post(first, id)));
  expect(new Set(replies)).toEqual(new Set(['202 accepted']));
  const peak = Number(
    /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${first.pid}/status`, 'utf8'))?.[1],
  );
  // At rest it takes about 100 MB.
  expect(peak).toBeLessThan(300 * 1024);
  await first.end('SIGKILL');
  expect(new Set((await occasions(project)).map(({ cause }) => cause))).toEqual(new Set(ids));
  const second = await startUp(project);
  const again = await Promise.all(ids.slice(0, 50).map((id) => post(second, id)));
  expect(new Set(again)).toEqual(new Set(['200 duplicate']));
  await second.end();
});

test('whatever was accepted before kill -9 is on disk', async () => {
  const project = await approved(HOLD);
  const up = await startUp(project);
  const accepted: string[] = [];
  const sending = Array.from({ length: 200 }, async (_, n) => {
    const reply = await post(up, `k${n}`).catch(() => 'no reply');
    if (reply === '202 accepted') accepted.push(`k${n}`);
    if (accepted.length === 20) up.child.kill('SIGKILL');
  });
  await Promise.all(sending);
  await up.ended;
  const recorded = (await occasions(project)).map(({ cause }) => cause);
  expect(accepted.length).toBeGreaterThanOrEqual(20);
  expect(accepted.filter((id) => !recorded.includes(id))).toEqual([]);
});

test('a later delivery replaces the run of an earlier one, which is stopped', async () => {
  const replace = MANIFEST.replace('secret: HOOK', 'secret: HOOK, overlap: replace');
  const project = await approved({ ...HOLD, 'flow/workflow.yaml': replace });
  const up = await startUp(project);
  const outcomes = async () => (await occasions(project)).map(({ outcome }) => outcome);
  await post(up, 'a');
  await eventually('the first one works', async () => (await outcomes())[0] === 'started');
  await post(up, 'b');
  await eventually('it is replaced', async () => (await outcomes())[0] === 'started');
  expect(await outcomes()).toEqual(['started', 'failed']);
  const [second, first] = (await occasions(project)).map(({ run }) => run ?? '');
  expect((await project.run(['show', first ?? ''])).stdout).toContain(`${first}: interrupted`);
  project.write('go', '');
  await eventually('the second one ends', async () => (await outcomes())[0] === 'completed');
  await up.end();
  expect(up.stderr()).toContain(`Stopped ${first}, because a later occasion replaces it`);
  expect(second).not.toBe(first);
});

test('the page has an address of its own, which takes no deliveries', async () => {
  const project = await approved(ECHO);
  const up = await startUp(project, ['--serve', '--port', '0']);
  const page = () => /The page is at (http:\S+)/.exec(up.stderr())?.[1];
  await eventually('it serves the page', () => page() !== undefined);
  const { origin, href } = new URL(page() ?? '');
  expect(origin).not.toBe(up.address);
  expect((await fetch(href)).status).toBe(200);
  const sent = { method: 'POST', body: OPENED, headers: standardHeaders(SECRET, 'a', OPENED) };
  expect((await fetch(`${origin}/hooks/issues`, sent)).ok).toBe(false);
  expect((await fetch(`${up.address}/api/runs`)).ok).toBe(false);
  expect(await occasions(project)).toEqual([]);
  await up.end();
});

test('a clock that is set back by a year keeps no signed delivery away', async () => {
  const project = await approved(ECHO);
  project.write(
    'clock.cjs',
    `const { readFileSync } = require('node:fs');
const now = Date.now;
Date.now = () => now() + Number(readFileSync(${JSON.stringify(project.path('ahead'))}, 'utf8'));
`,
  );
  const aheadMs = 365 * 24 * 3_600_000;
  project.write('ahead', `${aheadMs}`);
  const up = await startUp(project, [], {
    env: { NODE_OPTIONS: `--require ${JSON.stringify(project.path('clock.cjs'))}` },
  });
  const send = (id: string, ms: number) => {
    const headers = standardHeaders(SECRET, id, OPENED, Math.floor((Date.now() + ms) / 1000));
    return deliver(`${up.address}/hooks/issues`, OPENED, headers);
  };
  expect(await send('before', aheadMs)).toBe('202 accepted');
  project.write('ahead', '0');
  expect(await send('after', 0)).toBe('202 accepted');
  expect(await send('late', aheadMs)).toBe('401 refused');
  await eventually('both have run', () => inputs(project).length === 2);
  await up.end();
});

test('a delivery can be replayed, and the new occasion names the old one', async () => {
  const project = await approved(ECHO);
  const up = await startUp(project);
  await post(up, 'a');
  await eventually('it has run', () => inputs(project).length === 1);
  const [old] = await occasions(project);
  const { code, stdout } = await project.run(['triggers', '--replay', old?.id ?? '']);
  expect(code).toBe(0);
  await eventually('it has run again', () => inputs(project).length === 2);
  await up.end();
  expect(inputs(project)).toEqual([OPENED, OPENED]);
  const [newest] = await occasions(project);
  expect(newest).toMatchObject({ replays: old?.id, id: stdout.trim() });
  const wrong = await project.run(['triggers', '--replay', 'none']);
  expect(wrong.code).toBe(64);
  expect(wrong.stderr).toContain('have no occasion none');
});

test('the list says what is next, what came last and why it started nothing', async () => {
  const project = await approved({
    ...HOLD,
    'flow/workflow.yaml': `triggers:
  - { webhook: issues, secret: HOOK, overlap: skip }
  - { schedule: 0 4 29 2 *, timezone: UTC }
`,
  });
  const up = await startUp(project);
  const newest = async () => (await occasions(project))[0]?.outcome;
  await post(up, 'a');
  await eventually('it has started', async () => (await newest()) === 'started');
  await post(up, 'b');
  await eventually('it is skipped', async () => (await newest()) === 'skipped');
  const why = /skipped: the run flow-\w+ is not over/;
  const [, hook, schedule] = (await project.run(['triggers'])).stdout.split('\n');
  expect(hook).toMatch(/^flow +webhook issues +yes .*/);
  expect(hook).toMatch(why);
  expect(schedule).toMatch(/^flow +schedule 0 4 29 2 \* UTC +yes +\S*2028/);
  const { stdout } = await project.run(['triggers', '--occasions', '2']);
  const [, second, first] = stdout.split('\n');
  expect(second).toMatch(/ webhook issues, delivery b /);
  expect(second).toMatch(why);
  expect(first).toMatch(/ webhook issues, delivery a +started flow-/);
  project.write('go', '');
  await up.end();
});

test('two workflows with the same webhook are refused', async () => {
  const project = await approved({
    ...ECHO,
    'other/workflow.yaml': MANIFEST,
    'other/START.sh': 'echo "<result>x</result>"\n',
  });
  await project.run(['trust', 'other', '--yes']);
  const { code, stderr } = await project.run(['up', '--listen', '127.0.0.1:0']);
  expect(stderr).toMatch(/flow and .*other both have the webhook issues/);
  expect(code).toBe(64);
});

test('a webhook whose secret has no value refuses everything, and says so at once', async () => {
  const project = await approved(ECHO);
  await project.run(['secret', 'remove', 'HOOK']);
  const up = await startUp(project);
  expect(up.stderr()).toContain('The secret HOOK cannot be used: it does not exist.');
  expect(await post(up, 'a')).toBe('401 refused');
  await up.end();
});

test('an address that is in use or malformed is refused', async () => {
  const project = await approved(ECHO);
  const up = await startUp(project);
  const again = await project.run(['up', '--listen', new URL(up.address).host]);
  expect(again.stderr).toMatch(/cannot listen on 127.0.0.1:\d+: /);
  await up.end();
  for (const text of ['here', '127.0.0.1', '127.0.0.1:70000', ':80', 'http://127.0.0.1:80']) {
    const { code, stderr } = await project.run(['up', '--listen', text]);
    expect([code, stderr]).toEqual([64, expect.stringContaining('Write an address and a port')]);
  }
});

test('--install writes a unit with the same options, for this user only, and starts nothing', async () => {
  const project = await approved(ECHO);
  const args = ['up', project.folder, '--listen', '127.0.0.1:8788', '--install'];
  const { code, stdout, stderr } = await project.run(args);
  expect([code, stderr]).toEqual([0, expect.stringContaining('systemctl --user enable --now')]);
  const file = join(project.userConfig, '..', 'systemd', 'user', 'raymond.service');
  expect(stdout).toBe(`${file}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(`"up" "${project.folder}" "--listen" "127.0.0.1:8788"\n`);
  expect(text).not.toContain('--install');
  expect(text).not.toContain(SECRET);
  expect((await project.run(args)).code).toBe(0);
});
