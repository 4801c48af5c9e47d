import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { gitWorktrees } from '../../src/execute/git/worktrees.ts';
import { RunProcesses } from '../../src/execute/process/index.ts';
import type { AgentWorktree } from '../../src/model/worktree.ts';
import { STEP_KEY } from '../step-key.ts';

export const RUN = 'run-1';

/** A repository with one commit, and the worktrees of a run in it. */
export function world(name = 'with space ä') {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-worktrees-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  vi.stubEnv('HOME', root);
  vi.stubEnv('XDG_CONFIG_HOME', join(root, '.config'));
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const main = join(root, name);
  mkdirSync(main);
  const git = (folder: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  git(main, 'init', '-q', '-b', 'main');
  mkdirSync(join(main, 'süb dir'));
  mkdirSync(join(main, '.raymond'));
  writeFileSync(join(main, '.raymond', '.gitignore'), '*\n');
  writeFileSync(join(main, 'file'), 'one\n');
  writeFileSync(join(main, '.gitignore'), 'ignored\n');
  writeFileSync(join(main, 'süb dir', 'inner'), 'x\n');
  git(main, 'add', '.');
  git(main, 'commit', '-q', '-m', 'first');
  const runFolder = join(main, '.raymond', 'runs', RUN);
  mkdirSync(runFolder, { recursive: true });
  const folder = join(main, '.raymond', 'worktrees', RUN);
  const worktrees = gitWorktrees({
    run: RUN,
    folder,
    records: join(runFolder, 'worktrees'),
    processes: new RunProcesses(runFolder, { key: STEP_KEY }),
  });
  /** As a fork decides it. */
  const planned = async (
    agent = 'main_w1',
    { directory = main, base, name: branch = 'fix' }: Partial<Planned> = {},
  ) => {
    const found = await worktrees.find(directory, base);
    if (!found.found) throw new Error(found.problem);
    const path = join(found.folder, agent);
    const tree = { path, base: found.base, repository: found.repository };
    const worktree: AgentWorktree = {
      branch: `raymond/${RUN}/${branch}`,
      tree,
      look: undefined,
      wasSeen: false,
    };
    return { agent, worktree, path, cwd: join(path, found.place) };
  };
  const make = ({ agent, worktree, cwd }: Awaited<ReturnType<typeof planned>>) =>
    worktrees.make(agent, worktree, cwd).done;
  const made = async (agent?: string, more?: Partial<Planned>) => {
    const plan = await planned(agent, more);
    expect(await make(plan)).toBeUndefined();
    return plan;
  };
  const branches = () => git(main, 'branch', '--list', 'raymond/*').split('\n').join('');
  return { root, main, folder, git, worktrees, planned, make, made, branches };
}

interface Planned {
  readonly directory: string;
  readonly base: string | undefined;
  readonly name: string;
}
