// Doctor looks at every agent that is chosen, configured or used, and spends nothing.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { processesLeft } from '../survivors.ts';
import { codexBinary, codexSandbox } from './codex-sandbox.ts';

function configure(project: Project, text: string): void {
  mkdirSync(project.userConfig, { recursive: true, mode: 0o700 });
  writeFileSync(join(project.userConfig, 'config.toml'), text, { mode: 0o600 });
}

/** Nothing is on the PATH but what Raymond itself needs. */
const BARE = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, RAYMOND_CLAUDE: '' };

async function examined(project: Project, env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await command(project, ['doctor'], { env: { ...BARE, ...env } });
  return stdout;
}

test('the real codex: its version, its login and what it can do', async () => {
  const sandbox = await codexSandbox('http://127.0.0.1:9');
  onTestFinished(() => sandbox.remove());
  const project = newProject({});
  configure(project, '[raymond]\nagent = "codex"\n');
  const { HOME = '', CODEX_HOME = '' } = sandbox.environment;
  const env = { HOME, CODEX_HOME, RAYMOND_CODEX: codexBinary() };
  const stdout = await examined(project, env);
  expect(stdout).toMatch(/^ok +codex +codex \d+\.\d+\.\d+ \(/m);
  expect(stdout).toMatch(/^warning +login +Codex is not logged in\.$/m);
  expect(stdout).toMatch(/^ +Log in \(.*codex login\), unless/m);
  expect(stdout).toMatch(
    /^ok +abilities +codex can branch, adopt, context, permissions, travel, rights; cost from tokens/m,
  );
  // Claude Code is not needed here.
  expect(stdout).not.toMatch(/PROBLEM +claude/);
});

test('a missing codex is a problem if it is chosen, and a warning if only a workflow uses it', async () => {
  const project = newProject({ 'flow/START.md': '---\nagent: codex\n---\nWork.' });
  expect(await examined(project)).toMatch(/^warning +codex +Codex .* flow uses it\.$/m);
  configure(project, '[raymond]\nagent = "codex"\n');
  const chosen = await examined(project);
  expect(chosen).toMatch(/^PROBLEM +codex +Codex \(the program "codex"\) is not on the PATH\.$/m);
  expect(chosen).toContain('npm install -g @openai/codex');
  expect(await examined(newProject({}))).not.toContain('codex');
});

const SPEAKS = `#!/usr/bin/env node
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line);
  const result = {
    protocolVersion: 1,
    agentCapabilities: { loadSession: true, sessionCapabilities: { fork: {} } },
    agentInfo: { name: 'mine', version: '7.1' },
    authMethods: [{ id: 'key', name: 'A key' }],
  };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});
require('node:child_process').spawn('sleep', ['86411']);
`;

test('an agent of the user has to exist and to answer, and is ended with its processes', async () => {
  const project = newProject({});
  configure(
    project,
    '[agents.mine]\ncommand = "./mine"\n[agents.mute]\ncommand = "./mute"\n[agents.gone]\ncommand = "./gone"\n',
  );
  writeFileSync(join(project.userConfig, 'mine'), SPEAKS, { mode: 0o755 });
  writeFileSync(join(project.userConfig, 'mute'), '#!/bin/sh\necho no >&2\nexit 3\n', {
    mode: 0o755,
  });
  const stdout = await examined(project);
  expect(stdout).toMatch(/^ok +mine +mine 7\.1 \(/m);
  expect(stdout).toContain('To use it, set branch = true in [agents.mine].');
  expect(stdout).toMatch(/^ok +login +Only a prompt shows whether mine is logged in\. .*A key/m);
  expect(stdout).toMatch(/^PROBLEM +mute .*does not answer as an agent/m);
  expect(stdout).toContain('Check command in [agents.mute]');
  expect(stdout).toMatch(/^PROBLEM +gone +The program ".*gone" of the agent gone does not exist/m);
  expect(await processesLeft(project.folder)).toEqual([]);
  expect(sleeping()).toEqual([]);
});

function sleeping(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep\0' + '86411');
    } catch {
      return false;
    }
  });
}

/** The folder of the PATH with a pi-acp that always answers, and with a pi. */
function piIn(project: Project, pi: string | undefined) {
  const bin = join(project.folder, 'bin ü');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'pi-acp'), SPEAKS, { mode: 0o755 });
  if (pi !== undefined) writeFileSync(join(bin, 'pi'), `#!/bin/sh\n${pi}\n`, { mode: 0o755 });
  return { PATH: `${bin}:${BARE.PATH}` };
}

const says = (version: string, models: string) =>
  `[ "$PI_OFFLINE" = 1 ] || exit 9\ncase $1 in --version) echo '${version}';; *) echo '${models}';; esac`;

test.each([
  [
    'missing',
    undefined,
    /^PROBLEM +pi .*pi-acp starts the program "pi", which is not on the PATH/m,
  ],
  ['too old', says('0.73.1', ''), /^PROBLEM +pi +pi 0\.73\.1 \(.*\) is older than 0\.81\.0/m],
  ['broken', 'echo "Node.js v20.20.2" >&2; exit 1', /^PROBLEM +pi +.*does not report a version/m],
  [
    'logged out',
    says('0.87.1', 'No models available.'),
    /^PROBLEM +login +pi is not logged in\.$/m,
  ],
  ['ready', says('0.87.1', 'provider  model'), /^ok +login +pi has models that it can use$/m],
  ['odd', says('0.87.1', 'hm'), /^warning +login +Raymond cannot determine whether pi is/m],
])('a pi that is %s', async (how, pi, expected) => {
  const project = newProject({});
  configure(project, '[raymond]\nagent = "pi"\n');
  const stdout = await examined(project, piIn(project, pi));
  expect(stdout).toMatch(expected);
  if (!['ready', 'odd', 'logged out'].includes(how))
    expect(stdout).toContain('npm install -g @earendil-works/pi-coding-agent');
  if (how === 'ready')
    expect(stdout).toMatch(/^ok +abilities +pi can adopt, rights; cost in USD; cannot branch/m);
});
