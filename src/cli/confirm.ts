import { isAttended, lineReader } from './terminal.ts';

/** Whether a person is at the terminal. */
export function canConfirm(): boolean {
  return isAttended();
}

/** True only for a typed yes. */
export function confirm(question: string): Promise<boolean> {
  const reader = lineReader();
  return new Promise((resolve) => {
    reader.once('close', () => resolve(false));
    reader.question(`${question} [yes/no] `, (text) => {
      resolve(/^y(es)?$/i.test(text.trim()));
      reader.close();
    });
  });
}
