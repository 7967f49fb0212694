import type { Instant } from '#kernel/time.ts';
import type { Integration } from './state.ts';

/** Changes of an integration other than a rename. */
export type IntegrationSettings = Pick<
  Integration,
  'displayName' | 'forwardWebhooks' | 'credentials' | 'integrationConfig' | 'custom'
>;

export type IntegrationEvent =
  | { readonly type: 'IntegrationCreated'; readonly integration: Integration }
  | {
      readonly type: 'IntegrationChanged';
      readonly changes: Partial<IntegrationSettings>;
      readonly at: Instant;
    }
  /** The key was renamed. */
  | { readonly type: 'IntegrationRenamed' }
  | { readonly type: 'IntegrationDeletionBegun'; readonly at: Instant }
  | { readonly type: 'IntegrationDeleted' };
