import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseRawJson } from '#kernel/exact-json.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { Context } from './context.ts';
import { CommandFailure } from './exit.ts';

/**
 * The JSON value of an option, or of the file that it names as `@file.json`; undefined without the option.
 * @throws CommandFailure if it is no JSON
 */
export function jsonOption(
  { root }: Pick<Context, 'root'>,
  option: string,
  input: string | undefined,
  { isSecret = false }: { readonly isSecret?: boolean } = {},
): Json | undefined {
  if (input === undefined) return undefined;
  const text = textOption({ root }, option, input);
  try {
    return parseRawJson(text) as Json;
  } catch (error) {
    // A parser's message quotes the invalid text.
    const isQuoted = isSecret && error instanceof SyntaxError;
    const reason = isQuoted
      ? 'it is not JSON'
      : error instanceof Error
        ? error.message
        : String(error);
    throw new CommandFailure(`Could not read --${option}: ${reason}`);
  }
}

/**
 * The text of an option, or of the file that it names as `@file` without the white space around it.
 * @throws CommandFailure if the file cannot be read
 */
export function textOption({ root }: Pick<Context, 'root'>, option: string, input: string): string {
  if (!input.startsWith('@')) return input;
  try {
    return readFileSync(resolve(root, input.slice(1)), 'utf8').trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`Could not read --${option}: ${reason}`);
  }
}
