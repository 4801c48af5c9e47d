import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ages, suiteAges } from './claude-sandbox.ts';
import { sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

test.each(ages)(
  'doctor finds no problem with the %s Claude Code, and spends nothing',
  async (age) => {
    const { run, model, claude } = await sandbox({ age, workflow: {}, script: [] });
    const { code, stdout } = await run('doctor');
    expect(stdout).toMatch(/^ok +node +Node\.js /m);
    expect(stdout).toMatch(/^ok +claude +Claude Code 2\.1\.\d+ /m);
    expect(stdout).toMatch(/^ok +login +Claude Code is logged in \(api_key\)$/m);
    expect(stdout).toContain(`${claude.work}/.raymond is writable`);
    expect(stdout).toContain('Workflows can run here.');
    expect(code).toBe(0);
    expect([...model.requests, ...model.sideRequests]).toEqual([]);
  },
);

test.each(suiteAges)('doctor finds a missing login with the %s Claude Code', async (age) => {
  const environment = { ANTHROPIC_API_KEY: '' };
  const { run } = await sandbox({ age, workflow: {}, script: [], environment });
  const { code, stdout } = await run('doctor', '--json');
  const { ok, checks } = JSON.parse(stdout);
  expect([code, ok]).toEqual([1, false]);
  expect(checks).toContainEqual({
    name: 'login',
    verdict: 'problem',
    fact: 'Claude Code is not logged in.',
    remedy: expect.stringContaining('ANTHROPIC_API_KEY'),
  });
});

test('doctor names project rules that the agent ignores until the folder is trusted', async () => {
  const { run, file, claude } = await sandbox({ age: 'newer', workflow: {}, script: [] });
  expect((await run('doctor')).stdout).not.toContain('agent rules');
  await mkdir(file('.claude'));
  await writeFile(file('.claude/settings.json'), '{"permissions":{"deny":["Bash"]}}');
  expect((await run('doctor')).stdout).not.toContain('agent rules');
  await writeFile(file('.claude/settings.local.json'), '{"permissions":{"allow":["Bash"]}}');
  const { code, stdout } = await run('doctor');
  expect(stdout).toMatch(/^warning +agent rules +Claude Code ignores .*settings\.local\.json/m);
  expect(stdout).toContain('--allowed-tools');
  expect(code).toBe(0);
  const trusted = { projects: { [dirname(claude.work)]: { hasTrustDialogAccepted: true } } };
  await writeFile(join(claude.configFolder, '.claude.json'), JSON.stringify(trusted));
  expect((await run('doctor')).stdout).not.toContain('agent rules');
});

test('doctor reports all problems together, each with its remedy', async () => {
  const environment = { RAYMOND_CLAUDE: '/no/such/claude', PATH: '/nowhere' };
  const { run, file } = await sandbox({ age: 'newer', workflow: {}, script: [], environment });
  await mkdir(file('.raymond'));
  await writeFile(file('.raymond/config.toml'), '[raymond]\nbudgte = 1\n');
  const { code, stdout } = await run('doctor');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^PROBLEM +claude +RAYMOND_CLAUDE names \/no\/such\/claude/m);
  expect(stdout).toMatch(/^PROBLEM +config .*line 2.*"budgte"/m);
  expect(stdout).toContain('Did you mean budget?');
  expect(stdout).toMatch(/^warning +git +git is not installed/m);
  expect(stdout).toContain('2 problems must be fixed.');
});

test.each([
  ['2.1.100 (Claude Code)', 0, /^warning +claude .*older than 2\.1\.197/m],
  ['99.0.0 (Claude Code)', 0, /^ok +claude .*newer than 2\.1\.325/m],
  ['GNU claude', 1, /^PROBLEM +claude .*does not report a version/m],
])('doctor judges a claude with the version "%s"', async (version, code, expected) => {
  const { run, file, claude } = await sandbox({
    age: 'newer',
    workflow: {},
    script: [],
    environment: { RAYMOND_CLAUDE: './claude' },
  });
  const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo '${version}'; fi\n`;
  await writeFile(file('claude'), script, { mode: 0o755 });
  const finished = await run('doctor');
  expect(finished.stdout).toMatch(expected);
  expect(finished.stdout).toMatch(/^warning +login +Raymond cannot determine/m);
  expect(finished.code).toBe(code);
  expect(finished.stdout).toContain(claude.work);
});
