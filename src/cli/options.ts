import { usageError } from './exit.ts';

/** @throws CommandFailure if it is no whole number */
export function wholeNumber(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usageError(`--${option} takes a whole number, not "${text}"`);
}

/** The entries of an option that takes several, with commas between them. */
export const entriesOf = (text: string | undefined): string[] | undefined =>
  text?.split(',').map((part) => part.trim());

/** An option that takes one of several words: the service checks it, and its refusal names them. */
export const uncheckedWord = (text: string | undefined) => text as never;

/** An option that takes some of several words, with commas between them. */
export const uncheckedWords = (text: string | undefined) => entriesOf(text) as never;
