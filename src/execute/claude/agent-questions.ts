/** Questions that the agent asks the user with a tool, and the answers to them. */
import { type Fields, fields, list, text } from '../json.ts';

export interface Question {
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly isSeveral: boolean;
}

/** Undefined if the input of the tool has no question. */
export function questionsIn(input: Fields): readonly Question[] | undefined {
  const questions = list(input.questions)
    .map(fields)
    .flatMap((one) => {
      if (text(one.question) === '') return [];
      const options = list(one.options)
        .map(fields)
        .map((option) => ({ label: text(option.label), description: text(option.description) }));
      return [{ question: text(one.question), options, isSeveral: one.multiSelect === true }];
    });
  return questions.length > 0 ? questions : undefined;
}

/** The questions with their options, as a person reads them. */
export function questionText(questions: readonly Question[]): string {
  const hint = questions.length > 1 ? ['(Answer with one line for each question.)'] : [];
  return [...questions.flatMap(linesOf), ...hint].join('\n');
}

function linesOf({ question, options, isSeveral }: Question): readonly string[] {
  return [
    `${question}${isSeveral ? ' (one or more, separated by commas)' : ''}`,
    ...options.map(
      ({ label, description }, i) =>
        `  ${i + 1}. ${label}${description === '' ? '' : `: ${description}`}`,
    ),
  ];
}

/** The answers by question. A person may write the number of an option, its label, or another text. */
export function answersTo(
  questions: readonly Question[],
  answer: string,
): Readonly<Record<string, string>> {
  const lines = questions.length === 1 ? [answer] : answer.split('\n');
  return Object.fromEntries(
    questions.map((one, i) => [one.question, chosen(one, lines[i]?.trim() ?? '')]),
  );
}

function chosen({ options, isSeveral }: Question, answer: string): string {
  const parts = isSeveral ? answer.split(',').map((part) => part.trim()) : [answer];
  const named = parts.map((part) => {
    const byNumber = /^\d{1,3}$/.test(part) ? options[Number(part) - 1] : undefined;
    const byLabel = options.find(({ label }) => label.toLowerCase() === part.toLowerCase());
    return (byLabel ?? byNumber)?.label ?? part;
  });
  return named.join(', ');
}
