/** Errors as answers. */

import type { ErrorBody } from '../look/common.ts';
import { UserError } from '../model/user-error.ts';

/** An error that has its own HTTP status. */
export class RequestError extends UserError {
  readonly status: number;

  constructor(status: number, code: string, message: string, remedy: string) {
    super(code, message, remedy);
    this.status = status;
  }
}

export const badRequest = (message: string, remedy: string) =>
  new RequestError(400, 'bad-request', message, remedy);

export const notFound = (message: string, remedy: string) =>
  new RequestError(404, 'not-found', message, remedy);

export function errorBodyOf({ code, message, remedy }: UserError): ErrorBody {
  return { error: { code, message, remedy } };
}

export function statusOf(error: UserError): number {
  if (error instanceof RequestError) return error.status;
  return STATUSES[error.code] ?? CONFLICT;
}

const STATUSES: Readonly<Record<string, number>> = {
  usage: 400,
  'input-missing': 400,
  'broken-workflow': 422,
  'no-workflow': 404,
  'no-run': 404,
  'no-file': 404,
  'too-large': 413,
  'wrong-files': 400,
  'not-found': 404,
  'outside-project': 403,
  'foreign-run': 403,
  'not-in-a-run': 403,
};

/** Most errors are about the present state of a run: another process works on it, it has no question. */
const CONFLICT = 409;
