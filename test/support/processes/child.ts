import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isJsonObject } from '#kernel/stable-json.ts';
import { inheritedEnv, servicesEnv } from './deployment.ts';

/** File in the data folder in which a child reports. */
export const toldFile = 'told.json';

/** Runs a file of this folder in a process of its own, as one process may open a ClickHouse folder only once. */
export function startChild(
  file: string,
  args: readonly (string | number)[],
  env: Readonly<Record<string, string>> = {},
) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const started = spawn(process.execPath, [path, ...args.map(String)], {
    env: { ...inheritedEnv(), ...servicesEnv(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  createInterface({ input: started.stderr }).on('line', (line) => errors.push(line));
  const ended = once(started, 'exit').then(([code, signal]) => (signal ?? code) as string | number);
  return { process: started, errors, ended, lines: jsonLines(started.stdout) };
}

/** Runs the child to its end, and returns what it wrote into its data folder with `tellAll`. */
export async function askChild<T>(
  file: string,
  folder: string,
  args: readonly (string | number)[],
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  const child = startChild(file, args, env);
  child.process.stdout.resume();
  assert.equal(await child.ended, 0, child.errors.join('\n'));
  return toldBy(folder) as T;
}

export function toldBy(folder: string): unknown {
  return JSON.parse(readFileSync(join(folder, toldFile), 'utf8'));
}

async function* jsonLines(input: NodeJS.ReadableStream): AsyncIterable<Record<string, unknown>> {
  for await (const line of createInterface({ input })) {
    if (!line.startsWith('{') || !line.endsWith('}')) continue;
    const value = JSON.parse(line) as unknown;
    if (isJsonObject(value)) yield value;
  }
}
