import type { WholeRun } from '../../src/look/run-shape.ts';
import { clock, costText, counted, visible } from '../lib/words.ts';
import { undoOf } from '../stores/rewind.ts';
import { Icon } from './icons.tsx';
import { RewindButton } from './rewind-button.tsx';

/** A rewind that can be undone, as long as no process works on the run. */
export function RewoundNotice({ run }: { readonly run: WholeRun }) {
  const { rewound, pid } = run;
  if (!rewound || pid !== null) return null;
  const cost = rewound.cost_usd > 0 ? `, ${costText(rewound)}` : '';
  return (
    <div class="notice tone-rest">
      <Icon name="rewind" />
      <p class="grow anywhere">
        <b>
          The run went back to before step {rewound.step} of {visible(rewound.agent)}
        </b>{' '}
        at {clock(rewound.at, Date.now())}. {counted(rewound.steps, 'step')}
        {cost} no longer {rewound.steps === 1 ? 'counts' : 'count'}.
      </p>
      <RewindButton run={run.id} rewind={undoOf(rewound)}>
        Undo the rewind
      </RewindButton>
    </div>
  );
}
