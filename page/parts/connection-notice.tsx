import { useNow } from '../lib/hooks.ts';
import { useStore } from '../lib/store.ts';
import type { RunWatch } from '../stores/run-watch.ts';
import { Icon } from './icons.tsx';

/** Says that the connection is gone, not the agents. */
export function ConnectionNotice({ watch }: { readonly watch: RunWatch }) {
  const connection = useStore(watch.connection);
  const isLost = connection.kind === 'lost';
  const now = useNow(isLost ? 500 : undefined);
  if ('trouble' in connection) {
    const isRefused = connection.kind === 'refused';
    return (
      <div
        class={`notice tone-${isRefused ? 'fail' : 'wait'}`}
        role={isRefused ? 'alert' : 'status'}
      >
        <Icon name={isRefused ? 'warning' : 'plug'} />
        <p class="grow">
          <b>{connection.trouble.message}</b> {connection.trouble.remedy}
        </p>
      </div>
    );
  }
  if (!isLost) return null;
  const seconds = Math.max(0, Math.ceil((connection.retryAt - now) / 1000));
  return (
    <div class="notice tone-wait" role="status">
      <Icon name="plug" />
      <p class="grow">
        <b>The page has lost the server.</b> The run is not affected: its agents work in their own
        processes. What you see is the last known state. If the server has ended, start it again
        with <code class="command">raymond serve</code>
        <span aria-hidden="true"> Next attempt in {seconds} s.</span>
      </p>
      <button type="button" class="button" onClick={() => watch.reconnect()}>
        Connect now
      </button>
    </div>
  );
}
