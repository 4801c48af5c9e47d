/** Secrets: where their values come from, who gets them, and where they must not be. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { filesWith } from '../files-with.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const VALUE = 'ghp_q8Zr7"x\\y &z+1234567890';

const store = (project: Project) =>
  join(project.environment.XDG_STATE_HOME ?? '', 'raymond', 'secrets');

/** As `raymond secret set` does, without a process. */
const save = (project: Project, value = VALUE) =>
  project.run(['secret', 'set', 'TOKEN'], { input: `${value}\n` });

function configure(project: Project, text: string): void {
  mkdirSync(project.userConfig, { recursive: true, mode: 0o700 });
  writeFileSync(join(project.userConfig, 'config.toml'), text, { mode: 0o600 });
}

const flow = (script: string, rights = '{ secrets: [TOKEN] }') => ({
  'flow/workflow.yaml': `states: { START.sh: { rights: ${rights} } }\n`,
  'flow/START.sh': script,
});

/** Says whether the state has the value, without printing it. */
const KNOWS = `echo "<result>$(printf %s "$TOKEN" | sha256sum | cut -c1-8)</result>"`;
const digest = (value: string) => createHash('sha256').update(value).digest('hex').slice(0, 8);

/** Files below the project and the folders of its user with one of the texts, except for the store of secrets. */
const leaks = (project: Project, texts: readonly string[]) =>
  filesWith(dirname(project.folder), texts).filter((file) => !file.startsWith(store(project)));

/** The value as programs print it by accident. */
const FORMS = [
  VALUE,
  JSON.stringify(VALUE).slice(1, -1),
  encodeURIComponent(VALUE),
  Buffer.from(VALUE).toString('base64').slice(0, -4),
  Buffer.from(VALUE).toString('hex'),
];

