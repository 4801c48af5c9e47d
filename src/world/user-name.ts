import { userInfo } from 'node:os';

/** The name of the user, for the record of a decision. Undefined if the system has none. */
export function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
