import { setTimeout as sleep } from 'node:timers/promises';

/** The status of a request to a process that starts, as soon as its address answers. */
export async function probed(url: string, key?: string): Promise<number> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  for (;;) {
    try {
      return (await fetch(url, { headers })).status;
    } catch {
      await sleep(1);
    }
  }
}
