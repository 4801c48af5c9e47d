/** The rights of the states of a run, for `raymond show RUN --rights` and `raymond run --learn-rights`. */
import { look } from '../../app/look.ts';
import { type StateRights, stateRights } from '../../history/state-rights.ts';
import { Steps } from '../../history/steps.ts';
import type { StepRights, UsedRight } from '../../model/rights.ts';
import { refusedText, remedyFor, rightsText } from '../../model/rights-text.ts';
import { oneLine } from '../../observe/words.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import type { Screen } from '../terminal/terminal.ts';

export async function showRights(
  around: Surroundings,
  id: string,
  screen: Screen,
  { json }: { readonly json?: boolean | undefined } = {},
): Promise<void> {
  const steps = new Steps();
  const { found } = await look(around, id, (event, _, after) => steps.follow(event, after));
  const states = stateRights(steps.all);
  if (json)
    screen.json(
      states.map((one) => ({ ...one, rights: one.rights ?? null })),
      2,
    );
  else if (found.run.settings.learnRights) screen.say(...learned(states));
  else for (const state of states) screen.say(...linesOf(state));
}

function linesOf({ state, rights, refused }: StateRights): readonly string[] {
  return [
    state,
    `  may      ${rights ? oneLine(rightsText(rights)) : 'do what you can do: it has no rights'}`,
    ...refused.map(
      (one) => `  refused  ${oneLine(refusedText([one]))}. ${remedyFor([one], state)}`,
    ),
  ];
}

/** Lines that an author can copy. */
function learned(states: readonly StateRights[]): readonly string[] {
  return [
    '# What each state changed and reached in this run. Copy it into the front matter of a prompt, or below',
    '# "states" in workflow.yaml for a script. Other runs may need more.',
    ...states.flatMap(({ state, used, refused, rights }) => [
      '',
      `${quoted(state)}:`,
      `  rights: { write: ${listed(used, 'write')}, network: ${hostsIn(used)}${secretsIn(rights)} }`,
      ...refused.map(
        ({ right, what }) => `  # refused, and perhaps not needed: ${right} ${oneLine(what)}`,
      ),
    ]),
  ];
}

function listed(used: readonly UsedRight[], right: UsedRight['right']): string {
  const all = used.filter((one) => one.right === right).map(({ what }) => what);
  const wanted = right === 'write' && all.includes('.') ? ['.'] : all.sort();
  return `[${wanted.map(quoted).join(', ')}]`;
}

const hostsIn = (used: readonly UsedRight[]) => {
  const hosts = listed(used, 'network');
  return hosts === '[]' ? 'none' : hosts;
};

const secretsIn = (rights: StepRights | undefined) =>
  rights?.secrets ? `, secrets: [${rights.secrets.join(', ')}]` : '';

/** As a YAML text, if it could mean something else. */
const quoted = (text: string) => (/^[\w.][\w./-]*$/.test(text) ? text : JSON.stringify(text));
