import type { Sealed } from '#kernel/ids.ts';
import type { Instant } from '#kernel/time.ts';

export interface IntegrationCredentials {
  readonly type: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes?: string;
  readonly webhookSecret?: string | null;
  readonly appId?: string;
  readonly appLink?: string;
  readonly privateKey?: string;
}

/** Scope = environment uid; path [environment uid, unique key]. */
export interface Integration {
  readonly uid: string;
  readonly environmentUid: string;
  readonly uniqueKey: string;
  readonly displayName: string;
  readonly provider: string;
  readonly forwardWebhooks: boolean;
  readonly credentials: Sealed<IntegrationCredentials> | null;
  readonly integrationConfig: Readonly<Record<string, string>>;
  readonly custom: Readonly<Record<string, string>>;
  readonly isDeleting: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}
