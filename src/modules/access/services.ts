import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { Ports } from '#control-plane/ports.ts';
import { routesWith } from '#http/define-route.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { Metrics } from '#ports/metrics.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import type { AuditRecorder } from './audit/recorder.ts';
import type { EnvironmentDependents } from './environments/dependents.ts';
import type { RootKeyRing } from './vault/open-vault.ts';
import type { Vault } from './vault/vault.ts';

/** Services of the handlers of this wing, created by the composition root. Each wing extends those before it. */
export interface AccessServices extends Ports {
  readonly control: ControlPlane;
  /** Queries of the tables beside those of `records.reader`. */
  readonly tables: Pick<ProjectionStore, 'queryRows'>;
  readonly vault: Vault;
  readonly rootKeys: RootKeyRing;
  readonly coordination: Coordination;
  readonly http: HttpClient;
  readonly audit: AuditRecorder;
  /** The state of other wings in environments, in the order of deletion. */
  readonly environmentDependents: readonly EnvironmentDependents[];
  readonly metrics: Metrics;
  readonly settings: {
    /** The address of the server itself when none is set; empty until it listens. */
    publicUrl: string;
    /** Origins whose pages may frame the connect page, in the syntax of Content-Security-Policy. */
    readonly connectOrigins: readonly string[];
    readonly rateLimitPerMinute: number;
    /** Whether this process refuses every write. */
    readonly isReadOnly: boolean;
    /** Of one proxied call, all of its attempts together. */
    readonly proxyTimeoutSeconds: number;
    /** Whether webhooks of providers beyond the limit are refused, or only counted. */
    readonly webhookRateLimit: 'count' | 'enforce';
    /** Limit per integration of stored webhooks that name a connection and are not verified. */
    readonly webhookUnsignedMbPerHour: number;
    /** Of this package. */
    readonly version: string;
    /** The earliest release that can open what this one writes. */
    readonly floor: string;
    /** Of the owned topics. */
    readonly partitions: number;
    /** Replaces the first word `svc` in the topic names of the log. */
    readonly topicPrefix: string;
  };
}

export const defineRoute = routesWith<AccessServices>();
