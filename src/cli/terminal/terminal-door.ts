/** The door of the terminal: shows notices on standard error, and asks the person there. */
import type { Consent, Door, Notice } from '../../model/notice.ts';
import { unreachable } from '../../model/unreachable.ts';
import { diagnosticLine } from '../../world/diagnostic-line.ts';
import { openLog } from '../../world/log-file.ts';
import { typedText } from './edit-text.ts';
import { isAttended, stderr } from './terminal.ts';

/** For `--json`, no person is asked: a program reads the output. */
export function terminalDoor({ json }: { readonly json?: boolean | undefined } = {}): Door {
  return {
    notice: showNotice,
    openLog,
    async agree({ kind, facts }) {
      const asks = !json && isAttended();
      // The refusal also says what it is about.
      if (asks || !REFUSED_WITH_FACTS.includes(kind)) stderr.say(...facts);
      return asks ? confirm(QUESTIONS[kind]) : undefined;
    },
  };
}

/** For several runs of one workflow: each notice is shown once. */
export function quietDoor({ json }: { readonly json?: boolean | undefined } = {}): Door {
  const { agree } = terminalDoor({ json });
  const told = new Set<string>();
  return {
    agree,
    notice(one) {
      const text = JSON.stringify(one);
      if (!told.has(text)) showNotice(one);
      told.add(text);
    },
  };
}

const REFUSED_WITH_FACTS: readonly Consent['kind'][] = [
  'costly-start',
  'changed-workflow',
  'prune',
];

const QUESTIONS: Readonly<Record<Consent['kind'], string>> = {
  'costly-start': 'Start it?',
  'foreign-run': 'Resume it?',
  'changed-workflow': 'Continue with the changed files?',
  'shared-workflow': 'Write it into the project?',
  rewind: 'Rewind?',
  prune: 'Remove them?',
  'discard-work': 'Delete it?',
};

export function showNotice(notice: Notice): void {
  switch (notice.kind) {
    case 'warning':
      stderr.say(notice.text);
      break;
    case 'hint':
      stderr.offer(notice.text);
      break;
    case 'diagnostic':
      stderr.say(diagnosticLine(notice.diagnostic));
      break;
    case 'trouble':
      stderr.error(notice);
      break;
    default:
      unreachable(notice);
  }
}

/** True only for a typed yes. */
export async function confirm(question: string): Promise<boolean> {
  const text = await typedText(`${question} [yes/no] `);
  return /^y(es)?$/i.test(text?.trim() ?? '');
}
