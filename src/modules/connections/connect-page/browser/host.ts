import type { Failure } from './api.ts';

/** The page of the application that frames or opened this one. */

export type ConnectEvent =
  | { readonly type: 'open' }
  | {
      readonly type: 'connect';
      readonly connectionId: string;
      readonly providerConfigKey: string;
      readonly isPending: boolean;
    }
  | {
      readonly type: 'error';
      readonly code: string;
      readonly message: string;
      readonly logId: string | null;
      /** The provider's own code and words, why it refused, and what the developer can do; null where not known. */
      readonly providerAnswer: string | null;
      readonly providerWords: string | null;
      readonly reason: string | null;
      readonly fix: string | null;
    }
  | { readonly type: 'close' };

export const errorEvent = (failure: Failure): ConnectEvent => ({
  type: 'error',
  code: failure.code,
  message: failure.message,
  logId: failure.logId,
  providerAnswer: failure.providerAnswer,
  providerWords: failure.providerWords,
  reason: failure.reason,
  fix: failure.fix,
});

/** Identifies messages of the page and of the embed script. */
export const messageSource = 'svc-connect';

export interface Host {
  /** Whether a host receives the events and closes the page. */
  readonly isPresent: boolean;
  notify(event: ConnectEvent): void;
  /** The token that the host sends on request; never resolves without a host. */
  token(): Promise<string>;
}

/**
 * Sends only to that origin; ignores messages of others.
 * @param channel name of a channel on which pages of the gateway's own origin hear the events
 */
export function connectHost(origin: string | null, channel: string | null): Host {
  const other: Window | null = window.parent === window ? (window.opener as Window | null) : parent;
  const events = channel === null ? null : new BroadcastChannel(`${messageSource}-${channel}`);
  const broadcast = (event: ConnectEvent): void => events?.postMessage(event);
  if (origin === null || other === null) {
    return { isPresent: false, notify: broadcast, token: () => new Promise(() => undefined) };
  }
  return {
    isPresent: true,
    notify: (event) => {
      broadcast(event);
      other.postMessage({ source: messageSource, ...event }, origin);
    },
    token: () =>
      new Promise((resolve) => {
        const onMessage = (message: MessageEvent): void => {
          if (message.origin !== origin || message.source !== other) return;
          const { source, token } = message.data as { source?: unknown; token?: unknown };
          if (source !== messageSource || typeof token !== 'string') return;
          removeEventListener('message', onMessage);
          resolve(token);
        };
        addEventListener('message', onMessage);
        other.postMessage({ source: messageSource, type: 'token-wanted' }, origin);
      }),
  };
}
