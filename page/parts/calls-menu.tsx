import { useStore } from '../lib/store.ts';
import { allowNotifications, calls, canNotify, setCalls } from '../stores/calls.ts';
import { Icon } from './icons.tsx';
import { Menu } from './menu.tsx';

/** How the page calls a person who looks elsewhere. */
export function CallsMenu() {
  const { notify, sound } = useStore(calls);
  return (
    <Menu
      label="Calls"
      icon="bell"
      isDisabled={false}
      isShort
      items={[
        {
          name: notify ? 'Turn notifications off' : 'Turn notifications on',
          about: canNotify()
            ? 'The browser tells you when a run needs you.'
            : 'The browser forbids them for this page. Allow them in its settings.',
          act: () => {
            if (notify) setCalls({ ...calls.value, notify: false });
            else void allowNotifications();
          },
        },
        {
          name: sound ? 'Turn the sound off' : 'Turn the sound on',
          about: 'Two short tones when a run needs you.',
          act: () => setCalls({ ...calls.value, sound: !sound }),
        },
      ]}
    />
  );
}

/** Asks once whether the page may call. */
export function CallsQuestion() {
  const { notify, sound } = useStore(calls);
  if (notify !== undefined || !canNotify()) return null;
  return (
    <div class="notice tone-rest calls">
      <Icon name="bell" />
      <p class="grow">Shall this page call you when a run needs you?</p>
      <button type="button" class="button primary" onClick={() => void allowNotifications()}>
        Notify me
      </button>
      <button type="button" class="button quiet" onClick={() => setCalls({ notify: false, sound })}>
        No
      </button>
    </div>
  );
}
