/** The parts of a file: the states of a workflow in one file, or where a state leads. */
import { visible } from '../model/visible.ts';
import { type EditedWorkflow, textOf } from './edited-workflow.ts';
import { namesIn } from './name-uses.ts';

export interface OutlinePart {
  readonly name: string;
  readonly detail: string;
  readonly isState: boolean;
  readonly from: number;
  readonly to: number;
}

export function outlineOf(edited: EditedWorkflow, file: string): readonly OutlinePart[] {
  const source = textOf(edited, file);
  const uses = source ? namesIn(source) : [];
  const shown =
    edited.whole === undefined ? uses : uses.filter(({ kind }) => kind === 'definition');
  return shown.map(({ written, tag, attribute, kind, from, to }) => ({
    name: visible(written) || '?',
    detail: [tag, attribute].filter((word) => word !== undefined).join(' '),
    isState: kind === 'definition',
    from,
    to,
  }));
}
