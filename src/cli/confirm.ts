import { isAttended, lineReader } from './terminal.ts';

/** Whether there is somebody to ask. */
export function canConfirm(): boolean {
  return isAttended();
}

/** Only a written yes is one. */
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
