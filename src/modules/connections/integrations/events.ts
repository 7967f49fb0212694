import type { Instant } from '../../../kernel/time.ts';
import type { Integration } from './state.ts';

/** What a caller may change without renaming. */
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
  /** It goes on under another key. */
  | { readonly type: 'IntegrationRenamed' }
  | { readonly type: 'IntegrationDeletionBegun'; readonly at: Instant }
  | { readonly type: 'IntegrationDeleted' };
