/** A project in a git repository with runs for the views of the page: changed files, many steps, failures. */
import { execFileSync } from 'node:child_process';
import { SIXTY_STATES } from '../drawings/ten-workflows.ts';
import { writeBusyRun } from '../kept-runs.ts';
import { Project } from '../raymond.ts';

const EVIL = `<img src=x onerror="document.title='broken'">`;

/** Steps of the run `loop`. */
export const LOOPS = 120;

export function viewsProject(more: Readonly<Record<string, string>> = {}): Project {
  const project = new Project({ ...FILES, ...more });
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: project.folder, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'x');
  git('config', 'user.email', 'x@x');
  git('add', '--all');
  git('commit', '-qm', 'first');
  return project;
}

export const TIDY = ['tidy', '--workflow-id', 'tidy-1', '--checkpoints', 'steps'];
/** Without records, even if a busy machine makes a script slow. */
export const LOOP = [
  ...['loop', '--workflow-id', 'loop', '--max-iterations', '0'],
  ...['--checkpoints', 'none'],
];

export const CHAIN = ['chain', '--workflow-id', 'chain'];

/** A workflow of 30 states in a row. */
const chain = Object.fromEntries(
  Array.from({ length: 30 }, (_, n) => [
    n === 0 ? 'chain/START.sh' : `chain/S${n}.sh`,
    `echo '${n === 29 ? '<result>end</result>' : `<goto>S${n + 1}</goto>`}'\n`,
  ]),
);

/** A workflow of 60 states, and a run in which agents failed and ask. */
const sixty = Object.fromEntries(
  Object.entries(SIXTY_STATES).map(([name, text]) => [
    `sixty/${name.includes('.') ? name : `${name}.md`}`,
    text,
  ]),
);

export function writeSixty(project: Project): void {
  const states = Object.keys(sixty).map((path) => path.replace('sixty/', ''));
  const workflow = project.path('sixty');
  writeBusyRun(project.folder, 'sixty', { agents: 40, events: 2_000, states, workflow });
}

const FILES = {
  ...chain,
  ...sixty,
  '.gitignore': '.raymond\n',
  'src/pool/pool.ts': Array.from({ length: 30 }, (_, n) => `export const line${n} = ${n};`).join(
    '\n',
  ),
  'src/pool/old.ts': 'export const old = true;\n',
  'docs/guide.md': '# Guide\n\nOld words.\n',
  'tidy/START.sh': `echo '<fork worktree="docs" part="docs">DOCS</fork><fork part="broken">BREAK</fork><goto>EDIT</goto>'\n`,
  'tidy/EDIT.sh': [
    `sed -i 's/line3 = 3/line3 = 33/; s/line20 = 20/line20 = "${'x'.repeat(30)}"/' src/pool/pool.ts`,
    'rm src/pool/old.ts',
    `echo "export const evil = '${EVIL.replaceAll('"', '\\"').replaceAll("'", '`')}';" > "src/pool/new ${'<b>'}.ts"`,
    `printf 'a\\0b' > logo.png`,
    `echo "<result>edited</result>"`,
  ].join('\n'),
  'tidy/DOCS.sh': `echo '# Guide' > docs/guide.md; git commit -qam docs; echo '<result>docs</result>'\n`,
  'wait/START.sh': `while [ ! -e go-on ]; do sleep 0.05; done; echo '<goto>END</goto>'\n`,
  'wait/END.sh': `echo '<result>over</result>'\n`,
  'asking/START.sh': `echo '<ask next="END">Which one?</ask>'\n`,
  'asking/END.sh': `echo '<result>asked</result>'\n`,
  'wip/START.sh': `cd "$RAYMOND_TASK_FOLDER" && git init -q . && echo x > x && echo '<result>wip</result>'\n`,
  'say/START.sh': `echo "<result>said $RAYMOND_INPUT</result>"\n`,
  'tidy/BREAK.sh': `[ -e fixed ] && { echo '<result>fixed</result>'; exit; }; echo '${EVIL.replaceAll("'", '`')}' >&2; exit 3\n`,
  'loop/START.sh': `n=$(cat n 2>/dev/null || echo 0); echo "round $n"; echo $((n + 1)) > n; if [ $n -lt ${LOOPS} ]; then echo '<goto>NEXT</goto>'; else echo '<result>over</result>'; fi\n`,
  'loop/NEXT.sh': `echo '<goto>START</goto>'\n`,
};
