/** `on_event` and `--notify`, with the built program and real processes. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { killHard, processesLeft, survivors } from '../survivors.ts';

const HELLO = { 'flow/START.sh': `echo '<result>hello</result>'` };

/** Sets `on_event` in the config file of the user. */
function onEvent(project: Project, command: string): void {
  mkdirSync(project.userConfig, { recursive: true, mode: 0o700 });
  const text = `[raymond]\non_event = ${JSON.stringify(command)}\n`;
  writeFileSync(join(project.userConfig, 'config.toml'), text, { mode: 0o600 });
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, name) => sum + statSync(join(folder, name)).size,
    0,
  );
}

test('the command gets each event as JSON on its standard input, in the folder of the project', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<fork>FAIL</fork><goto>ASK</goto>'`,
    'flow/FAIL.sh': 'exit 3',
    'flow/ASK.sh': `echo '<ask next="END">which colour?</ask>'`,
    'flow/END.sh': `echo '<result>x</result>'`,
    'below/x': '',
  });
  onEvent(project, 'cat >>seen.jsonl');
  const { stderr } = await command(project, ['../flow', '--workflow-id', 'r'], {
    cwd: project.path('below'),
  });
  const seen = project.lines('seen.jsonl').map((line) => JSON.parse(line));
  expect(seen.map(({ notice }) => notice).sort(), stderr).toEqual(['end', 'failure', 'question']);
  expect(seen.find(({ notice }) => notice === 'question')).toMatchObject({
    workflow_id: 'r',
    workflow: project.path('flow'),
    cwd: project.path('below'),
    text: 'main of r asks: which colour?',
    event: { type: 'agent-asked', agent: 'main', question: 'which colour?' },
  });
  const journal = project.journal('r');
  for (const { event } of seen) expect(journal).toContainEqual(event);
  expect(existsSync(project.path('.raymond/runs/r/notices/on_event'))).toBe(false);
});

test('a command that never ends does not hold up the run, and ends with it', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<ask next="END" timeout="1s" timeout_next="END">?</ask>'`,
    'flow/END.sh': `echo '<result>x</result>'`,
  });
  onEvent(project, 'echo "$$" >>begun; trap "" TERM INT; sleep 1000; sleep 1000');
  const ended = await command(project, ['flow', '--workflow-id', 'r']);
  expect(ended).toMatchObject({ code: 0, stdout: 'x\n' });
  expect(project.lines('begun')).toHaveLength(2);
  expect(ended.stderr.match(/The command of on_event failed: it did not end/g)).toHaveLength(1);
  expect(await processesLeft(project.folder)).toEqual([]);
});

test('a gigabyte of output is not kept', async () => {
  const project = newProject(HELLO);
  onEvent(project, 'head -c 1000000000 /dev/zero; head -c 1000000000 /dev/zero >&2; touch done');
  const ended = await command(project, ['flow']);
  expect(ended).toMatchObject({ code: 0, stdout: 'hello\n' });
  expect(ended.stderr).not.toContain('on_event');
  expect(existsSync(project.path('done'))).toBe(true);
  expect(bytesIn(project.path('.raymond'))).toBeLessThan(1_000_000);
});

test('processes that the command leaves end with it', async () => {
  const project = newProject(HELLO);
  onEvent(
    project,
    'for i in 1 2 3; do sleep 1000 & done; env -i setsid sleep 1000 & echo $! >pid; disown -a; touch done',
  );
  const ended = await command(project, ['flow']);
  expect(ended).toMatchObject({ code: 0, stdout: 'hello\n' });
  expect(ended.stderr).not.toContain('on_event');
  expect(existsSync(project.path('done'))).toBe(true);
  expect(await processesLeft(project.folder)).toEqual([]);
});

test('few commands run at the same time, and the first failure is reported', async () => {
  const children = 12;
  const project = newProject({
    'flow/START.sh': `for i in $(seq ${children}); do echo '<fork>FAIL</fork>'; done; echo '<goto>END</goto>'`,
    'flow/END.sh': `echo '<result>x</result>'`,
    'flow/FAIL.sh': 'exit 3',
  });
  mkdirSync(project.path('now'));
  onEvent(
    project,
    'cat >/dev/null; touch "now/$$"; ls now | wc -l >>counts; sleep 0.2; rm "now/$$"; exit 7',
  );
  const { code, stderr } = await command(project, ['flow']);
  expect(code).toBe(1);
  const counts = project.lines('counts').map(Number);
  expect(counts.length).toBeGreaterThan(4);
  expect(Math.max(...counts)).toBeLessThanOrEqual(4);
  expect(stderr.match(/on_event failed/g)).toHaveLength(1);
  expect(stderr).toContain('The command of on_event failed: exit code 7. The run continues.');
});

