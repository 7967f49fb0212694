import { setTimeout } from './bridge.ts';
import { DOMException } from './dom-exception.ts';

type Listener = (event: { readonly type: 'abort'; readonly target: AbortSignal }) => void;

/** Whether something was aborted, and why. */
export class AbortSignal {
  #reason: unknown = undefined;
  #isAborted = false;
  #listeners: { readonly listener: Listener; readonly once: boolean }[] = [];
  onabort: Listener | null = null;

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal();
    fire(signal, reason);
    return signal;
  }

  static timeout(delayMs: number): AbortSignal {
    const signal = new AbortSignal();
    const error = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    setTimeout(() => fire(signal, error), delayMs);
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const any = new AbortSignal();
    for (const signal of signals) {
      if (signal.aborted) fire(any, signal.reason);
      else signal.addEventListener('abort', () => fire(any, signal.reason));
    }
    return any;
  }

  /** Called by the controller; the first reason applies. */
  static readonly fire = (signal: AbortSignal, reason?: unknown): void => {
    if (signal.#isAborted) return;
    signal.#isAborted = true;
    signal.#reason = reason === undefined ? defaultReason() : reason;
    const event = { type: 'abort', target: signal } as const;
    const listeners = signal.#listeners;
    signal.#listeners = listeners.filter(({ once }) => !once);
    signal.onabort?.(event);
    for (const { listener } of listeners) listener(event);
  };

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  addEventListener(type: string, listener: Listener, options?: { once?: boolean } | boolean): void {
    if (type !== 'abort') return;
    const once = typeof options === 'object' && options.once === true;
    this.#listeners.push({ listener, once });
  }

  removeEventListener(type: string, listener: Listener): void {
    if (type !== 'abort') return;
    this.#listeners = this.#listeners.filter((entry) => entry.listener !== listener);
  }
}

const { fire } = AbortSignal;
Reflect.deleteProperty(AbortSignal, 'fire');

const defaultReason = (): Error => new DOMException('This operation was aborted', 'AbortError');

export class AbortController {
  readonly signal = new AbortSignal();

  abort(reason?: unknown): void {
    fire(this.signal, reason);
  }
}
