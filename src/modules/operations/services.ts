import { routesWith } from '#http/define-route.ts';
import type { AddressSettings, CommonServices } from '#modules/access/services.ts';
import type { ProviderAccess } from '#modules/connections/services.ts';
import type { FunctionParts, ReleaseSettings } from '#modules/functions/services.ts';
import type { PartitionSettings, RecordParts } from '#modules/records/services.ts';
import type { WebhookParts } from '#modules/webhooks/services.ts';
import type { Mailer } from '#ports/mailer.ts';
import type { Metrics } from '#ports/metrics.ts';
import type { CallerQueries } from '#ports/projection-store.ts';
import type { ProjectionTables } from '#streams/projector/define.ts';
import type { DeadLetters } from './dead-letters/view.ts';
import type { AddedTopics } from './topics/catalogue.ts';

export interface OperationParts {
  readonly deadLetters: DeadLetters;
  /** Null: the operator has set no mail server. */
  readonly mailer: Mailer | null;
  /** Names of the providers that optional parts have opened; none in a gateway that others can reach. */
  readonly addedProviders: ReadonlySet<string>;
  /** Of the optional parts. */
  readonly addedTopics: readonly AddedTopics[];
  /** Every projection of the service. */
  readonly projections: readonly ProjectionTables[];
}

/** What this process reports of itself. */
export interface ProcessReports {
  /** The metrics of all threads as one text. */
  readonly scrape: () => Promise<{ readonly text: string; readonly mediaType: string }>;
  /** Reasons why this node is not ready; empty = ready. */
  readonly readiness: () => readonly string[];
}

export interface TopicSettings {
  /** Replaces the first word `svc` in the topic names of the log. */
  readonly topicPrefix: string;
}

export type OperationsSettings = AddressSettings &
  PartitionSettings &
  ReleaseSettings &
  TopicSettings;

/** Services of the routes of this wing. */
export type OperationsServices = CommonServices &
  ProviderAccess &
  RecordParts &
  FunctionParts &
  WebhookParts &
  OperationParts &
  ProcessReports & {
    readonly metrics: Metrics;
    readonly settings: OperationsSettings;
    readonly tables: CallerQueries;
  };

export const defineRoute = routesWith<OperationsServices>();
