import type { Logger } from 'pino';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import type { Clock } from '../kernel/time.ts';
import type { AuditRecorder } from '../modules/access/audit/recorder.ts';
import type { OpenedConnections } from '../modules/connections/connections/opened-connections.ts';
import type { Refresher } from '../modules/connections/connections/refresher.ts';
import type { RootKeyRing } from '../modules/connections/credentials/open-vault.ts';
import type { Vault } from '../modules/connections/credentials/vault.ts';
import type { DeadLetters } from '../modules/operations/dead-letters/view.ts';
import type { ProviderCatalogue } from '../modules/connections/providers/catalogue.ts';
import type { ConnectionFinder } from '../modules/webhooks/webhooks-in/find-connections.ts';
import type { ProviderKeys } from '../modules/webhooks/webhooks-in/provider-keys.ts';
import type { IncomingWebhooks } from '../modules/webhooks/webhooks-in/incoming.ts';
import type { Deliveries } from '../modules/webhooks/webhooks-out/deliveries.ts';
import type { ReadableRuns } from '../modules/records/readable.ts';
import type { RecordReader } from '../modules/records/reader.ts';
import type { RecordWriter } from '../modules/records/writer.ts';
import type { Publisher } from '../modules/functions/runs/publisher.ts';
import type { RunsClient } from '../modules/functions/runs/client.ts';
import type { RunLogs } from '../modules/functions/runs/run-log.ts';
import type { Coordination } from '../ports/coordination.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { HttpClient } from '../ports/http-client.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { ProjectionStore } from '../ports/projection-store.ts';
import type { Schemas } from '../ports/schemas.ts';

/** What handlers of routes may use; made by the composition root. */
export interface Services {
  readonly control: ControlPlane;
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly publisher: Publisher;
  readonly deadLetters: DeadLetters;
  /** Webhooks to the application, and what became of them. */
  readonly deliveries: Deliveries;
  /** Webhooks of providers, and what became of them. */
  readonly incoming: IncomingWebhooks;
  readonly connectionFinder: ConnectionFinder;
  readonly providerKeys: ProviderKeys;
  /** Questions to the tables beside those of `records.reader`. */
  readonly tables: Pick<ProjectionStore, 'queryRows'>;
  readonly vault: Vault;
  readonly rootKeys: RootKeyRing;
  readonly providers: ProviderCatalogue;
  readonly records: { readonly reader: RecordReader; readonly writer: RecordWriter };
  readonly readableRuns: ReadableRuns;
  readonly runs: RunsClient;
  readonly coordination: Coordination;
  readonly http: HttpClient;
  readonly refresher: Refresher;
  readonly openedConnections: OpenedConnections;
  readonly logs: RunLogs;
  readonly audit: AuditRecorder;
  readonly metrics: Metrics;
  /** The figures of all threads as one text. */
  scrape(): Promise<{ readonly text: string; readonly mediaType: string }>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: {
    /** The address of the server itself when none is set; empty until it listens. */
    publicUrl: string;
    /** Whose pages may frame the connect page: origins as a Content-Security-Policy takes them. */
    readonly connectOrigins: readonly string[];
    readonly rateLimitPerMinute: number;
    /** Of one proxied call, all of its attempts together. */
    readonly proxyTimeoutSeconds: number;
    /** Whether webhooks of providers beyond the limit are refused, or only counted. */
    readonly webhookRateLimit: 'count' | 'enforce';
    /** Kept for one integration of webhooks that name a connection and that nothing vouches for. */
    readonly webhookUnsignedMbPerHour: number;
    /** Of this package. */
    readonly version: string;
    /** Of the owned topics. */
    readonly partitions: number;
    /** Stands in the log for the first word `svc` of the names of topics. */
    readonly topicPrefix: string;
  };
  /** Reasons why this node cannot do its work; empty = ready. */
  readiness(): readonly string[];
}
