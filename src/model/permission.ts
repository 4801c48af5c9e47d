/** Permission requests: tool calls that an agent may not make without a person's decision. */
import * as z from 'zod/mini';

const text = z.string();
const count = z.int().check(z.nonnegative());

/** A request as its executor describes it. Only the executor knows tools and rules. */
export const permissionRequestSchema = z.object({
  /** The id of the request, unique in its step. */
  request: text,
  tool: text,
  /** The call on one line. */
  summary: text,
  /** The arguments of the call, as readable text of limited length. */
  input: text,
  /** The length of the whole input, if `input` is only its beginning. */
  inputLength: z.optional(count),
  /** The rules that "allow for the run" grants. Absent if the call can be allowed only once. */
  rules: z.optional(z.readonly(z.array(text))),
  /** The rules stand for this very call, so Raymond itself compares them with those of the run. */
  isExact: z.optional(z.literal(true)),
  /** The call asks the user something: the decision is an answer. `input` is the question. */
  isQuestion: z.optional(z.literal(true)),
});

/**
 * `allow`: this call. `allow-run`: this call, and similar calls for the rest of the run. `answer`: the
 * call is a question, and `text` is its answer. `deny`: `text` is an optional message for the agent.
 */
export const DECISIONS = ['allow', 'allow-run', 'deny', 'answer'] as const;

export const decisionSchema = z.object({
  decision: z.enum(DECISIONS),
  text: z.optional(text),
});

export type PermissionRequest = z.infer<typeof permissionRequestSchema>;
export type PermissionDecision = z.infer<typeof decisionSchema>;
export type DecisionKind = PermissionDecision['decision'];

/** Whether a person can decide so about the request. */
export function isOffered(
  { rules, isQuestion }: PermissionRequest,
  decision: DecisionKind,
): boolean {
  switch (decision) {
    case 'allow':
      return !isQuestion;
    case 'allow-run':
      return !isQuestion && rules !== undefined && rules.length > 0;
    case 'answer':
      return isQuestion === true;
    case 'deny':
      return true;
  }
}

/** The request as a person reads it: the text of a question, or the call with its arguments. */
export function requestText({ tool, input, inputLength, isQuestion }: PermissionRequest): string {
  const cut =
    inputLength === undefined
      ? ''
      : `\n(${inputLength - input.length} more characters are not shown)`;
  return isQuestion ? `${input}${cut}` : `${tool}\n${input}${cut}`;
}

/** The request in an event, without the other fields of the event. */
export function requestIn(event: PermissionRequest): PermissionRequest {
  const { request, tool, summary, input, inputLength, rules, isExact, isQuestion } = event;
  return {
    ...{ request, tool, summary, input },
    ...(inputLength !== undefined && { inputLength }),
    ...(rules && { rules }),
    ...(isExact && { isExact }),
    ...(isQuestion && { isQuestion }),
  };
}
