/** Ten workflows of 5 to 60 states. Diagrams of them must be readable. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Workflow } from '../../src/model/workflow.ts';
import { workflowOf } from '../lint/workflow-of.ts';

const DESKS = 'BILLING LOGIN SHIPPING RETURNS BUGS PRIVACY SALES ACCESS PRESS'.split(' ');

/** The texts of the states of a workflow with 60 states, by their names. */
export const SIXTY_STATES = sketchedFiles(`
      START: goto GOALS
      GOALS: ask SCOPE | 2d CANCEL
      SCOPE: call RESEARCH -> SPEC
      RESEARCH: fork SURVEY, fork INTERVIEW, fork NUMBERS, join DIGEST | 4h LATE
      SURVEY: result
      INTERVIEW: result
      NUMBERS.sh: result
      DIGEST.sh: goto DIGESTED
      LATE: goto DIGESTED
      DIGESTED: result
      SPEC: function CRITIC -> SPEC_REVIEW
      CRITIC: result
      SPEC_REVIEW: goto SPEC, ask SPEC_ANSWER | 2d CANCEL
      SPEC_ANSWER: goto SPEC, goto DESIGN, goto CANCEL
      DESIGN: goto DESIGN_API, goto DESIGN_DATA
      DESIGN_API: function CRITIC -> DESIGN_DATA
      DESIGN_DATA: function CRITIC -> DESIGN_PAGE
      DESIGN_PAGE: function CRITIC -> DESIGN_DONE
      DESIGN_DONE: goto DESIGN, goto SPLIT
      SPLIT: fork BUILD_API -> GATHER, fork BUILD_DATA -> GATHER, fork BUILD_PAGE -> GATHER, fork DOCS -> GATHER
      ${['API', 'DATA', 'PAGE']
        .map(
          (part) => `
      BUILD_${part}: goto TEST_${part}
      TEST_${part}.sh: goto FIX_${part}, goto LOOK_${part}
      FIX_${part}: goto TEST_${part}, goto STUCK_${part}
      STUCK_${part}: ask FIX_${part} | 8h DROP_${part}
      DROP_${part}.sh: result
      LOOK_${part}: function REVIEW -> ACT_${part}
      ACT_${part}: goto FIX_${part}, result`,
        )
        .join('')}
      REVIEW: call SECURITY -> VERDICT
      SECURITY.sh: result
      VERDICT: result
      DOCS: goto DOCS_CHECK
      DOCS_CHECK.sh: goto DOCS, result
      GATHER.sh: goto GATHER, goto MERGE, goto CANCEL
      MERGE: goto CONFLICT, goto SYSTEM_TEST
      CONFLICT: goto MERGE, goto CANCEL
      SYSTEM_TEST.sh: goto SYSTEM_FIX, goto LOAD_TEST
      SYSTEM_FIX: goto SYSTEM_TEST, goto CANCEL
      LOAD_TEST.sh: goto TUNE, goto RELEASE
      TUNE: goto LOAD_TEST, goto CANCEL
      RELEASE: workflow ../release -> WATCH
      WATCH.sh: goto WATCH, goto ALARM, goto PRAISE
      ALARM: goto ROLLBACK, goto WATCH
      ROLLBACK.sh: goto MERGE, goto CANCEL
      PRAISE: result
      CANCEL: goto CLEAN_UP
      CLEAN_UP.sh: result
    `);

