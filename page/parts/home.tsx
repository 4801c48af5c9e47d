import { useMedia } from '../lib/hooks.ts';
import { useStore } from '../lib/store.ts';
import { counted, usd } from '../lib/words.ts';
import { keyOf } from '../stores/calls.ts';
import type { Want } from '../stores/runs-watch.ts';
import { CallsQuestion } from './calls-menu.tsx';
import { Icon } from './icons.tsx';
import { PermissionCard } from './permission-card.tsx';
import { QuestionCard } from './question-card.tsx';
import { useTools } from './tools.ts';

/** What waits for a person, in all runs. */
export function Home({ onChoose }: { readonly onChoose: (question: Want) => void }) {
  const tools = useTools();
  // On a phone, the list of the runs follows. The cards have a place of their own.
  const isNarrow = useMedia('(max-width: 760px)');
  const isShort = useStore(tools.route).kind === 'runs' && isNarrow;
  const runs = useStore(tools.runs.runs);
  const questions = useStore(tools.runs.wants);
  const stored = (runs ?? []).flatMap((run) => (run.status === 'damaged' ? [] : [run]));
  const active = stored.filter(({ status }) => status === 'running' || status === 'stopping');
  const cost = stored.reduce((sum, run) => sum + run.cost_usd, 0);
  const isEstimate = stored.some((run) => run.cost_is_estimate);
  return (
    <div class="home">
      <div>
        <h1>Waiting for you</h1>
        <p class="sum">
          {runs &&
            `${counted(stored.length, 'run')}, ${active.length} active, ${usd(cost, isEstimate)} in total`}
        </p>
      </div>
      <CallsQuestion />
      {isShort ? (
        questions.length > 0 && (
          <a class="button" href="#/waiting">
            <Icon name="chat" />
            Answer {counted(questions.length, 'question')}
          </a>
        )
      ) : questions.length > 0 ? (
        <div class="cards">
          {questions.slice(0, MOST).map((question) => (
            <Card key={keyOf(question)} question={question} onChoose={() => onChoose(question)} />
          ))}
          {questions.length > MOST && <p class="faint">{questions.length - MOST} more wait.</p>}
        </div>
      ) : (
        <div class="empty">
          <Icon name="inbox" />
          <h2>Nothing waits for you</h2>
          <p>Questions of agents and permission requests appear here. Choose a run to watch it.</p>
        </div>
      )}
    </div>
  );
}

const MOST = 50;

interface CardProps {
  readonly question: Want;
  readonly onChoose: () => void;
}

function Card({ question, onChoose }: CardProps) {
  return question.kind === 'permission' ? (
    <PermissionCard permission={question} onChoose={onChoose} />
  ) : (
    <QuestionCard question={question} onChoose={onChoose} />
  );
}
