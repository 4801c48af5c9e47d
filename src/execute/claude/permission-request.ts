/**
 * A permission request of Claude Code: as Raymond describes it to people, and the reply to it. All
 * fields come from the agent, so every one may be missing or of any size.
 */
import type { PermissionDecision, PermissionRequest } from '../../model/permission.ts';
import { fieldText, MOST_INPUT } from '../turn/permission-relay.ts';
import { answersTo, type Question, questionsIn, questionText } from './agent-questions.ts';
import { permissionReply } from './command.ts';
import type { Happening } from './messages.ts';
import { DIRECTORY, settingsOf } from './tools.ts';

export type Asked = Extract<Happening, { kind: 'permission-asked' }>;

/** The request as people see it. */
export function describeRequest(asked: Asked): PermissionRequest {
  const { request, tool, summary, input } = asked;
  const questions = questionsOf(asked);
  const text = questions
    ? questionText(questions)
    : Object.entries(input).map(fieldText).join('\n');
  const rules = rulesIn(asked);
  return {
    request,
    tool: tool.slice(0, MOST_NAME),
    summary,
    input: text.slice(0, MOST_INPUT),
    ...(text.length > MOST_INPUT && { inputLength: text.length }),
    ...(questions ? { isQuestion: true } : rules.length > 0 && { rules }),
  };
}

const MOST_NAME = 200;

/** The line for the standard input of Claude Code. Old versions take a missing input for a denial. */
export function replyTo(asked: Asked, { decision, text }: PermissionDecision): string {
  const { request, input } = asked;
  switch (decision) {
    case 'allow':
      return permissionReply(request, { behavior: 'allow', updatedInput: input });
    case 'allow-run':
      return permissionReply(request, {
        behavior: 'allow',
        updatedInput: input,
        updatedPermissions: usable(asked).map((one) => ({ ...one, destination: 'session' })),
      });
    case 'answer': {
      const answers = answersTo(questionsOf(asked) ?? [], text ?? '');
      return permissionReply(request, { behavior: 'allow', updatedInput: { ...input, answers } });
    }
    case 'deny':
      return permissionReply(request, { behavior: 'deny', message: text || DENIED });
  }
}

const DENIED = 'A person has denied this call.';

function questionsOf({ tool, input }: Asked): readonly Question[] | undefined {
  return tool === 'AskUserQuestion' ? questionsIn(input) : undefined;
}

/**
 * The rules of Claude Code that allow the like of the call. Empty if it suggests none, and if people could
 * not see what they grant.
 */
function rulesIn(asked: Asked): readonly string[] {
  const rules = usable(asked).flatMap(({ rules = [], directories = [] }) => [
    ...rules.map(ruleText),
    ...directories.map((path) => `${DIRECTORY}${path}`),
  ]);
  const kept = settingsOf(rules);
  const areAll = kept.allow.length + kept.additionalDirectories.length === rules.length;
  const isShown = rules.join(', ').length <= MOST_RULES_TEXT;
  return areAll && isShown && !hasOwnPattern(asked) ? rules : [];
}

/** All outputs show so much, so that no rule is granted unseen. */
const MOST_RULES_TEXT = 160;

/**
 * Whether a star of the call itself became a pattern: the rule looks like the call, but allows others,
 * and the model has chosen it.
 */
function hasOwnPattern(asked: Asked): boolean {
  const values = Object.values(asked.input).map((value) => spaced(String(value)));
  const rules = usable(asked).flatMap((suggestion) => suggestion.rules ?? []);
  return rules.some(
    ({ ruleContent = '' }) =>
      ruleContent.includes('*') && values.some((value) => value.includes(spaced(ruleContent))),
  );
}

const spaced = (text: string) => text.replace(/\s+/g, ' ');

type Suggestion = Asked['suggestions'][number];

/** The suggestions that can be rules of a run. Others change the whole mode of the agent. */
function usable({ suggestions }: Asked): readonly Suggestion[] {
  return suggestions.filter(
    ({ type, behavior, rules, directories }) =>
      (type === 'addRules' && behavior === 'allow' && rules !== undefined) ||
      (type === 'addDirectories' && directories !== undefined),
  );
}

/** `Bash(git push *)`; brackets inside are escaped. */
function ruleText({ toolName, ruleContent }: NonNullable<Suggestion['rules']>[number]): string {
  if (ruleContent === undefined || ruleContent === '') return toolName;
  return `${toolName}(${ruleContent.replace(/[\\()]/g, '\\$&')})`;
}
