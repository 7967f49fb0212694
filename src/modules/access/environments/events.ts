import type { Sealed } from '#kernel/ids.ts';
import type { Instant } from '#kernel/time.ts';
import type { Environment } from './state.ts';

/** The fields that a caller can set. */
export type EnvironmentSettings = Pick<
  Environment,
  | 'name'
  | 'isProduction'
  | 'webhookUrls'
  | 'webhookFlags'
  | 'webhookRetryWaitsMs'
  | 'payloadMode'
  | 'retention'
  | 'validation'
  | 'connectUi'
>;

export type EnvironmentEvent =
  | { readonly type: 'EnvironmentCreated'; readonly environment: Environment }
  | {
      readonly type: 'EnvironmentChanged';
      readonly changes: Partial<EnvironmentSettings>;
      readonly at: Instant;
    }
  | {
      readonly type: 'SigningKeyRotated';
      readonly key: Sealed<string>;
      readonly previousUntil: Instant;
      readonly at: Instant;
    }
  | { readonly type: 'EnvironmentDeletionBegun'; readonly at: Instant }
  | { readonly type: 'EnvironmentDeleted' };
