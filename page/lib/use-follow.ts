import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface Following {
  /** The reader is at the end, so the end stays in view. */
  readonly isFollowing: boolean;
  readonly jump: () => void;
}

/**
 * Keeps the end of a scrolling box in view, until the reader scrolls up. Only an act of the reader
 * changes that: text that arrives does not, however fast it comes. `news` changes with the text.
 */
export function useFollow(
  inside: RefObject<HTMLElement | null>,
  isLive: boolean,
  news: readonly unknown[],
): Following {
  const [isFollowing, setFollowing] = useState(isLive);
  const isAtEnd = useRef(isLive);
  const boxOf = () => inside.current?.closest('.scroll') ?? undefined;
  const jump = () => {
    const box = boxOf();
    if (box) box.scrollTop = box.scrollHeight;
    isAtEnd.current = true;
    setFollowing(true);
  };
  useEffect(() => {
    const box = boxOf();
    if (!box) return;
    let last = box.scrollTop;
    const scroll = () => {
      const isNear = box.scrollTop + box.clientHeight > box.scrollHeight - NEAR;
      // A box that grows does not scroll up. Only a reader does that.
      if (isNear) isAtEnd.current = true;
      else if (box.scrollTop < last) isAtEnd.current = false;
      last = box.scrollTop;
      setFollowing(isAtEnd.current);
    };
    box.addEventListener('scroll', scroll, { passive: true });
    return () => box.removeEventListener('scroll', scroll);
  }, []);
  useLayoutEffect(() => {
    const box = boxOf();
    if (box && isLive && isAtEnd.current) box.scrollTop = box.scrollHeight;
  }, news);
  return { isFollowing, jump };
}

const NEAR = 40;
