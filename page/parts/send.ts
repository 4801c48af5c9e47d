import { useState } from 'preact/hooks';
import { type Trouble, troubleFrom } from '../lib/api.ts';

/** The state of a form that sends something. */
export function useSend(act: () => Promise<void>) {
  const [isSending, setSending] = useState(false);
  const [trouble, setTrouble] = useState<Trouble>();
  const send = async (event: Event) => {
    event.preventDefault();
    setSending(true);
    setTrouble(undefined);
    try {
      await act();
    } catch (error) {
      setTrouble(troubleFrom(error));
    } finally {
      setSending(false);
    }
  };
  return { isSending, trouble, send };
}
