import { useMemo } from 'preact/hooks';
import type { DiffLine } from '../../src/view/line-diff.ts';
import { toolView } from '../../src/view/tool-view.ts';
import { oneLine, visible } from '../lib/words.ts';

/** The input of a tool call: a change as a diff, a command as a command. */
export function ToolInput({ input }: { readonly input: string }) {
  const view = useMemo(() => toolView(input), [input]);
  switch (view.kind) {
    case 'change':
      return <Diff file={view.file} lines={view.lines} />;
    case 'command':
      return (
        <pre class="block">
          {view.about !== '' && (
            <span class="faint">
              # {oneLine(view.about, 300)}
              {'\n'}
            </span>
          )}
          {visible(view.command)}
        </pre>
      );
    case 'input':
      return <pre class="block">{visible(view.text)}</pre>;
  }
}

interface DiffProps {
  readonly file: string;
  readonly lines: readonly DiffLine[];
}

function Diff({ file, lines }: DiffProps) {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length;
  return (
    <figure class="diff">
      <figcaption>
        <code class="clip grow">{oneLine(file, 300)}</code>
        <span class="added">+{count('added')}</span>
        <span class="removed">−{count('removed')}</span>
      </figcaption>
      <DiffBody lines={lines} most={MOST_LINES} />
    </figure>
  );
}

interface BodyProps {
  readonly lines: readonly DiffLine[];
  readonly most: number;
}

export function DiffBody({ lines, most }: BodyProps) {
  return (
    <pre>
      {lines.slice(0, most).map((line, index) => (
        <div key={index} class={line.kind}>
          <span aria-hidden="true">{SIGNS[line.kind]}</span>
          {line.kind === 'gap' ? visible(line.text || '⋯') : visible(line.text)}
        </div>
      ))}
      {lines.length > most && <div class="gap">{lines.length - most} more lines</div>}
    </pre>
  );
}

const SIGNS: Readonly<Record<DiffLine['kind'], string>> = {
  same: ' ',
  added: '+',
  removed: '-',
  gap: ' ',
};
const MOST_LINES = 600;
