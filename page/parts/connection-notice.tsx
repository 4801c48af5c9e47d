import { useNow } from '../lib/hooks.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from './icons.tsx';
import { useTools } from './tools.ts';

/** The one place that says that the way to the server is closed, and that the agents are not affected. */
export function ConnectionNotice() {
  const { runs } = useTools();
  const connection = useStore(runs.connection);
  const trouble = useStore(runs.trouble);
  const isLost = connection.kind === 'lost';
  const now = useNow(isLost ? 500 : undefined);
  if (!isLost && !trouble) return null;
  const seconds = isLost ? Math.max(0, Math.ceil((connection.retryAt - now) / 1000)) : 0;
  return (
    <div class="notice tone-wait connection" role="status">
      <Icon name="plug" />
      {isLost ? (
        <>
          <p class="grow">
            <b>The page has lost the server.</b> The runs are not affected: their agents work in
            their own processes. What you see is the last known state. If the server has ended,
            start it again with <code class="command">raymond serve</code>
            <span aria-hidden="true"> Next attempt in {seconds} s.</span>
          </p>
          <button type="button" class="button" onClick={() => runs.reconnect()}>
            Connect now
          </button>
        </>
      ) : (
        <p class="grow">
          <b>{trouble?.message}</b> {trouble?.remedy}
        </p>
      )}
    </div>
  );
}
