/** The text that a person types at the terminal, with the keys that people expect. Any screen can show it. */
import { inputRows } from '../../view/input-rows.ts';
import {
  atLineEnd,
  type Key,
  NOTHING_TYPED,
  pressed,
  type TypedText,
  together,
} from '../../view/typed-text.ts';
import { editedOutside } from './outside-editor.ts';
import { onContinue } from './signals.ts';
import { lineReader, onKeys, stderr } from './terminal.ts';

export interface EditorHost {
  show(text: TypedText): void;
  /** Returns the text to continue with, if it is not accepted. Otherwise the editor is closed. */
  send(answer: string): TypedText | undefined;
  /** Ctrl-D: the person does not want to answer. The editor is closed. */
  leave(): void;
  /** Ctrl-C. The editor stays open. */
  interrupt(): void;
  /** Reports why the person's own editor changed nothing. Without it, Ctrl-E moves to the end of the line. */
  warn?(problem: string): void;
  /** A key that is not for the text. */
  other?(key: Key): void;
}

export function editText(host: EditorHost): { close(): void } {
  let text = NOTHING_TYPED;
  let endKeys: (() => void) | undefined;
  const listen = () => {
    endKeys = onKeys(take);
    host.show(text);
  };
  const rest = () => {
    endKeys?.();
    endKeys = undefined;
  };
  /** Keys that arrive together with the end are dropped: they were pressed before the next question. */
  const take = (keys: readonly Key[]) => {
    for (const key of together(keys)) if (endKeys) press(key);
    if (endKeys) host.show(text);
  };
  const press = (key: Key) => {
    const done = pressed(text, key);
    switch (done.kind) {
      case 'text':
        text = done.text;
        break;
      case 'send':
        send(done.answer);
        break;
      case 'leave':
        rest();
        host.leave();
        break;
      case 'interrupt':
        host.interrupt();
        break;
      case 'editor':
        if (host.warn) void openEditor(host.warn);
        else text = atLineEnd(text);
        break;
      case 'suspend':
        suspend();
        break;
      case 'other':
        host.other?.(key);
    }
  };
  const send = (answer: string) => {
    host.show(text);
    const further = host.send(answer);
    if (further) text = further;
    else rest();
  };
  const openEditor = async (warn: (problem: string) => void) => {
    rest();
    const edited = await editedOutside(`${text.before}${text.after}`);
    if (isClosed) return;
    if (edited.ok) text = { before: edited.text, after: '' };
    else warn(edited.problem);
    listen();
  };
  const suspend = () => {
    rest();
    const end = onContinue(() => {
      end();
      stderr.forgetRows();
      if (!isClosed) listen();
    });
    process.kill(process.pid, 'SIGTSTP');
  };
  let isClosed = false;
  listen();
  return {
    close() {
      isClosed = true;
      rest();
    },
  };
}

/** Below everything else on the screen. `close` leaves the typed text there. */
export function editBelow(prompt: string, host: Omit<EditorHost, 'show'>): { close(): void } {
  if (!stderr.canRedraw()) return readBelow(prompt, host);
  let shown = NOTHING_TYPED;
  const draw = (isOver = false) => {
    const { columns, rows } = stderr.size();
    const all = inputRows(shown, { width: columns, rows: Math.ceil(rows / 2), prompt });
    stderr.draw([], isOver ? all.map(({ pieces }) => ({ pieces })) : all, false);
  };
  const endResize = stderr.onResize(() => draw());
  const end = () => {
    endResize();
    draw(true);
    stderr.forgetRows();
  };
  const editor = editText({
    ...host,
    show(text) {
      shown = text;
      draw();
    },
    leave() {
      end();
      host.leave();
    },
  });
  return {
    close() {
      editor.close();
      end();
    },
  };
}

/** For a terminal that cannot draw rows again. */
function readBelow(
  prompt: string,
  { send, leave, interrupt }: Omit<EditorHost, 'show'>,
): { close(): void } {
  const reader = lineReader();
  reader.once('close', leave);
  reader.on('SIGINT', interrupt);
  const ask = () => reader.question(prompt, (text) => send(text) && ask());
  ask();
  return {
    close() {
      reader.off('close', leave);
      reader.close();
    },
  };
}

/** The text that the person types, or undefined after Ctrl-C and Ctrl-D. */
export function typedText(prompt: string, isLong = false): Promise<string | undefined> {
  return new Promise((resolve) => {
    const end = (answer: string | undefined) => {
      editor.close();
      resolve(answer);
      return undefined;
    };
    const editor = editBelow(prompt, {
      send: end,
      leave: () => resolve(undefined),
      interrupt: () => end(undefined),
      ...(isLong && { warn: stderr.say }),
    });
  });
}
