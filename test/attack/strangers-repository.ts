/** A cloned repository whose files command agents, git or Raymond. The agents are real. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { armRepository } from '../armed-repository.ts';
import { type AcpName, realAgent } from '../other-agents/acp-agents.ts';
import { BIN } from '../raymond.ts';
import type { Age } from '../real-agent/claude-sandbox.ts';
import { plantSettings } from '../real-agent/plant-settings.ts';
import { raymondSandbox } from '../real-agent/raymond-sandbox.ts';
import type { Attack, Scene } from './attack.ts';

export const STRANGERS_REPOSITORY: readonly Attack[] = [
  ...(['older', 'newer'] as const).flatMap((age): readonly Attack[] => [
    {
      name: `hooks, apiKeyHelper and .mcp.json of a clone, ${age} Claude Code`,
      ...(age === 'older' && { isSlow: true }),
      expected: 'nothing ran',
      play: () => inClone({ age }, []),
    },
    {
      name: `control: the same files after an approval, ${age} Claude Code`,
      isSlow: true,
      expected: 'ran: helper, hook, local, prompt, server',
      play: () => inClone({ age }, ['trust', '--yes']),
    },
  ]),
  ...(['opencode', 'claude-acp'] as const).map(
    (agent): Attack => ({
      name: `settings of a clone for ${agent}`,
      isSlow: true,
      expected: 'nothing ran',
      play: () => inClone({ age: 'newer', agent }, []),
    }),
  ),
  ...(['codex-acp', 'gemini'] as const).map(
    (agent): Attack => ({
      name: `settings of a clone for ${agent}, which loads them whatever it is told`,
      expected: 'nothing ran, refused',
      play: () => inClone({ age: 'newer', agent }, []),
    }),
  ),
  {
    name: 'control: settings for opencode after an approval',
    isSlow: true,
    expected: 'ran: opencode',
    play: () => inClone({ age: 'newer', agent: 'opencode' }, ['trust', '--yes']),
  },
  {
    name: 'a config file of a clone chooses the agent',
    expected: 'ignored',
    files: () => ({
      'talk/START.md': 'Say hello.',
      '.raymond/config.toml': '[raymond]\nagent = "opencode"\n',
    }),
    play: async ({ agent }) => {
      const { stdout, stderr } = await agent({ answers: '<result>hello</result>' }, 'talk');
      return stdout === 'hello\n' && stderr.includes('Ignored: agent') ? 'ignored' : stderr;
    },
  },
  {
    name: 'a contradiction in an unapproved config file',
    expected: 'it blocks nothing',
    files: () => ({
      'once/START.sh': `echo '<result>done</result>'`,
      '.raymond/config.toml':
        '[raymond]\ndangerously_skip_permissions = true\npermission_mode = "plan"\n',
    }),
    play: async ({ project }) => {
      const codes = [];
      for (const args of [['once'], ['config'], ['list']])
        codes.push((await project.run(args)).code);
      return codes.every((code) => code === 0) ? 'it blocks nothing' : `exit codes ${codes}`;
    },
  },
  {
    name: 'a rehearsal that compares trees, beside a nested repository with filters and monitors',
    expected: 'it did not run',
    files: unchanged,
    play: async (scene) => {
      nest(scene);
      await scene.project.run(['loop', '--rehearse', '--max-iterations', '5']);
      return scene.ran();
    },
  },
  {
    name: 'control: git add in the same tree',
    expected: 'it ran',
    files: unchanged,
    play: async (scene) => {
      nest(scene);
      execFileSync('git', ['add', '--all'], { cwd: scene.project.folder, stdio: 'ignore' });
      return scene.ran();
    },
  },
  {
    name: 'an orchestrating agent starts a workflow that it has just written',
    expected: 'it did not run',
    play: async (scene) => {
      await orchestrate(scene, 'after');
      return scene.ran();
    },
  },
  {
    name: 'control: it starts a workflow that was there before',
    expected: 'it ran',
    play: async (scene) => {
      await orchestrate(scene, 'before');
      return scene.ran();
    },
  },
  {
    name: 'init into a folder of a clone that is a link',
    expected: 'nothing written',
    play: async ({ project }) => {
      const outside = join(dirname(project.folder), 'outside');
      mkdirSync(outside);
      symlinkSync('../outside', project.path('flow'));
      await project.run(['init', 'research', 'flow']);
      return readdirSync(outside).length === 0 ? 'nothing written' : 'written';
    },
  },
  {
    name: 'a private index under umask 0',
    expected: 'mode 600',
    files: () => ({ 'talk/START.md': 'Say hello.' }),
    play: async ({ project, agent }) => {
      execFileSync('git', ['init', '-q'], { cwd: project.folder });
      const before = process.umask(0);
      try {
        await agent({ answers: '<result>x</result>' }, 'talk', '--workflow-id', 'r');
      } finally {
        process.umask(before);
      }
      const files = project.path('.raymond/runs/r/files');
      const [tree = ''] = readdirSync(files);
      return `mode ${(statSync(join(files, tree, 'index')).mode & 0o777).toString(8)}`;
    },
  },
  {
    name: 'a worktree with work, deleted by hand',
    expected: 'reported',
    files: () => ({
      'flow/START.sh': `echo '<fork worktree="w" next="END">WORK</fork>'`,
      'flow/WORK.sh': `echo draft >draft; echo '<ask next="END">Well?</ask>'`,
      'flow/END.sh': `echo '<result>x</result>'`,
    }),
    play: async ({ project }) => {
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', ...args], {
          cwd: project.folder,
        });
      git('init', '-q');
      git('add', 'flow');
      git('commit', '-qm', 'x');
      await project.run(['flow', '--workflow-id', 'r']);
      rmSync(project.path('.raymond/worktrees'), { recursive: true });
      const said = [];
      for (const args of [
        ['show', 'r'],
        ['resume', 'r', '--input', 'yes'],
      ]) {
        const { stdout, stderr } = await project.run(args);
        said.push((stdout + stderr).includes('main_work1 no longer exists'));
      }
      return said.every(Boolean) ? 'reported' : `${said}`;
    },
  },
];

/** Runs a workflow of the user in a cloned project, and says which files of the clone ran. */
async function inClone(
  { age, agent }: { readonly age: Age; readonly agent?: AcpName },
  before: readonly string[],
): Promise<string> {
  const other = agent && (await realAgent(agent, () => '<result>hello</result>'));
  const raymond = await raymondSandbox({
    age,
    workflow: { 'START.md': `---\nagent: ${agent ?? 'claude'}\n---\nSay hello.` },
    script: () => '<result>hello</result>',
    environment: other?.environment ?? {},
  });
  try {
    const root = dirname(raymond.claude.work);
    plantSettings(raymond.claude.work, join(root, 'mark-'));
    if (before.length > 0) await raymond.run(...before);
    const { code } = await raymond.run('workflow');
    const marks = readdirSync(root).flatMap((name) => /^mark-(.*)$/.exec(name)?.[1] ?? []);
    const seen = marks.length === 0 ? 'nothing ran' : `ran: ${marks.sort().join(', ')}`;
    return code === 0 ? seen : `${seen}, refused`;
  } finally {
    await raymond.remove();
    await other?.remove();
  }
}

