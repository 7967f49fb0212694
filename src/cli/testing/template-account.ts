import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { SyncStatus } from '#client/index.ts';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';
import { connectionOf } from '../fakes/project-fakes.ts';
import type { DeployedTemplate } from './template-world.ts';

/** A record as the API has it. */
export type StoredRecord = JsonObject & {
  readonly id: string;
  readonly _svc_metadata: { readonly deleted_at: string | null };
};

const lookAgainMs = 25;
/** Looks cost the gateway more than the run for which they wait: they become rare. */
const lookAgainMaxMs = 250;
/** A run that takes longer hangs: fixtures are small, and limits of the fake last up to two seconds. */
const runMaxMs = 90_000;
const looksMax = 40;

/** Response to a token that has ended. The first wait of a retry without `Retry-After` is 3 s. */
export const tokenEnded = {
  status: 401,
  headers: { 'retry-after': '0.05' },
  body: { error: 'unauthorized' },
};

/** Before the next look, a quarter longer than before the last one. */
const waitMs = (looks: number): number => Math.min(lookAgainMs * 1.25 ** looks, lookAgainMaxMs);

/** A new connection to the fake, in which one situation is played. */
export class TemplateAccount implements AsyncDisposable {
  readonly connectionId = `c-${randomUUID()}`;
  readonly #template: DeployedTemplate;
  readonly #firstRequest: number;
  #finishedAt: string | undefined;
  /** The failed run that was reported last. */
  #failedRun: string | undefined;

  constructor(template: DeployedTemplate) {
    this.#template = template;
    this.#template.fake.api.reset();
    this.#firstRequest = template.fake.played.asked.length;
  }

