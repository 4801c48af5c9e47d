import { useEffect, useState } from 'preact/hooks';
import { get, type Trouble, troubleFrom } from './api.ts';

export interface Answer<T> {
  readonly value: T | undefined;
  readonly trouble: Trouble | undefined;
  readonly again: () => void;
}

/** What the server answers to a path. `key` stands for a newer state of the same thing. */
export function useAnswer<T>(path: string, key: unknown = 0): Answer<T> {
  const [state, setState] = useState<{ path: string; value?: T; trouble?: Trouble }>({ path });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    get<T>(path, leaving.signal).then(
      (value) => setState({ path, value }),
      (error) => {
        if (!leaving.signal.aborted) setState({ path, trouble: troubleFrom(error) });
      },
    );
    return () => leaving.abort();
  }, [path, key, tries]);
  const isOwn = state.path === path;
  return {
    value: isOwn ? state.value : undefined,
    trouble: isOwn ? state.trouble : undefined,
    again: () => setTries(tries + 1),
  };
}