test('the config file of a project can set it only with the trust of the user', async () => {
  const project = newProject({
    ...HELLO,
    '.raymond/config.toml': '[raymond]\non_event = "touch evil"\n',
  });
  const untrusted = await command(project, ['flow']);
  expect(untrusted.stderr).toContain('is not trusted. Ignored: on_event = "touch evil"');
  expect(untrusted.code).toBe(0);
  expect(existsSync(project.path('evil'))).toBe(false);
  await command(project, ['trust', '--yes']);
  await command(project, ['flow']);
  expect(existsSync(project.path('evil'))).toBe(true);
});

test('a rehearsal does not execute it', async () => {
  const project = newProject(HELLO);
  onEvent(project, 'touch executed');
  expect(await command(project, ['flow', '--rehearse'])).toMatchObject({ code: 0 });
  expect(existsSync(project.path('executed'))).toBe(false);
});

test('after a kill, stop finds the command that still runs', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<fork>FAIL</fork><goto>SLEEP</goto>'`,
    'flow/FAIL.sh': 'exit 3',
    'flow/SLEEP.sh': 'sleep 1000',
  });
  onEvent(project, 'env -i sleep 1000 & echo $! >pid; wait');
  const running = project.start(['flow', '--workflow-id', 'r']);
  await eventually('the command runs', () => project.lines('pid').length > 0);
  killHard(running.pid);
  await running.ended;
  expect(survivors(project.folder).some((line) => line.includes('sleep 1000'))).toBe(true);
  expect(await command(project, ['stop', 'r', '--now'])).toMatchObject({ code: 0 });
  expect(await processesLeft(project.folder)).toEqual([]);
});

/** A program `notify-send` that records its arguments. */
function notifySend(project: Project, after = ''): Record<string, string> {
  project.write('bin/notify-send', `#!/bin/bash\nprintf '%s\\n' "$@" >>"$PWD/notes"\n${after}\n`);
  chmodSync(project.path('bin/notify-send'), 0o755);
  return { PATH: `${project.path('bin')}:${process.env.PATH}` };
}

test('--notify passes the text to notify-send as an argument', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<ask next="END">$(touch evil) <b>; touch evil; \`touch evil\`</ask>'`,
    'flow/END.sh': `echo '<result>x</result>'`,
  });
  const env = notifySend(project);
  const { stderr } = await command(project, ['flow', '--notify', '--workflow-id', 'r'], { env });
  expect(stderr).not.toContain('\x07');
  expect(project.lines('notes')).toEqual(
    expect.arrayContaining([
      'main of r asks: $(touch evil) &lt;b&gt;; touch evil; `touch evil`',
      'r waits for you ($0.00)',
    ]),
  );
  expect(existsSync(project.path('evil'))).toBe(false);
});

test('a notify-send that hangs or fails is no error, and ends with the run', async () => {
  for (const after of ['sleep 1000', 'exit 1']) {
    const project = newProject(HELLO);
    const env = notifySend(project, after);
    const ended = await command(project, ['flow', '--notify', '--quiet'], { env });
    expect(ended).toMatchObject({ code: 0, stdout: 'hello\n', stderr: '' });
    expect(project.lines('notes').at(-1)).toContain('has completed');
    expect(await processesLeft(project.folder)).toEqual([]);
  }
});

test('at a terminal without notify-send, the bell rings and the terminal gets a note', async () => {
  const project = newProject(HELLO);
  const env = { PATH: withoutNotifySend() };
  const plain = atTerminal(project, ['flow', '--workflow-id', 'a'], { env });
  await plain.ended;
  expect(plain.screen()).not.toContain('\x1b]9;');
  const { screen, ended } = atTerminal(project, ['flow', '--workflow-id', 'b', '--notify'], {
    env,
  });
  expect(await ended).toBe(0);
  expect(screen()).toContain('\x07\x1b]9;Raymond: b has completed ($0.00)\x07');
  const urxvt = atTerminal(project, ['flow', '--workflow-id', 'c', '--notify'], {
    env: { ...env, TERM: 'rxvt-unicode' },
  });
  await urxvt.ended;
  expect(urxvt.screen()).toContain('\x1b]777;notify;Raymond;c has completed ($0.00)\x07');
});

function withoutNotifySend(): string {
  const folders = (process.env.PATH ?? '').split(':');
  return folders.filter((folder) => !existsSync(join(folder, 'notify-send'))).join(':');
}

test('a run in the background also gives its notices', async () => {
  const project = newProject(HELLO);
  onEvent(project, 'cat >>seen.jsonl');
  const { stdout } = await project.run(['flow', '--detach']);
  await eventually('the end is seen', () => project.lines('seen.jsonl').length > 0);
  expect(JSON.parse(readFileSync(project.path('seen.jsonl'), 'utf8'))).toMatchObject({
    notice: 'end',
    workflow_id: stdout.trim(),
  });
});
