/**
 * Joins of agents in worktrees. Some commit, in one step or in two, one of them on its own branch.
 * One leaves its tree clean, one leaves it dirty, and one fails with a dirty tree. One forks children
 * from its own commit, and needs two of their three results. The parent merges, and does it again.
 *
 * The agent is a program that speaks like Claude Code and works with git. It does nothing twice, and
 * all commits have the same date. So two runs have the same commits, however often they are disturbed.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { namesIn } from '../names-in.ts';
import type { Project } from '../raymond.ts';
import { RUN } from './moments.ts';
import { script } from './torture-workflow.ts';

const REQUEST = 'STATE={{state}} ITEM={{item}} ROUND={{round}};\n';

export const WORKTREE_WORKFLOW: Readonly<Record<string, string>> = {
  'file.txt': 'one\n',
  'slow.txt': 'slow\n',
  '.gitattributes': 'slow.txt filter=slow\n',
  '.gitignore': 'log\n',
  'worktrees/START.sh': script(`
round=\${RAYMOND_RESULT:-1}
note "$round"
for item in commit two own clean dirty fail nest; do
  echo "<fork worktree=\\"$item-$round\\" item=\\"$item\\" round=\\"$round\\">WORK</fork>"
done
echo '<join failed_next="MERGE">NEVER</join>'`),
  'worktrees/WORK.md': REQUEST,
  'worktrees/MORE.md': REQUEST,
  'worktrees/LEAF.md': REQUEST,
  'worktrees/NESTED.md': REQUEST,
  'worktrees/NEVER.sh': script('note never; exit 1'),
  // An attempt that was killed may have left half of a merge.
  'worktrees/MERGE.sh': script(`
array=$RAYMOND_RESULT
round=$(round)
# The costs in the array depend on the number of attempts.
RAYMOND_RESULT=$round
note "merge $(joined)"
if [ "$RAYMOND_ATTEMPT" != 1 ]; then
  rm -f .git/*.lock .git/refs/heads/*.lock
  git reset -q --hard && git clean -qf -- '*.txt'
fi
set -e
for branch in $(grep -o '"branch":"[^"]*","commits":[1-9]' <<<"$array" | cut -d '"' -f 4); do
  git merge -q --no-edit "$branch" >&2
done
if [ "$round" = 1 ]; then echo '<goto input="2">START</goto>'; exit; fi
printf '<result>%s</result>' "$array"`),
};

const AGENT = `#!/bin/bash
tell() { printf '%s\\n' "$1"; }
tidy() { rm -f "$(git rev-parse --git-dir)"/*.lock "$(git rev-parse --git-common-dir)/refs/heads/$(git branch --show-current).lock"; }
commit() {
  tidy
  git log --format=%s | grep -qx "$1" && return
  echo "$1" >"$1.txt" && git add "$1.txt" && git commit -q -m "$1"
}
work() {
  local branch=raymond/${RUN}
  case $1:$2 in
  WORK.md:commit) commit "commit-$3" && tell "<result>committed $3</result>" ;;
  WORK.md:two) commit "first-$3" && tell '<goto>MORE</goto>' ;;
  MORE.md:two) commit "second-$3" && tell '<result>two commits</result>' ;;
  WORK.md:own)
    [ "$(git branch --show-current)" = "own/$3" ] || git checkout -q -B "own/$3"
    commit "own-$3" && tell '<result>elsewhere</result>' ;;
  WORK.md:clean) tell '<result>nothing</result>' ;;
  WORK.md:dirty) echo draft >draft.txt; tell '<result>a draft</result>' ;;
  WORK.md:fail) echo half >half.txt; tell 'I cannot do this.' ;;
  WORK.md:nest)
    commit "outer-$3" || return
    for leaf in done empty slow; do
      printf "<fork worktree='%s-%s' item='%s' round='%s'>LEAF</fork>" "$leaf" "$3" "$leaf" "$3"
    done
    tell "<join of='2'>NESTED</join>" ;;
  LEAF.md:done) commit "leaf-$3" && tell '<result>a leaf</result>' ;;
  LEAF.md:empty) tell '<result>no leaf</result>' ;;
  LEAF.md:slow) sleep 600 ;;
  NESTED.md:nest)
    tidy
    git reset -q --hard && git clean -qf && git merge -q --no-edit "$branch/done-$3" >&2 &&
      tell '<result>both</result>' ;;
  esac
}
while IFS= read -r line; do
  case $line in
  *'"control_request"'*)
    id=\${line#*'"request_id":"'}
    tell '{"type":"control_response","response":{"request_id":"'"\${id%%\\"*}"'","subtype":"success"}}'
    continue ;;
  *'"type":"user"'*) ;;
  *) continue ;;
  esac
  tell '{"type":"system","subtype":"init","session_id":"'"\${PWD##*/}"'","model":"x","claude_code_version":"2.1.325"}'
  # A continuation names no request. The last one is meant.
  case $line in *STATE=*)
    request=\${line#*STATE=}
    echo "\${request%%;*}" | sed 's/ITEM=//; s/ROUND=//' >"$PLACE/requests/\${PWD##*/}" ;;
  esac
  read -r state item round <"$PLACE/requests/\${PWD##*/}"
  # A child that fails is retried by a resume. A slow one may be stopped before this, or while it reads its request.
  case $item in fail | slow | '') ;; *) printf '%s\\n' "\${PWD##*/} $state try=?" >>"$LOG" ;; esac
  answer=$(work "$state" "$item" "$round" 2>>"$PLACE/errors")
  tell '{"type":"assistant","message":{"id":"m","model":"x","content":[{"type":"text","text":"'"$answer"'"}],"usage":{}}}'
  tell '{"type":"result","subtype":"success","is_error":false,"result":"'"$answer"'","total_cost_usd":0.01,"permission_denials":[],"stop_reason":"end_turn"}'
