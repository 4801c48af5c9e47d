import { Modal } from './dialogs.tsx';
import { SHORTCUTS } from './shortcuts.ts';

export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal title="Keyboard shortcuts" onClose={onClose}>
      <dl class="keys">
        {SHORTCUTS.map(({ keys, about }) => (
          <>
            <dt key={about}>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{about}</dd>
          </>
        ))}
      </dl>
      <div class="actions">
        <button type="button" class="button primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Modal>
  );
}
