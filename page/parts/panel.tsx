import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icons.tsx';

interface Props {
  readonly label: string;
  readonly head: ComponentChildren;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/** The panel beside the views. On a phone it covers them. */
export function Panel({ label, head, children, onClose }: Props) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    // Escape and the first Tab belong to what was opened.
    box.current?.focus({ preventScroll: true });
    return () => returnFocus(opener);
  }, []);
  return (
    <aside class="panel" aria-label={label} tabIndex={-1} ref={box}>
      <header>
        {head}
        <button
          type="button"
          class="button quiet only-icon"
          aria-label="Close the panel"
          title="Close (Esc)"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="scroll body">{children}</div>
    </aside>
  );
}

/** To what opened the panel. A list may have drawn it again, so a link is known by its address. */
function returnFocus(opener: Element | null): void {
  const address = opener?.getAttribute('href');
  const same = address ? document.querySelector(`a[href="${CSS.escape(address)}"]`) : null;
  const target = opener?.isConnected ? opener : same;
  if (target instanceof HTMLElement || target instanceof SVGElement) target.focus();
  if (!target || target === document.body) document.querySelector<HTMLElement>('#main')?.focus();
}
