import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useStore } from '../lib/store.ts';
import { HelpDialog } from './help-dialog.tsx';
import { PruneDialog } from './prune-dialog.tsx';
import { RerunDialog } from './rerun-dialog.tsx';
import { ResumeDialog } from './resume-dialog.tsx';
import { RewindDialog } from './rewind-dialog.tsx';
import { useTools } from './tools.ts';

export function Dialogs() {
  const { dialog } = useTools();
  const shown = useStore(dialog);
  const close = () => dialog.set(undefined);
  switch (shown?.kind) {
    case undefined:
      return null;
    case 'help':
      return <HelpDialog onClose={close} />;
    case 'resume':
      return <ResumeDialog {...shown} onClose={close} />;
    case 'rerun':
      return <RerunDialog {...shown} onClose={close} />;
    case 'prune':
      return <PruneDialog {...shown} onClose={close} />;
    case 'rewind':
      return <RewindDialog {...shown} onClose={close} />;
  }
}

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The browser keeps the focus inside, and closes it with Escape. */
export function Modal({ title, onClose, children }: Props) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    box.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog ref={box} aria-labelledby={id} onClose={onClose}>
      <div class="dialog">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
