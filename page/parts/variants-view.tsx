import type { FiguresShape, VariantShape, VariantsShape } from '../../src/look/variant-shape.ts';
import { useAnswer } from '../lib/use-answer.ts';
import { costText, duration, oneLine, visible } from '../lib/words.ts';
import { changesOf, pathText } from '../stores/compare.ts';
import { hashOf, runHash } from '../stores/route.ts';
import { CopyButton } from './copy-button.tsx';
import { Pill, runTone } from './status.tsx';

interface Props {
  /** The run of which they are variants. */
  readonly run: string;
}

/** The variants of a run side by side, by the steps from which they begin. */
export function VariantsView({ run }: Props) {
  const { value } = useAnswer<VariantsShape>(`/api/runs/${encodeURIComponent(run)}/variants`);
  if (!value || value.moments.length === 0) return null;
  return (
    <>
      {value.moments.map(({ agent, step, origin, variants }) => (
        <section key={`${agent}:${step}`} class="compared">
          <h2>
            Variants of {visible(run)} from before {visible(agent)}:{step}
          </h2>
          <table class="plain-table">
            <thead>
              <tr>
                {HEADS.map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {origin && <Row figures={origin} changes="as it was" run={run} />}
              {variants.map((variant) => (
                <Row
                  key={variant.id}
                  figures={variant}
                  changes={changesOf(variant)}
                  run={run}
                  variant={variant}
                />
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </>
  );
}

const HEADS = ['Run', 'Changes', 'Status', 'Steps', 'Cost', 'Time', 'Files', 'Path', 'Result', ''];

interface RowProps {
  readonly figures: FiguresShape;
  readonly changes: string;
  readonly run: string;
  readonly variant?: VariantShape;
}

function Row({ figures, changes, run, variant }: RowProps) {
  const { id, files, result, failure } = figures;
  const merge = variant?.merge ?? null;
  return (
    <tr>
      <th scope="row" class="anywhere">
        <a href={runHash(id)}>{visible(id)}</a>
      </th>
      <td class="anywhere">{oneLine(changes, 80)}</td>
      <td>
        <Pill tone={runTone(figures)}>{oneLine(figures.condition, 40)}</Pill>
      </td>
      <td>{figures.steps}</td>
      <td>{costText(figures)}</td>
      <td>{duration(figures.worked_ms)}</td>
      <td>{files ? `${files.files}: +${files.added} −${files.removed}` : '–'}</td>
      <td class="anywhere">{pathText(figures.path)}</td>
      <td class="anywhere">{oneLine(result?.text ?? failure ?? '', 120)}</td>
      <td>
        {variant && <a href={hashOf({ kind: 'compare', a: run, b: id })}>Compare</a>}{' '}
        {merge !== null && <CopyButton text={() => merge} />}
      </td>
    </tr>
  );
}