describe('raymond secret', () => {
  test('saves, lists and removes, and prints no value', async () => {
    const project = newProject({});
    expect(await save(project)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Saved TOKEN. States whose rights have "secrets: [TOKEN]" can use it.\n',
    });
    const file = join(store(project), 'TOKEN');
    expect(readFileSync(file, 'utf8')).toBe(VALUE);
    expect([statSync(file).mode & 0o777, statSync(store(project)).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    configure(project, '[secrets]\nOTHER = { env = "MINE" }\n');
    const { stdout } = await command(project, ['secret', 'list']);
    expect(stdout).toBe('OTHER  variable MINE, in your configuration\nTOKEN  raymond secret set\n');
    expect(JSON.parse((await command(project, ['secret', 'list', '--json'])).stdout)).toEqual([
      { name: 'OTHER', from: 'variable MINE, in your configuration' },
      { name: 'TOKEN', from: 'raymond secret set' },
    ]);
    expect(await command(project, ['secret', 'remove', 'TOKEN'])).toMatchObject({ code: 0 });
    expect(readdirSync(store(project))).toEqual([]);
  });

  test.each([
    [['secret', 'set'], /cannot be understood/],
    [['secret', 'show', 'TOKEN'], /cannot be understood.*raymond secret set NAME/s],
    [['secret', 'set', '../key'], /Name it like GH_TOKEN/],
    [['secret', 'remove', 'NONE'], /There is no secret NONE/],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await command(newProject({}), args);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
  });

  test('refuses a value that would be found where it means nothing', async () => {
    const project = newProject({});
    const { code, stderr } = await save(project, 'short');
    expect(code).not.toBe(0);
    expect(stderr).toContain('has fewer than 8 characters');
    expect(stderr).not.toContain('short');
  });

  test('is not for a step', async () => {
    const bin = `"${process.execPath}" "${join(import.meta.dirname, '../../bin/raymond.js')}"`;
    const script = `echo stolen-value | ${bin} secret set TOKEN; echo "<result>$?</result>"`;
    const project = newProject({ 'flow/START.sh': script });
    expect(await command(project, ['flow'])).toMatchObject({ stdout: '64\n' });
  });
});

describe('the value comes from', () => {
  const ends = async (project: Project, env: Record<string, string> = {}) => {
    const { stdout, stderr } = await command(project, ['flow'], { env });
    expect(stdout, stderr).toBe(`${digest(VALUE)}\n`);
  };

  test('the store', async () => {
    const project = newProject(flow(KNOWS));
    await save(project);
    await ends(project);
  });

  test('a variable of the same name', async () => {
    await ends(newProject(flow(KNOWS)), { TOKEN: VALUE });
  });

  test.each([
    ['another variable', (_: Project) => '{ env = "MINE" }', { MINE: VALUE }],
    ['a file', (project: Project) => `{ file = "${project.userConfig}/token" }`, {}],
    ['a command', (project: Project) => `{ command = "cat ${project.userConfig}/token" }`, {}],
  ])('%s, which counts more than the store', async (_, source, env) => {
    const project = newProject(flow(KNOWS));
    await save(project, 'another value');
    configure(project, `[secrets]\nTOKEN = ${source(project)}\n`);
    writeFileSync(join(project.userConfig, 'token'), `${VALUE}\n`, { mode: 0o600 });
    await ends(project, env);
  });

  test('no project', async () => {
    const project = newProject({
      ...flow(KNOWS),
      '.raymond/config.toml': '[secrets]\nTOKEN = { command = "touch stolen" }\n',
    });
    const { code, stderr } = await command(project, ['flow']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('which only your own config file may do');
    expect(readdirSync(project.folder)).not.toContain('stolen');
  });

  test.each([
    ['nowhere', '', 'it does not exist'],
    ['a command that fails', 'TOKEN = { command = "false" }', 'false'],
    ['a short file', 'TOKEN = { file = "/etc/hostname-of-nobody" }', 'hostname-of-nobody'],
  ])('%s, so the run does not start', async (_, line, why) => {
    const project = newProject(flow(KNOWS));
    if (line) configure(project, `[secrets]\n${line}\n`);
    const { code, stderr } = await command(project, ['flow', '--workflow-id', 'r']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('START.sh needs a secret. The secret TOKEN cannot be used: ');
    expect(stderr).toContain(why);
    expect(stderr).toContain('raymond secret set TOKEN');
    expect(project.journal('r')).toEqual([]);
  });
});

describe('the value is', () => {
  test('nowhere that Raymond writes, whatever the step prints', async () => {
    const project = newProject({
      'flow/workflow.yaml': 'states: { START.sh: { rights: { secrets: [TOKEN] } } }\n',
      'flow/START.sh': `printf '%s\\n' "$TOKEN"
printf '%s' "$TOKEN" | base64 -w0; echo
printf '%s' "$TOKEN" | od -An -tx1 -v | tr -d ' \\n'; echo
printf '%s\\n' "$TOKEN" >&2
echo "<print>$TOKEN</print>"
printf '<goto input="%s">NEXT</goto>\\n' "$(printf %s "$TOKEN" | sed 's/&/\\&amp;/g;s/"/\\&quot;/g')"`,
      'flow/NEXT.sh': `echo "<ask next='LAST'>Is it $RAYMOND_RESULT?</ask>"`,
      'flow/LAST.sh': 'printf "$RAYMOND_RESULT" >&2; exit 3',
    });
    configure(project, `[raymond]\non_event = "tee -a ${project.path('heard')}"\n`);
    await save(project);
    const sent: string[] = [];
    const receiver = createServer((request, answer) => {
      request.setEncoding('latin1').on('data', (text) => sent.push(text));
      request.on('end', () => answer.end('{}'));
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void receiver.close());
    const { port } = receiver.address() as AddressInfo;
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
    const first = await project.run(['flow', '--workflow-id', 'r'], { env });
    expect(first.code).toBe(2);
    await project.run(['answer', 'r', 'no'], { env });
    const second = await project.run(['resume', 'r', '--json'], { env });
    const shown: string[] = [first.stdout, first.stderr, second.stdout, second.stderr];
    for (const args of [
      ['show', 'r'],
      ['show', 'r', 'main:1'],
      ['logs', 'r'],
      ['show', 'r', '--json'],
    ])
      shown.push((await command(project, args)).stdout);
    await eventually('the notices are heard', () => project.lines('heard').length > 0);
    const all = [...shown, ...sent].join('\n');
    expect(all).toContain('[secret TOKEN]');
    expect(project.read('heard')).toContain('[secret TOKEN]');
    expect(sent.length).toBeGreaterThan(0);
    for (const form of FORMS) expect(all).not.toContain(form);
    expect(leaks(project, FORMS)).toEqual([]);
  });

  test('in no variable of a state that does not name it', async () => {
    const project = newProject({
      'flow/workflow.yaml': 'states: { START.sh: { rights: { secrets: [TOKEN] } } }\n',
      'flow/START.sh': 'echo "<goto>OTHER</goto>"',
      'flow/OTHER.sh': `env | grep -c TOKEN; echo "<result>\${TOKEN-none} \${MINE-none}</result>"`,
    });
    configure(project, '[secrets]\nTOKEN = { env = "MINE" }\n');
    const { stdout } = await command(project, ['flow'], { env: { TOKEN: VALUE, MINE: VALUE } });
    expect(stdout).toBe('none none\n');
  });

  test('not given to a state of another workflow that was called, nor without rights', async () => {
    const inner = { 'inner/START.sh': `echo "<result>\${TOKEN-none}</result>"` };
    const project = newProject({
      ...inner,
      'flow/workflow.yaml': 'rights: { secrets: [TOKEN] }\n',
      'flow/START.sh': `echo '<function-workflow return="END">../inner</function-workflow>'`,
      'flow/END.sh': 'echo "<result>$RAYMOND_RESULT</result>"',
    });
    await save(project);
    expect(await command(project, ['flow'])).toMatchObject({ stdout: 'none\n' });
    const alone = newProject(flow(`echo "<result>\${TOKEN-none}</result>"`));
    await save(alone);
    const { stdout, stderr } = await command(alone, ['flow', '--no-rights']);
    expect(stdout, stderr).toBe('none\n');
    expect(stderr).toContain('No state gets secrets.');
  });

  test('taken away by the rights of the user', async () => {
    const project = newProject(flow(`echo "<result>\${TOKEN-none}</result>"`));
    await save(project);
    const { stdout } = await command(project, ['flow', '--rights', '{ secrets: [] }']);
    expect(stdout).toBe('none\n');
  });
});

test('with hosts, a step sees a stand-in, which becomes the value on the way to them', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, answer) => {
    seen.push(request.headers.authorization);
    answer.end('hello');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  // Other processes of the step may have the value in their variables, but none is visible.
  const script = `curl -sS -m 20 -H "Authorization: Bearer $TOKEN" http://127.0.0.1:${port} >&2
found=$(cat /proc/[0-9]*/environ 2>/dev/null | grep -ac 'ghp_q8Zr7')
echo "<result>$(printf %s "$TOKEN" | sha256sum | cut -c1-8) $found</result>"`;
  const project = newProject(flow(script, `{ network: ["127.0.0.1:${port}"], secrets: [TOKEN] }`));
  await save(project, 'ghp_q8Zr7xyz1234567890');
  const { stdout, stderr } = await project.run(['flow', '--workflow-id', 'r']);
  expect(seen, stderr).toEqual(['Bearer ghp_q8Zr7xyz1234567890']);
  expect(stdout).toMatch(/^[0-9a-f]{8} 0\n$/);
  expect(stdout).not.toContain(digest('ghp_q8Zr7xyz1234567890'));
  expect(leaks(project, ['ghp_q8Zr7xyz1234567890'])).toEqual([]);
  const rights = await command(project, ['show', 'r', '--rights']);
  expect(rights.stdout).toContain('TOKEN');
});

test('after kill -9, the step goes on, is adopted, and its output is still clean', async () => {
  const project = newProject(
    flow(`touch began; until [ -e go ]; do sleep 0.05; done
echo "$TOKEN"; ${KNOWS}`),
  );
  await save(project);
  const started = project.start(['flow', '--workflow-id', 'r']);
  await eventually('the step has begun', () => readdirSync(project.folder).includes('began'));
  started.child.kill('SIGKILL');
  await started.ended;
  // The value is not needed any more.
  await command(project, ['secret', 'remove', 'TOKEN']);
  project.write('go', '');
  const { code, stdout, stderr } = await project.run(['resume', 'r']);
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: `${digest(VALUE)}\n` });
  expect(project.journal('r').filter(({ type }) => type === 'step-started')).toHaveLength(1);
  expect(leaks(project, FORMS)).toEqual([]);
});
