import type { Sealed } from '#kernel/ids.ts';
import type { Instant } from '#kernel/time.ts';
import type { WebhookKind } from '../webhooks-out/events.ts';

/** Scope = environment uid; path [environment uid, id]. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly environmentUid: string;
  readonly displayName: string;
  /** Sealed under the environment's key: addresses may contain secrets. */
  readonly url: Sealed<string>;
  /** Null = every kind. */
  readonly kinds: readonly WebhookKind[] | null;
  /** Null = of every integration. */
  readonly integrationKey: string | null;
  /** Null = of every connection; otherwise `integrationKey` is set. */
  readonly connectionId: string | null;
  readonly isEnabled: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}
