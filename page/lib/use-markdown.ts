import { useEffect, useMemo, useState } from 'preact/hooks';
import { visible } from './words.ts';

type HtmlOf = (text: string) => string;

/** Undefined as long as the text is to be shown as it is. */
export function useMarkdown(text: string): string | undefined {
  const [htmlOf, setHtmlOf] = useState<HtmlOf>();
  useEffect(() => {
    let isShown = true;
    // Half of the script reads and cleans markdown. It is loaded with the first conversation.
    void import('./markdown.ts').then((read) => isShown && setHtmlOf(() => read.htmlOf));
    return () => {
      isShown = false;
    };
  }, []);
  return useMemo(
    () => (htmlOf && text.length <= LONGEST_MARKDOWN ? htmlOf(visible(text)) : undefined),
    [htmlOf, text],
  );
}

/** To read a longer text as markdown would stop the page. */
const LONGEST_MARKDOWN = 100_000;