  get #names() {
    const { integrationKey } = this.#template.entry;
    return { provider_config_key: integrationKey, connection_id: this.connectionId };
  }

  get #headers() {
    const { integrationKey } = this.#template.entry;
    return { 'provider-config-key': integrationKey, 'connection-id': this.connectionId };
  }

  get #client() {
    return this.#template.gateway.client;
  }

  /** Whether the gateway gets a new token by itself when the provider answers 401. */
  get isRefreshed(): boolean {
    return ['OAUTH2', 'OAUTH2_CC', 'TWO_STEP'].includes(this.#template.fake.provider.auth_mode);
  }

  /** With credentials that the fake takes; again: replaces them. */
  async connect(metadata: JsonObject = {}): Promise<void> {
    const body = connectionOf(this.#template.fake, this.connectionId, metadata);
    await this.#client.request('POST /connections', { body });
  }

  /** Deletes the connection. */
  async disconnect(): Promise<void> {
    const query = { provider_config_key: this.#names.provider_config_key };
    const params = { connectionId: this.connectionId };
    await this.#client.request('DELETE /connections/{connectionId}', { params, query });
  }

  /** @throws Error if the run does not end, with why it failed */
  async sync(options: { readonly reset?: boolean } = {}): Promise<void> {
    await this.trigger(options);
    await this.finished();
  }

  async trigger({ reset = false }: { readonly reset?: boolean } = {}): Promise<void> {
    const { name } = this.#template.entry;
    const { finishedAt } = await this.#status();
    this.#finishedAt = finishedAt;
    const body = { ...this.#names, syncs: [name], opts: { reset } };
    await this.#client.request('POST /sync/trigger', { body });
  }

  /** Starts the schedule, as webhooks need it, with its first run. @throws Error as `sync` does */
  async start(): Promise<void> {
    const { finishedAt } = await this.#status();
    this.#finishedAt = finishedAt;
    const body = { ...this.#names, syncs: [this.#template.entry.name] };
    await this.#client.request('POST /sync/start', { body });
    await this.finished();
  }

  /**
   * Ends the run of a gateway that was killed, which would be started again a minute later, and triggers the next one:
   * it goes on from the checkpoint as that one would.
   */
  async resume(): Promise<void> {
    await this.until(() => this.#cancelLostRun(), 'the run of the killed gateway is not listed');
    await this.trigger();
  }

  async #cancelLostRun(): Promise<boolean> {
    const query = { ...this.#names, limit: 1 };
    const { data } = await this.#client.request('GET /runs', { query });
    const [run] = data;
    if (run?.status !== 'running') return false;
    await this.#client.request('POST /runs/{id}/cancel', { params: { id: run.id } });
    await this.until(
      async () => (await this.#status()).status !== 'RUNNING',
      'it is not cancelled',
    );
    return true;
  }

  /** The end of the run that was triggered. @throws Error why it failed */
  async finished(): Promise<void> {
    const since = performance.now();
    for (let looks = 0; ; looks += 1) {
      const status = await this.#status();
      const isDone = status.finishedAt !== this.#finishedAt && status.status !== 'RUNNING';
      if (isDone && status.latestExecutionStatus !== 'SUCCESS') throw await this.#failure();
      if (isDone && status.records_readable !== false) return;
      if (performance.now() - since > runMaxMs)
        throw new Error(`the run does not end; the fake was asked:\n${this.#requests()}`);
      await pause(waitMs(looks));
    }
  }

  async #status(): Promise<SyncStatus> {
    const { name } = this.#template.entry;
    const query = { ...this.#names, syncs: name };
    const { syncs } = await this.#client.request('GET /sync/status', { query });
    const [status] = syncs;
    if (status === undefined) throw new Error(`${name} has no status`);
    return status;
  }

  async #failure(): Promise<Error> {
    const query = { ...this.#names, limit: 1 };
    // The list of runs follows the run: an earlier failure may still be its newest one.
    for (let looks = 0; ; looks += 1) {
      const { data } = await this.#client.request('GET /runs', { query });
      const [run] = data;
      const error = run?.id === this.#failedRun ? null : run?.error;
      if (!isJsonObject(error) && looks < looksMax) {
        await pause(lookAgainMs);
        continue;
      }
      const { message = 'the run failed', location = null } = error ?? {};
      this.#failedRun = run?.id;
      return new Error(`${message} (${location}); the fake was asked:\n${this.#requests()}`);
    }
  }

  /** The last requests of the situation with their outcomes. */
  #requests(): string {
    const shownMax = 8;
    const { asked } = this.#template.fake.played;
    return asked
      .slice(this.#firstRequest)
      .slice(-shownMax)
      .map(({ method, path, body, outcome }) => `  ${outcome}: ${method} ${path} ${body}`)
      .join('\n');
  }

  async records(model: string): Promise<readonly StoredRecord[]> {
    const found: StoredRecord[] = [];
    const query = { model, limit: 1000 };
    const pages = this.#client.pages('GET /records', { query, headers: this.#headers });
    for await (const { records } of pages) found.push(...(records as readonly StoredRecord[]));
    return found;
  }

  /** What the caller of the action gets: status and body. */
  async act(input: unknown): Promise<{ readonly status: number; readonly body: JsonObject }> {
    const response = await this.#client.fetch('/action/trigger', {
      method: 'POST',
      headers: { ...this.#headers, 'content-type': 'application/json' },
      body: JSON.stringify({ action_name: this.#template.entry.name, input }),
    });
    return { status: response.status, body: (await response.json()) as JsonObject };
  }

  /** Sends what the provider would send for this connection. @throws Error where the gateway refuses it */
  async receiveWebhook(body: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const { integrationKey: uniqueKey } = this.#template.entry;
    const { data } = await this.#client.request('GET /integrations/{uniqueKey}', {
      params: { uniqueKey },
      query: { include: ['webhook'] },
    });
    const url = new URL(data.webhook_url ?? '/', this.#template.gateway.url);
    url.searchParams.set('svcConnectionId', this.connectionId);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    if (!response.ok) throw new Error(`the webhook was refused: ${await response.text()}`);
  }

  /** Looks again until it is so. @throws Error */
  async until(isMet: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const since = performance.now();
    for (let looks = 0; !(await isMet()); looks += 1) {
      if (performance.now() - since > runMaxMs) throw new Error(`${what}\n${this.#requests()}`);
      await pause(waitMs(looks));
    }
  }

  async metadata(): Promise<JsonObject> {
    const shown = await this.#client.request('GET /connections/{connectionId}', {
      params: { connectionId: this.connectionId },
      query: { provider_config_key: this.#template.entry.integrationKey },
    });
    return (shown as unknown as { readonly metadata: JsonObject }).metadata;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#template.fake.api.reset();
    // A situation that failed may have left no connection, or no gateway.
    await this.disconnect().catch(() => undefined);
  }
}
