import { useLayoutEffect, useRef } from 'preact/hooks';
import { useMarkdown } from '../lib/use-markdown.ts';
import { visible } from '../lib/words.ts';
import { CopyButton } from './copy-button.tsx';

interface Props {
  readonly text: string;
  /** It still grows. */
  readonly isLive?: boolean;
}

/** Text of an agent, as markdown as soon as that can be read. */
export function Markdown({ text, isLive = false }: Props) {
  const html = useMarkdown(text);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current && !isLive) return finishCode(box.current);
    return undefined;
  }, [html, isLive]);
  if (html === undefined) return <div class="raw">{visible(text)}</div>;
  return (
    <div class="copied">
      <div class="markdown" ref={box} dangerouslySetInnerHTML={{ __html: html }} />
      {!isLive && text.length > WORTH_COPYING && <CopyButton text={() => text} />}
    </div>
  );
}

/** A shorter text is marked as fast as the button is found. */
const WORTH_COPYING = 80;

/** Colours the code blocks, and makes those that scroll reachable with the keys. */
function finishCode(box: HTMLElement): () => void {
  let isShown = true;
  const blocks = [...box.querySelectorAll<HTMLElement>('pre')];
  for (const block of blocks) block.tabIndex = 0;
  for (const table of box.querySelectorAll<HTMLElement>('table')) table.tabIndex = 0;
  const codes = blocks.flatMap((block) => [...block.querySelectorAll('code')]);
  if (codes.length > 0)
    void import('../lib/highlight.ts').then(({ highlighted }) => {
      for (const code of isShown ? codes : []) {
        const language = /^language-(\S+)$/.exec(code.className)?.[1]?.toLowerCase() ?? '';
        const made = highlighted(code.textContent ?? '', language);
        if (made) code.replaceChildren(made);
      }
    });
  return () => {
    isShown = false;
  };
}
