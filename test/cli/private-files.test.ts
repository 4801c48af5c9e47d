// Runs contain secrets. So what Raymond writes is for its user alone, whatever the umask.
import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { newProject } from '../new-project.ts';
import { writeZip } from '../zip-writer.ts';

const FAKE = join(import.meta.dirname, '..', 'real-agent', 'fake-claude.js');

/** Everything in a folder that others can read, except the trees in which agents work. */
function open(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    const { mode } = lstatSync(path);
    const found = entry.isSymbolicLink() || (mode & 0o077) === 0 ? [] : [path];
    const isTree = dirname(folder).endsWith('/worktrees');
    return [...found, ...(entry.isDirectory() && !isTree ? open(path) : [])];
  });
}

test.runIf(process.platform !== 'win32')(
  'with a umask of 0, no file of a run can be read by others',
  async () => {
    const project = newProject({
      file: 'x',
      'flow/START.md': 'Talk.',
      'flow/TREE.sh': `echo '<fork worktree="w" next="WAIT">WORK</fork>'`,
      'flow/WORK.sh': `echo y >new; sleep 0; echo '<result>ok</result>'`,
      'flow/WAIT.sh': `echo '<join>ASK</join>'`,
      'flow/ASK.sh': `echo '<ask next="END">Well?</ask>'`,
      'flow/END.sh': `echo "$RAYMOND_TASK_FOLDER" >note; echo '<result>over</result>'`,
      '.raymond/config.toml': '[raymond]\nclaude_path = "claude"\n',
    });
    project.write('z.zip', writeZip([{ name: 'START.sh', content: `echo '<result>z</result>'` }]));
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', ...args], {
        cwd: project.folder,
      });
    git('init', '-q');
    git('add', 'file', 'flow');
    git('commit', '-qm', 'x');
    // The commands inherit it.
    const umask = process.umask(0);
    const env = {
      RAYMOND_CLAUDE: FAKE,
      FAKE_CLAUDE: 'acts',
      FAKE_CLAUDE_COMMAND: 'echo z >file',
      FAKE_CLAUDE_ANSWER: '<goto>TREE</goto>',
      FAKE_CLAUDE_LOG: join(dirname(project.folder), 'agent.log'),
    };
    const raymond = (...args: string[]) => project.run(args, { env });
    try {
      expect(await raymond('flow', '--workflow-id', 'r')).toMatchObject({ code: 2 });
      expect(await raymond('answer', 'r', 'fine')).toMatchObject({ code: 0 });
      expect(await raymond('resume', 'r')).toMatchObject({ code: 0 });
      expect(await raymond('rewind', 'r', '--to', 'main:1', '--yes')).toMatchObject({ code: 0 });
      expect(await raymond('z.zip', '--workflow-id', 'z')).toMatchObject({ code: 0 });
      expect(await raymond('z.zip', '--workflow-id', 'd', '--detach')).toMatchObject({ code: 0 });
      await raymond('watch', 'd');
      await raymond('trust', '--yes');
      await raymond('list');
      await raymond('show', 'r');
    } finally {
      process.umask(umask);
    }
    const home = join(dirname(project.folder), '.home');
    const found = [...open(project.path('.raymond')), ...open(home)].map((path) =>
      relative(dirname(project.folder), path),
    );
    // The folders of the test itself, and files that contain nothing of a run.
    const known = ['project/.raymond/config.toml', '.home/config', '.home/state'];
    expect(found.filter((path) => !known.includes(path))).toEqual([]);
  },
);
