import type { Sealed } from '#kernel/ids.ts';
import type { Instant } from '#kernel/time.ts';
import type { Retention } from './retention.ts';

/** How the connect page looks (`connectUISettings` of `GET /connect/session`). */
export type ConnectUi = {
  /** Colors of the main button, `#rrggbb`; the page makes text on and of them readable. */
  readonly primary: { readonly light: string; readonly dark: string };
  readonly defaultTheme: 'light' | 'dark' | 'system';
  readonly showWatermark: boolean;
  /** Image at the top of the page, a `data:` URL; absent: none. */
  readonly logo?: string;
  /** Texts in place of the page's own, by language and name; absent: none. */
  readonly texts?: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

/** Scope: `account`. Path: [uid]. Unique by name. Indexes: `id`, `name`. */
export interface Environment {
  readonly uid: string;
  /** Id shown by the API. */
  readonly id: number;
  readonly name: string;
  readonly isProduction: boolean;
  /** Sealed under the environment's key; plain text in states of earlier releases. */
  readonly webhookUrls: {
    readonly primary: Sealed<string> | null;
    readonly secondary: Sealed<string> | null;
  };
  readonly webhookFlags: {
    readonly onAuthCreation: boolean;
    readonly onAuthRefreshError: boolean;
    readonly onSyncError: boolean;
    readonly onSyncCompletionAlways: boolean;
    readonly onAsyncActionCompletion: boolean;
  };
  /** Waits before the second, third, … attempt of a webhook; absent: `limits.webhookRetryWaitsMs`. */
  readonly webhookRetryWaitsMs?: readonly number[];
  readonly payloadMode: 'plain' | 'sealed';
  /** Absent until set: the default applies. */
  readonly retention?: Retention;
  /** Handling of values that do not match the schemas of a function. Absent until set: `warn`. */
  readonly validation?: 'off' | 'warn' | 'error';
  /** Absent until set: the default look. */
  readonly connectUi?: ConnectUi;
  readonly webhookSigningKey: Sealed<string>;
  /** Also signs until then, so that receivers can switch keys. */
  readonly previousSigningKey: { readonly key: Sealed<string>; readonly until: Instant } | null;
  /** The environment is being deleted. */
  readonly isDeleting: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}
