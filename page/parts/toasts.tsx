import { useStore } from '../lib/store.ts';
import { Icon } from './icons.tsx';
import { useTools } from './tools.ts';

export function Toasts() {
  const { toasts } = useTools();
  const shown = useStore(toasts);
  return (
    <div class="toasts" aria-live="polite">
      {shown.map((toast) => (
        <div key={toast} class={`toast tone-${toast.tone}`} role="status">
          <div class="grow anywhere">
            <p>{toast.message}</p>
            {toast.remedy !== '' && <p>{toast.remedy}</p>}
          </div>
          <button
            type="button"
            class="button quiet only-icon"
            aria-label="Close this message"
            onClick={() => toasts.set(shown.filter((one) => one !== toast))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
