import { useStore } from '../lib/store.ts';
import { visible } from '../lib/words.ts';
import { Icon } from './icons.tsx';
import { useTools } from './tools.ts';

export function Toasts() {
  const { toasts, route } = useTools();
  const all = useStore(toasts);
  const place = useStore(route);
  const shown = all.filter(({ run }) => place.kind !== 'run' || place.run === run);
  return (
    <div class="toasts" aria-live="polite">
      {shown.map((toast) => (
        <div key={toast} class={`toast tone-${toast.tone}`} role="status">
          <div class="grow anywhere">
            <p>
              {place.kind !== 'run' && toast.run !== '' && <b>{visible(toast.run)}: </b>}
              {toast.message}
            </p>
            {toast.remedy !== '' && <p>{toast.remedy}</p>}
          </div>
          <button
            type="button"
            class="button quiet only-icon"
            aria-label="Close this message"
            onClick={() => toasts.set(all.filter((one) => one !== toast))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
