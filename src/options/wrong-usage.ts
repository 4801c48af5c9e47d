import { UserError } from '../model/user-error.ts';

export function wrongUsage(message: string, remedy: string): UserError {
  return new UserError('usage', message, remedy);
}
