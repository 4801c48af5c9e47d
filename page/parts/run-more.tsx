import { hashOf } from '../stores/route.ts';
import { Menu } from './menu.tsx';
import { useTools } from './tools.ts';

/** What else can be done with a run. */
export function RunMore({ run }: { readonly run: string }) {
  const tools = useTools();
  return (
    <Menu
      label="More"
      items={[
        {
          name: 'Run again',
          about: 'With the same or another input, only failed agents, or from a step.',
          act: () => tools.dialog.set({ kind: 'rerun', run }),
        },
        {
          name: 'Compare with another run',
          about: 'Path, cost, time, result and changed files side by side; its variants together.',
          act: () => {
            location.hash = hashOf({ kind: 'compare', a: run, b: undefined });
          },
        },
      ]}
    />
  );
}
