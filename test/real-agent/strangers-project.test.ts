// A cloned project does not command the agent until the user has approved its files.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { appendFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import { type Age, suiteAges } from './claude-sandbox.ts';
import { plantSettings } from './plant-settings.ts';
import { answering, type RaymondSandbox, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();
const HELLO = { 'START.md': 'Say hello.' };
const SAYS = answering({ 'Say hello.': '<result>hello</result>' });

/** The marks that the files of the project have left. */
const marks = ({ claude }: RaymondSandbox) =>
  readdirSync(dirname(claude.work)).filter((name) => name.startsWith('mark-'));

async function clone(age: Age, workflow = HELLO, script = SAYS) {
  const made = await sandbox({ age, workflow, script });
  plantSettings(made.claude.work, join(dirname(made.claude.work), 'mark-'));
  return made;
}

test.each(inSuite<Age>(['older'], ['newer']))(
  '%s: hooks, helpers and servers of a clone do not run',
  async (age) => {
    const made = await clone(age);
    const { code, stderr } = await made.run('workflow');
    expect(marks(made)).toEqual([]);
    expect(code).toBe(0);
    expect(stderr.split('\n').filter((line) => line.includes('.mcp.json'))).toEqual([
      'claude does not load settings of this project that you have not approved (.claude/settings.json, .claude/settings.local.json, .mcp.json), nor its CLAUDE.md.',
    ]);
    expect(stderr).toContain('To see and approve them: raymond trust');
  },
);

test.each(suiteAges)('%s: they run after an approval, until one of them changes', async (age) => {
  const made = await clone(age);
  const refused = await made.run('trust');
  expect(refused.code).not.toBe(0);
  // Everything is shown before anything is approved.
  expect(refused.stderr).toContain('"apiKeyHelper"');
  expect(await made.run('trust', '--yes')).toMatchObject({ code: 0 });
  const { stderr } = await made.run('workflow');
  expect(stderr).not.toContain('approved');
  expect(marks(made)).toContain('mark-hook');
  expect(marks(made)).toContain('mark-server');
  for (const mark of marks(made)) await rm(join(dirname(made.claude.work), mark));
  await appendFile(made.file('.mcp.json'), ' ');
  expect((await made.run('workflow')).stderr).toContain('(.mcp.json)');
  expect(marks(made)).toEqual([]);
});

test('what the user has trusted in Claude Code itself counts, and a folder above does not', async () => {
  const made = await clone('newer');
  const own = join(made.claude.configFolder, '.claude.json');
  const accepted = (folder: string) =>
    writeFile(own, JSON.stringify({ projects: { [folder]: { hasTrustDialogAccepted: true } } }));
  await accepted(dirname(made.claude.work));
  await made.run('workflow');
  expect(marks(made)).toEqual([]);
  await accepted(made.claude.work);
  await made.run('workflow');
  expect(marks(made)).toContain('mark-hook');
});

test('settings that appear while a run works do not count at the next turn of a warm agent', async () => {
  const hooks = {
    UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'touch ../mark-own' }] }],
  };
  const made = await sandbox({
    age: 'newer',
    workflow: {
      'START.md': 'Begin.',
      'WRITE.sh': `mkdir .claude; echo '${JSON.stringify({ hooks })}' > .claude/settings.json; echo '<goto>TWO</goto>'`,
      'TWO.md': 'Say hello.',
    },
    script: answering({
      'Begin.': '<goto>WRITE</goto>',
      'Say hello.': '<result>hello</result>',
    }),
  });
  expect(await made.run('workflow')).toMatchObject({ stdout: 'hello\n' });
  expect(existsSync(made.file('.claude/settings.json'))).toBe(true);
  expect(marks(made)).toEqual([]);
});

test('a worktree has the approvals of its project', async () => {
  const made = await clone('newer', HELLO);
  await rm(made.file('.git'), { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', [
      '-C',
      made.claude.work,
      '-c',
      'user.name=x',
      '-c',
      'user.email=x',
      ...args,
    ]);
  git('init', '-q');
  await writeFile(
    made.file('workflow/START.sh'),
    `echo '<fork worktree="w" next="END">TALK</fork>'`,
  );
  await rm(made.file('workflow/START.md'));
  await writeFile(made.file('workflow/TALK.md'), 'Say hello.');
  await writeFile(made.file('workflow/END.sh'), `echo '<join>OVER</join>'`);
  await writeFile(made.file('workflow/OVER.sh'), `echo '<result>over</result>'`);
  git('add', '-A');
  git('commit', '-qm', 'x');
  await made.run('workflow');
  expect(marks(made)).toEqual([]);
  await made.run('trust', '--yes');
  await made.run('workflow');
  expect(marks(made)).toContain('mark-hook');
});

test('a link in place of a settings file is never approved', async () => {
  const made = await sandbox({ age: 'newer', workflow: HELLO, script: SAYS });
  const outside = join(dirname(made.claude.work), 'elsewhere');
  await mkdir(outside);
  plantSettings(outside, join(dirname(made.claude.work), 'mark-'));
  await symlink(join(outside, '.claude'), made.file('.claude'));
  const { stderr } = await made.run('trust', '--yes');
  expect(stderr).toContain('.claude cannot be approved');
  await made.run('workflow');
  expect(marks(made)).toEqual([]);
  expect(existsSync(made.file('.claude'))).toBe(true);
});