function unchanged() {
  return {
    'loop/START.md':
      '---\nevaluators:\n  - { unchanged: 2, then: { tag: result, payload: same } }\n---\nGo. <goto>START</goto>',
  };
}

/** A repository in the project that git knows as a module, and that names programs. */
function nest({ project, mark }: Scene): void {
  const inner = project.path('module');
  mkdirSync(inner);
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', ...args], {
      cwd,
      stdio: 'ignore',
    });
  git(inner, 'init', '-q');
  project.write('module/file', 'x');
  git(inner, 'add', 'file');
  git(inner, 'commit', '-qm', 'x');
  git(project.folder, 'init', '-q');
  git(project.folder, 'add', 'module');
  armRepository(inner, mark);
  project.write('module/file', 'changed');
  rmSync(mark, { force: true });
}

async function orchestrate({ project, mark }: Scene, when: 'before' | 'after'): Promise<void> {
  const write = () => project.write('evil/START.sh', `touch '${mark}'\necho '<result>x</result>'`);
  if (when === 'before') write();
  const client = new Client({ name: 'attack', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [BIN, 'mcp'],
      cwd: project.folder,
      env: { ...project.environment },
      stderr: 'ignore',
    }),
  );
  if (when === 'after') write();
  const call = (name: string, given: Readonly<Record<string, unknown>>) =>
    client.callTool({ name, arguments: { ...given } });
  await call('start', { workflow: 'evil', id: 'e' });
  if (existsSync(project.path('.raymond/state/e.jsonl'))) await call('watch', { run: 'e' });
  await client.close();
}
