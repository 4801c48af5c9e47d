/** Reads the numbers of options. */
import { wrongUsage } from '../../options/wrong-usage.ts';

export function count(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw wrongUsage(`"${text}" is no value of ${option}.`, 'Write a number from 1 to 9999.');
}

export function amount(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw wrongUsage(`"${text}" is no value of ${option}.`, 'Write an amount in USD, such as 2.50.');
}
