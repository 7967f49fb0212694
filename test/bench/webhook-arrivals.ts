import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Arrival } from '#test/support/fakes/arrivals-child.ts';

/** Of the clock that processes of the machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** The receiver of `arrivals-child.ts`. */
export class Receiver implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(): Promise<Receiver> {
    const file = fileURLToPath(new URL('../support/fakes/arrivals-child.ts', import.meta.url));
    const child = fork(file, { serialization: 'advanced' });
    const [port] = (await once(child, 'message')) as [number];
    return new Receiver(child, port);
  }

  /** Whether paths below `/maybe` get no response. */
  async letHang(isHanging: boolean): Promise<void> {
    await this.#ask(isHanging ? 'hang' : 'answer');
  }

  async #ask<T>(question: string): Promise<T> {
    this.#child.send(question);
    const [answer] = (await once(this.#child, 'message')) as [T];
    return answer;
  }

  /** Waits for so many, and takes them. */
  async take(wanted: number): Promise<Arrival[]> {
    while ((await this.#ask<number>('count')) < wanted) await wait(100);
    return this.arrivals();
  }

  /** Those that came since the last time. */
  arrivals(): Promise<Arrival[]> {
    return this.#ask('take');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await once(this.#child, 'exit');
  }
}

/** From the making of each webhook to its arrival, ms. */
export const delays = (
  arrivals: readonly Arrival[],
  sentAt: ReadonlyMap<string, number>,
): number[] => arrivals.map(([id, , at]) => at - (sentAt.get(id) ?? Number.NaN));
