/** Rights and refusals in the words of front matter. */
import type { Refusal, StepRights } from './rights.ts';

/** For a reader, with the words of front matter: `write src · network none · hide ~/notes`. */
export function rightsText(rights: StepRights): string {
  const { write, hide, network, secrets = [] } = rights;
  const listed = (paths: readonly string[], none: string) =>
    paths.length === 0 ? none : paths.join(', ');
  const written = write.length === 0 ? '.' : write.map((paths) => listed(paths, 'nothing'));
  return [
    `write ${[...new Set([written].flat())].reverse().join(' within ')}`,
    `network ${network === 'all' ? 'all' : listed(network, 'none')}`,
    ...(hide.length === 0 ? [] : [`hide ${hide.join(', ')}`]),
    ...(secrets.length === 0
      ? []
      : [`secrets ${secrets.join(', ')} (${hasStandIns(rights) ? 'stand-ins' : 'values'})`]),
  ].join(' · ');
}

/**
 * Whether a step sees stand-ins in place of its secrets. The proxy of its sandbox replaces them on the way to
 * the hosts of the step. Without hosts, or with all of them, there is no proxy that could do so.
 */
export const hasStandIns = ({ network, secrets = [] }: Pick<StepRights, 'network' | 'secrets'>) =>
  secrets.length > 0 && network !== 'all' && network.length > 0;

/** What was refused, in the same words: `write src/x, network example.org`. */
export const refusedText = (refused: readonly Refusal[]): string =>
  refused.map(({ right, what }) => `${right === 'hide' ? 'read' : right} ${what}`).join(', ');

/** Which lines would allow it. */
export function remedyFor(refused: readonly Refusal[], state: string): string {
  const of = { user: 'your own rights', workflow: 'the workflow', state } as const;
  const lines = refused.flatMap(({ right, by = ['state'] }) =>
    by.map((level) =>
      right === 'hide'
        ? `remove it from rights.hide of ${of[level]}`
        : `add it to rights.${right} of ${of[level]}`,
    ),
  );
  return lines.length === 0
    ? 'No rights can allow it.'
    : `To allow it, ${[...new Set(lines)].join(' and ')}.`;
}
