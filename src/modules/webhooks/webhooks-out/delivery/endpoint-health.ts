import type { Logger } from 'pino';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import { joinKey } from '#kernel/ids.ts';
import { isToCome, minuteMs, type Clock, type Instant } from '#kernel/time.ts';
import { webhookEndpointRef } from '../../webhook-endpoints/entity.ts';
import type { WebhookEndpoint } from '../../webhook-endpoints/webhook-endpoint.ts';

/** Between two notes of failures of an endpoint by one process; failures in between are counted in memory. */
const noteEveryMs = 10 * minuteMs;
const actor = 'system';

interface UnnotedFailures {
  failures: number;
  /** Time of the last note. */
  notedAt: Instant;
  isNoting: boolean;
}

export interface EndpointHealthDeps {
  readonly control: Pick<ControlPlane, 'execute'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/**
 * Reports to the owner of an endpoint that it keeps failing, and that it works again; the owner disables it. A lost note costs
 * failures of ten minutes at most.
 */
export class EndpointHealth {
  readonly #deps: EndpointHealthDeps;
  readonly #byName = new Map<string, UnnotedFailures>();

  constructor(deps: EndpointHealthDeps) {
    this.#deps = deps;
  }

  /** @param endpoint as the attempt found it; null for an address that is never disabled */
  attempted(endpoint: WebhookEndpoint | null, isDelivered: boolean): void {
    if (endpoint === null) return;
    const name = joinKey(endpoint.environmentUid, endpoint.id);
    const known = this.#byName.get(name);
    if (isDelivered) this.#succeeded(name, endpoint, known);
    else this.#failed(name, endpoint, known);
  }

  #succeeded(name: string, endpoint: WebhookEndpoint, known: UnnotedFailures | undefined): void {
    if (known !== undefined) known.failures = 0;
    if (endpoint.failing == null || known?.isNoting === true) return;
    const unnoted = known ?? { failures: 0, notedAt: this.#deps.clock.now(), isNoting: false };
    this.#byName.set(name, unnoted);
    this.#note(unnoted, endpoint, { type: 'NoteSuccess' });
  }

  #failed(name: string, endpoint: WebhookEndpoint, known: UnnotedFailures | undefined): void {
    const now = this.#deps.clock.now();
    const unnoted = known ?? { failures: 0, notedAt: now - noteEveryMs, isNoting: false };
    unnoted.failures += 1;
    this.#byName.set(name, unnoted);
    const isEarly = isToCome(unnoted.notedAt + noteEveryMs, now, noteEveryMs);
    if (unnoted.isNoting || isEarly) return;
    const count = unnoted.failures;
    unnoted.failures = 0;
    unnoted.notedAt = now;
    this.#note(unnoted, endpoint, { type: 'NoteFailures', count });
  }

  #note(
    unnoted: UnnotedFailures,
    { environmentUid, id }: WebhookEndpoint,
    command: { readonly type: 'NoteSuccess' } | { readonly type: 'NoteFailures'; count: number },
  ): void {
    const { control, logger } = this.#deps;
    unnoted.isNoting = true;
    control
      .execute(webhookEndpointRef(environmentUid, id), command, { actor })
      .catch((err: unknown) => {
        logger.debug({ err, endpoint: id }, 'the outcomes of an endpoint were not noted');
      })
      .finally(() => {
        unnoted.isNoting = false;
      });
  }
}
