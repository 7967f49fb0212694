import type { Micros } from './time.ts';

/** The fields that every value of a public topic begins with (docs/reference/topics.md#values-of-the-public-topics). */
export interface PublicFields {
  /** As `ce_id`: readers de-duplicate on it. */
  readonly event_id: string;
  /** As `ce_type`. */
  readonly type: string;
  readonly occurred_at: Micros;
  readonly environment_id: string;
  readonly integration: string | null;
  readonly connection_id: string | null;
  /** `key:…`, `user:…`, `run:…` or `system`. */
  readonly actor: string;
  readonly run_id: string | null;
}
