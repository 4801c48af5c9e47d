/** Shows what agents propose as workflows, and writes into the project what a person accepts. */
import {
  acceptProposal,
  lookAtProposal,
  proposals,
  rejectProposal,
  type ShownProposal,
} from '../../app/propose.ts';
import { refuseInsideAny } from '../../app/refuse-inside.ts';
import { counted } from '../../model/counted.ts';
import { shellWord } from '../../model/shell-word.ts';
import { UserError } from '../../model/user-error.ts';
import { visible } from '../../model/visible.ts';
import { age } from '../../observe/words.ts';
import { nearHere } from '../../world/diagnostic-line.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { checkLines } from '../author/check.ts';
import { table } from '../look/table.ts';
import { isAttended, stderr, stdout } from '../terminal/terminal.ts';
import { confirm } from '../terminal/terminal-door.ts';
import { lineChanges } from './line-changes.ts';

interface ProposalOptions {
  readonly yes?: boolean | undefined;
  readonly revoke?: boolean | undefined;
}

/** Lists the proposals, or shows one and asks. Accepts exactly what was shown. */
export async function trustProposals(
  around: Surroundings,
  id: string | undefined,
  { yes = false, revoke = false }: ProposalOptions,
): Promise<number> {
  if (id === undefined) return list(around, revoke);
  if (revoke) {
    await rejectProposal(around, id);
    stderr.say(`${id} is rejected.`);
    return 0;
  }
  await refuseInsideAny(around, 'accept a proposal');
  const shown = await lookAtProposal(around, id);
  stdout.say(...proposalLines(shown));
  const outdated = shown.files.find(({ isOutdated }) => isOutdated);
  const isAccepted = !outdated && (yes || (isAttended() && (await confirm('Write these files?'))));
  if (!isAccepted)
    throw new UserError(
      'not-approved',
      `${outdated ? `${outdated.name} has changed since the proposal was made. ` : ''}Nothing was written.`,
      `${outdated ? '' : `To accept it: raymond trust --proposals --yes ${id}. `}To reject it: raymond trust --proposals --revoke ${id}`,
    );
  const target = nearHere(await acceptProposal(around, id));
  stderr.say(
    `Wrote ${counted(shown.files.length, 'file')} to ${target}. To check it again: raymond check ${shellWord(target)}`,
  );
  return 0;
}

async function list(around: Surroundings, revoke: boolean): Promise<number> {
  if (revoke)
    throw new UserError(
      'usage',
      'No proposal is named.',
      'Write: raymond trust --proposals --revoke <proposal>',
    );
  const found = await proposals(around);
  if (found.length === 0) {
    stderr.say('No agent has proposed a workflow for this project.');
    return 0;
  }
  const now = around.clock.now();
  const rows = found.map(({ id, folder, files, at, why }) => [
    ...[id, folder, String(files.length), age(now - at), why],
  ]);
  const columns = ['PROPOSAL', 'WORKFLOW', { head: 'FILES', isNumber: true }, 'AGE', 'WHY'];
  stdout.say(...table(columns, rows), '', 'To see one: raymond trust --proposals <proposal>');
  return 0;
}

function proposalLines({ proposal, files, report }: ShownProposal): readonly string[] {
  const { id, folder, why } = proposal;
  return [
    `${id} is a proposal of an agent for the workflow ${folder}. The agent says:`,
    ...why.split('\n').map((line) => `  | ${visible(line)}`),
    ...files.flatMap(({ name, before, after }) => [
      '',
      before === undefined ? `${folder}/${name} (new)` : `${folder}/${name} (changed)`,
      ...nearChanges(before ?? '', after),
    ]),
    '',
    ...checkLines(report).filter((line) => !line.startsWith('verdict')),
    `verdict   ${report.verdict}`,
  ];
}

/** The changed lines, with some lines around them. */
function nearChanges(before: string, after: string): readonly string[] {
  const changes = lineChanges(before, after);
  const isNear = changes.map(() => false);
  changes.forEach(({ mark }, at) => {
    if (mark !== ' ') isNear.fill(true, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  return changes.flatMap(({ mark, text }, at) => {
    if (isNear[at]) return `${mark} ${visible(text)}`;
    return isNear[at - 1] || (at === 0 && changes.length > 0) ? '  ...' : [];
  });
}

const AROUND = 3;
