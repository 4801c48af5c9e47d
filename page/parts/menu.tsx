import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

export interface MenuItem {
  readonly name: string;
  readonly about: string;
  readonly act: () => void;
}

interface Props {
  readonly label: string;
  /** Without an icon, a phone shows only the arrow. */
  readonly icon?: IconName;
  readonly isDisabled?: boolean;
  /** Only the icon is shown. */
  readonly isShort?: boolean;
  readonly items: readonly MenuItem[];
}

export function Menu({ label, icon, isDisabled = false, isShort = false, items }: Props) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    box.current?.querySelector<HTMLButtonElement>('[role=menuitem]')?.focus();
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !box.current?.contains(target)) setOpen(false);
    };
    document.addEventListener('pointerdown', closeOutside);
    return () => document.removeEventListener('pointerdown', closeOutside);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  const move = (event: KeyboardEvent, by: number) => {
    const all = [...(box.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const at = all.findIndex((item) => item.matches(':focus'));
    all[(at + by + all.length) % all.length]?.focus();
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the items inside.
    <div
      class="menu"
      ref={box}
      onKeyDown={(event) => {
        if (!isOpen) return;
        if (event.key === 'ArrowDown') move(event, 1);
        if (event.key === 'ArrowUp') move(event, -1);
        if (event.key === 'Escape' || event.key === 'Tab') close();
        event.stopPropagation();
      }}
    >
      <button
        type="button"
        class={`button ${isShort ? 'quiet only-icon' : ''}`}
        title={isShort ? label : undefined}
        ref={opener}
        disabled={isDisabled}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        onClick={() => setOpen(!isOpen)}
      >
        {icon && <Icon name={icon} />}
        {!isShort && <span class={icon ? '' : 'wide'}>{label}</span>}
        {!isShort && <Icon name="down" />}
      </button>
      {isOpen && (
        <div class="items" role="menu" aria-label={label}>
          {items.map(({ name, about, act }) => (
            <button
              key={name}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close();
                act();
              }}
            >
              <b>{name}</b>
              <span class="faint small">{about}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
