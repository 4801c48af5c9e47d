import { useState } from 'preact/hooks';
import type { ContextShape } from '../../src/look/context-form.ts';
import { CONTEXT_KINDS, CONTEXT_WORDS } from '../../src/model/context-kinds.ts';
import { useAnswer } from '../lib/use-answer.ts';
import { counted, visible } from '../lib/words.ts';
import type { WatchedStep } from '../stores/step-watch.ts';
import { Problem } from './form.tsx';

/** What the model saw at the end of a step. It is read when somebody asks for it. */
export function ContextView({ step }: { readonly step: WatchedStep }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="fold" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>What the model saw</summary>
      {isOpen && <Read step={step} />}
    </details>
  );
}

function Read({ step: { run, agent, step } }: { readonly step: WatchedStep }) {
  const place = [run, 'steps', agent, step, 'context'].map(encodeURIComponent).join('/');
  const { value, trouble } = useAnswer<ContextShape>(`/api/runs/${place}`);
  if (!value)
    return trouble ? <Problem trouble={trouble} /> : <p class="faint small">Reading the session</p>;
  const { tokens, reported, kinds, steps } = value;
  const shown = steps.slice(-MOST);
  const earlier = steps.slice(0, -MOST);
  return (
    <>
      <p class="small">
        {counted(tokens, 'token')}
        {!reported && ', estimated from the length of the texts'}
      </p>
      <table class="context">
        <caption class="faint">By kind</caption>
        <tbody>
          {CONTEXT_KINDS.filter((kind) => kinds[kind] > 0).map((kind) => (
            <Row key={kind} name={CONTEXT_WORDS[kind]} tokens={kinds[kind]} all={tokens} />
          ))}
        </tbody>
      </table>
      <table class="context">
        <caption class="faint">By step</caption>
        <tbody>
          {earlier.length > 0 && (
            <Row
              name={counted(earlier.length, 'earlier step')}
              tokens={earlier.reduce((sum, one) => sum + one.tokens, 0)}
              all={tokens}
            />
          )}
          {shown.map((one) => (
            <Row
              key={`${one.agent}:${one.step}`}
              name={visible(
                `${one.agent}:${one.step} ${one.state}${one.task === 'state' ? '' : ` (${one.task})`}`,
              )}
              tokens={one.tokens}
              all={tokens}
            />
          ))}
        </tbody>
      </table>
    </>
  );
}

const MOST = 200;

interface RowProps {
  readonly name: string;
  readonly tokens: number;
  readonly all: number;
}

/** The bar says the same as the share in front of it. */
function Row({ name, tokens, all }: RowProps) {
  const part = `${all === 0 ? 0 : Math.round((tokens / all) * 100)}%`;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{tokens.toLocaleString('en')}</td>
      <td>{part}</td>
      <td aria-hidden="true">
        <i style={{ '--part': part }} />
      </td>
    </tr>
  );
}
