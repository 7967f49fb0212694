import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';

/** The environment of the gateway of `svc dev --fakes`, for other commands of the project. */
export const fakesEnvironment = 'fakes';

/** The gateway of `svc dev --fakes` of a project. */
export interface RunningFakes {
  readonly url: string;
  readonly key: string;
  /** The process that ends it. */
  readonly pid: number;
}

const fileOf = (root: string): string => join(root, '.svc', 'fakes.json');

/** Null while none runs. */
export function readRunningFakes(root: string): RunningFakes | null {
  const file = fileOf(root);
  if (!existsSync(file)) return null;
  try {
    const fields = JSON.parse(readFileSync(file, 'utf8')) as Json;
    if (!isJsonObject(fields)) return null;
    const { url, key, pid } = fields;
    if (typeof url !== 'string' || typeof key !== 'string' || typeof pid !== 'number') return null;
    // A process that was killed leaves its file.
    process.kill(pid, 0);
    return { url, key, pid };
  } catch {
    return null;
  }
}

/** Other commands of the project find the gateway until this is disposed of. */
export function announceFakes(root: string, { url, key }: Omit<RunningFakes, 'pid'>): Disposable {
  const file = fileOf(root);
  const running: RunningFakes = { url, key, pid: process.pid };
  writeFileSync(file, JSON.stringify(running), { mode: 0o600 });
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
}