export const TEN_WORKFLOWS: readonly (readonly [name: string, workflow: Workflow])[] = [
  ['approval, 6 states', template('release-approval')],
  ['dispatcher, 6 states', template('parallel-fixes')],
  [
    'coding, 7 states',
    sketch(`
      START: call REFINE -> IMPLEMENT
      REFINE: goto REFINE, result
      IMPLEMENT: goto IMPLEMENT, function EVALUATE -> DECIDE
      EVALUATE: result
      DECIDE: goto IMPLEMENT, reset COMMIT
      COMMIT.sh: goto REVIEW, result
      REVIEW: goto COMMIT, goto REVIEW, result
    `),
  ],
  [
    'research, 10 states',
    sketch(`
      START: goto OUTLINE, result
      OUTLINE: goto ASK_NEXT
      ASK_NEXT: call SUBQUESTION -> NOTE, goto WRITE
      SUBQUESTION: call SEARCH -> WEIGH, call SUBQUESTION -> WEIGH, result
      SEARCH.sh: goto READ, result
      READ: goto SEARCH, result
      WEIGH: goto SUBQUESTION, result
      NOTE.sh: goto ASK_NEXT
      WRITE: function CHECK -> WRITE, result
      CHECK: result
    `),
  ],
  [
    'release, 13 states',
    sketch(`
      START.sh: goto COLLECT, result
      COLLECT: goto NOTES
      NOTES: function REVIEW -> APPROVAL
      REVIEW: result
      APPROVAL: ask DECIDE | 24h REMIND
      REMIND: ask DECIDE | 24h CANCEL
      DECIDE: goto BUILD, goto NOTES, goto CANCEL
      BUILD.sh: goto SMOKE, goto REPAIR
      REPAIR: goto BUILD, goto CANCEL
      SMOKE.sh: goto PUBLISH, goto REPAIR
      PUBLISH.sh: goto ANNOUNCE, goto CANCEL
      ANNOUNCE: result
      CANCEL: result
    `),
  ],
  [
    'maintenance, 18 states',
    sketch(`
      START.sh: goto WAIT, goto TRIAGE, goto NIGHT
      WAIT.sh: goto START
      TRIAGE: goto START, function FIX_FLAKY -> PUT_AWAY, function FIX_BUG -> PUT_AWAY, ask ANSWERED | 8h SKIP
      ANSWERED: goto TRIAGE, goto SKIP
      SKIP.sh: reset START
      FIX_FLAKY: call REPRODUCE -> PATCH, result
      REPRODUCE.sh: goto REPRODUCE, result
      FIX_BUG: call REPRODUCE -> PATCH, result
      PATCH: function REVIEW -> MERGE
      REVIEW: result
      MERGE: goto PATCH, result
      PUT_AWAY.sh: reset START
      NIGHT.sh: fork UPDATE -> REPORT, fork CLEAN -> REPORT, workflow ../backup -> REPORT
      UPDATE: goto TEST
      TEST.sh: goto UPDATE, result
      CLEAN.sh: result
      REPORT: reset START, goto STOP
      STOP: result
    `),
  ],
  [
    'todo list, 25 states',
    sketch(`
      START.sh: goto PLAN, result
      PLAN: call EXPLORE -> SPLIT
      EXPLORE: goto EXPLORE, result
      SPLIT: tree WORKER, fork WRITER, join COLLECT ! REPAIR, goto GIVE_UP
      WORKER: call EXPLORE -> CODE
      CODE: goto TEST, goto STUCK
      TEST.sh: goto FIX, goto REVIEWED
      FIX: goto TEST, goto STUCK
      REVIEWED: function REVIEW -> ACT
      REVIEW: function SECURITY -> STYLE
      SECURITY: result
      STYLE: result
      ACT: goto CODE, goto HAND_IN
      HAND_IN.sh: result
      STUCK: ask CODE | 2h GIVE_UP
      WRITER: goto DRAFT
      DRAFT: function REVIEW -> POLISH
      POLISH: goto DRAFT, result
      COLLECT.sh: goto MERGE
      REPAIR: goto MERGE, goto GIVE_UP
      MERGE: goto CONFLICT, goto FINISH, goto GIVE_UP
      CONFLICT: ask MERGE | 1d GIVE_UP
      GIVE_UP: result
      FINISH: goto SUMMARY
      SUMMARY: result
    `),
  ],
  [
    'migration, 36 states',
    sketch(`
      START: goto INVENTORY
      INVENTORY.sh: goto ASSESS, goto ABORT
      ASSESS: call STUDY -> STRATEGY
      STUDY: goto STUDY, result
      STRATEGY: function CRITIC -> REVISE
      CRITIC: result
      REVISE: goto STRATEGY, ask APPROVED | 3d ABORT
      APPROVED: goto PREPARE, goto STRATEGY, goto ABORT
      PREPARE.sh: goto SNAPSHOT, goto ESCALATE
      SNAPSHOT.sh: goto SCHEMA, goto ESCALATE
      SCHEMA: goto SCHEMA_TEST
      SCHEMA_TEST.sh: goto SCHEMA_FIX, goto SCHEMA_OK
      SCHEMA_FIX: goto SCHEMA_TEST, goto ESCALATE
      SCHEMA_OK: function CRITIC -> DATA
      DATA: fork COPY -> WATCH
      COPY: goto COPY_TEST
      COPY_TEST.sh: goto COPY_FIX, result
      COPY_FIX: goto COPY_TEST, goto ESCALATE
      WATCH.sh: goto WATCH, goto COMPARE
      COMPARE.sh: goto DIFFER, goto CODE
      DIFFER: goto DATA, goto ESCALATE
      CODE: call STUDY -> REWRITE
      REWRITE: goto CODE_TEST
      CODE_TEST.sh: goto CODE_FIX, goto CODE_OK
      CODE_FIX: goto CODE_TEST, goto ESCALATE
      CODE_OK: function CRITIC -> REHEARSE
      REHEARSE.sh: goto REHEARSE_FIX, goto WINDOW
      REHEARSE_FIX: goto REHEARSE, goto ESCALATE
      WINDOW: ask SWITCH | 7d ABORT
      SWITCH.sh: goto VERIFY, goto ROLLBACK
      VERIFY: goto CLEAN, goto ROLLBACK
      ROLLBACK.sh: goto ESCALATE
      ESCALATE: ask PREPARE | 1d ABORT
      CLEAN.sh: goto REPORT
      REPORT: result
      ABORT: result
    `),
  ],
  [
    'support desk, 48 states',
    sketch(`
      START.sh: goto SLEEP, goto READ
      SLEEP.sh: goto START
      READ: goto SPAM, goto ROUTE
      SPAM.sh: reset START
      ROUTE: ${DESKS.map((desk) => `goto ${desk}`).join(', ')}, goto UNCLEAR
      UNCLEAR: ask ROUTE | 4h PERSON
      ${DESKS.map(
        (desk) => `
      ${desk}: call ${desk}_FACTS -> ${desk}_DRAFT, goto PERSON
      ${desk}_FACTS.sh: result
      ${desk}_DRAFT: function TONE -> ${desk}_SEND
      ${desk}_SEND.sh: goto CLOSE, goto PERSON`,
      ).join('')}
      TONE: result
      PERSON: ask SEND_OWN | 1d OVERDUE
      SEND_OWN.sh: goto CLOSE
      OVERDUE: goto PERSON, goto CLOSE
      CLOSE.sh: reset START, goto STATISTICS
      STATISTICS: result
    `),
  ],
  ['product, 60 states', workflowOf(SIXTY_STATES)],
];

