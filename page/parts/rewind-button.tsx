import type { ComponentChildren } from 'preact';
import type { AskedRewind } from '../stores/rewind.ts';
import { useTools } from './tools.ts';

interface Props {
  readonly run: string;
  readonly rewind: AskedRewind;
  readonly children: ComponentChildren;
}

/** Asks before it rewinds the run, or undoes a rewind. */
export function RewindButton({ run, rewind, children }: Props) {
  const tools = useTools();
  return (
    <button
      type="button"
      class="button"
      onClick={() => tools.dialog.set({ kind: 'rewind', run, rewind })}
    >
      {children}
    </button>
  );
}
