import { useState } from 'preact/hooks';
import { type Trouble, troubleFrom } from '../lib/api.ts';

/** Sends one thing after the other. */
export function useSending(failed: (trouble: Trouble) => void) {
  const [isSending, setSending] = useState(false);
  const send = async (act: () => Promise<void>) => {
    setSending(true);
    try {
      await act();
    } catch (error) {
      failed(troubleFrom(error));
    } finally {
      setSending(false);
    }
  };
  return { isSending, send };
}

/** The state of a form that sends something. */
export function useSend(act: () => Promise<void>) {
  const [trouble, setTrouble] = useState<Trouble>();
  const { isSending, send } = useSending(setTrouble);
  const submit = (event: Event) => {
    event.preventDefault();
    setTrouble(undefined);
    return send(act);
  };
  return { isSending, trouble, send: submit };
}