function template(name: string): Workflow {
  const folder = fileURLToPath(new URL(`../../templates/${name}/`, import.meta.url));
  const states = readdirSync(folder).filter((file) => !file.endsWith('.yaml'));
  return workflowOf(
    Object.fromEntries(states.map((file) => [file, readFileSync(folder + file, 'utf8')])),
  );
}

/**
 * A workflow from lines of the form `STATE: tag, tag`. A script's name has an extension. A tag names
 * its target. After `->` it says where the agent continues, after `|` and a time where it is late,
 * and after `!` where a child failed. `tree` is a fork with a worktree.
 */
function sketch(lines: string): Workflow {
  return workflowOf(sketchedFiles(lines));
}

function sketchedFiles(lines: string): Readonly<Record<string, string>> {
  const states = lines.split('\n').flatMap((line) => {
    const [, name, tags] = /^\s*([\w.]+): (.*)$/.exec(line) ?? [];
    return name && tags ? [[name, textOf(tags)] as const] : [];
  });
  return Object.fromEntries(states);
}

function textOf(tags: string): string {
  return tags
    .split(', ')
    .map((tag) => `${tagOf(tag)}\n`)
    .join('');
}

function tagOf(written: string): string {
  const [name = '', target = '', sign, next = '', late = ''] = written.split(' ');
  switch (name) {
    case 'call':
    case 'function':
      return `<${name} return="${next}">${target}</${name}>`;
    case 'fork':
      return sign ? `<fork next="${next}">${target}</fork>` : `<fork>${target}</fork>`;
    case 'tree':
      return `<fork worktree="true">${target}</fork>`;
    case 'join':
      return `<join ${sign === '!' ? `failed_next="${next}"` : `timeout="${next}" timeout_next="${late}"`}>${target}</join>`;
    case 'workflow':
      return `<function-workflow return="${next}">${target}</function-workflow>`;
    case 'ask':
      return `<ask next="${target}" timeout="${next}" timeout_next="${late}">Well?</ask>`;
    case 'result':
      return '<result>done</result>';
    default:
      return `<${name}>${target}</${name}>`;
  }
}