done
`;

const SLOW_FILTER = '#!/bin/bash\nsleep 0.03\ncat\n';

const CONFIG = `[user]
name = x
email = x@x
[init]
defaultBranch = main
[gc]
auto = 0
[filter "slow"]
smudge = slow-filter
clean = cat
`;

/** Makes the project a repository. Returns the environment of the game. */
export function prepareRepository(project: Project): Record<string, string> {
  const place = dirname(project.folder);
  const bin = join(place, 'bin');
  mkdirSync(bin);
  mkdirSync(join(place, 'requests'));
  for (const [name, text] of [
    ['the-agent', AGENT],
    ['slow-filter', SLOW_FILTER],
  ] as const) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  writeFileSync(join(place, '.gitconfig'), CONFIG);
  const environment = {
    HOME: place,
    PATH: `${bin}:${process.env.PATH}`,
    PLACE: place,
    LOG: project.path('log'),
    RAYMOND_CLAUDE: join(bin, 'the-agent'),
    // Each pause allows a retry.
    RAYMOND_RETRY_PAUSES_MS: '1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1',
    GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
    GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
  };
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-q', '-m', 'first'],
  ])
    execFileSync('git', args, { cwd: project.folder, env: { ...process.env, ...environment } });
  return environment;
}

/** The branches and worktrees that are left. Throws if anything is half made, or half removed. */
export function leftInRepository(project: Project) {
  const git = (folder: string, ...args: string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).split('\n').filter(Boolean);
  const listed = git(project.folder, 'worktree', 'list', '--porcelain');
  assert.deepEqual(
    listed.filter((line) => /^(locked|prunable)/.test(line)),
    [],
  );
  const ofRun = project.path('.raymond', 'worktrees', RUN);
  const trees = listed
    .filter((line) => line.startsWith(`worktree ${ofRun}/`))
    .map((line) => line.slice(`worktree ${ofRun}/`.length))
    .sort();
  assert.deepEqual(
    readdirSync(ofRun).sort(),
    trees,
    'a folder of a worktree that git does not know',
  );
  assert.deepEqual(readdirSync(project.path('.git', 'worktrees')).sort(), trees);
  assert.deepEqual(namesIn(project.path('.raymond', 'runs', RUN, 'worktrees')), []);
  return {
    branches: withoutRecords(
      git(project.folder, 'for-each-ref', '--format=%(refname) %(objectname) %(subject)'),
    ),
    main: git(project.folder, 'status', '--porcelain'),
    trees: trees.map((name) => ({
      name,
      head: git(join(ofRun, name), 'log', '-1', '--format=%H %D'),
      status: git(join(ofRun, name), 'status', '--porcelain'),
    })),
  };
}

/** A script that took longer because of a kill has a record of its files. Records are no work. */
function withoutRecords(refs: readonly string[]): readonly string[] {
  return refs.filter((ref) => !ref.startsWith(`refs/raymond/${RUN}/`));
}
