import { useStore } from '../lib/store.ts';
import { visible } from '../lib/words.ts';
import { Icon } from './icons.tsx';
import { useTools } from './tools.ts';

/** What the server has said when it started or resumed the run. */
export function Warnings({ run }: { readonly run: string }) {
  const { warnings } = useTools();
  const told = useStore(warnings).get(run) ?? [];
  const close = () => warnings.set(new Map([...warnings.value].filter(([id]) => id !== run)));
  // The region exists before its text, so that a screen reader reads the text.
  return (
    <div class="beside" role="status" aria-label="Warnings">
      {told.length > 0 && (
        <div class="notice tone-wait">
          <Icon name="warning" />
          <ul class="grow anywhere warnings">
            {told.slice(0, MOST).map((text) => (
              <li key={text}>{visible(text)}</li>
            ))}
            {told.length > MOST && <li>{told.length - MOST} more</li>}
          </ul>
          <button
            type="button"
            class="button quiet only-icon"
            aria-label="Close the warnings"
            onClick={close}
          >
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}

const MOST = 20;
