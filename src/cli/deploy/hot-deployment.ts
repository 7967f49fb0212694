import { ApiError, type Client } from '#client/index.ts';
import { limits } from '#kernel/limits.ts';
import type { CompiledFunction, CompiledProjection } from '../compiler/compile.ts';
import { withIntegrations, type LocalProject } from './missing-integrations.ts';
import {
  deployRequest,
  flowConfig,
  previewRequest,
  projectScope,
  type PreviewRequest,
} from './package.ts';
import { isDestructive } from './plan.ts';
import { performProjections, planProjections } from './projections.ts';

/**
 * Deploys functions and projections to a gateway as they change. Adds and updates only: removal is left to `svc deploy`, which
 * asks.
 */
export class HotDeployment {
  readonly #client: Client;
  /** What was deployed from here, by file. */
  readonly #sent = new Map<string, string>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Resolves with the functions that were new or changed for the gateway. @throws ApiError */
  async bring(project: LocalProject): Promise<CompiledFunction[]> {
    const fresh = await withIntegrations(this.#client, project, () =>
      this.#deploy(project.functions),
    );
    if (fresh.length > 0) await this.#keepLogs(project.functions);
    return fresh;
  }

  /** Resolves with those that were new or changed since the last time. @throws ApiError */
  async bringProjections(
    projections: readonly CompiledProjection[],
  ): Promise<CompiledProjection[]> {
    const contentOfOne = ({ bundle, source }: CompiledProjection): string => bundle + source;
    const fresh = projections.filter((one) => this.#sent.get(one.entry.file) !== contentOfOne(one));
    const plan = await planProjections(this.#client, fresh, false);
    if (plan === null) return [];
    await performProjections(this.#client, fresh, plan);
    for (const one of fresh) this.#sent.set(one.entry.file, contentOfOne(one));
    return fresh;
  }

  /** All lines of functions in the making are of interest. A key that may not choose it changes nothing. */
  async #keepLogs(functions: readonly CompiledFunction[]): Promise<void> {
    const body = {
      minutes: limits.allLogsMinutesMax,
      functions: functions.map(({ entry }) => ({
        integration_id: entry.integrationKey,
        type: entry.kind,
        name: entry.name,
      })),
    };
    await this.#client.request('POST /logs/keep', { body }).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
    });
  }

  async #deploy(functions: readonly CompiledFunction[]): Promise<CompiledFunction[]> {
    const fresh = functions.filter((one) => this.#sent.get(nameOf(one)) !== contentOf(one));
    if (fresh.length === 0) return [];
    const scope = projectScope(functions);
    const isWhole = fresh.length === functions.length;
    if (isWhole && (await this.#removesNothing(previewRequest(scope, functions)))) {
      const whole = deployRequest(scope, functions);
      await this.#client.request('POST /functions/deployments/bundle', { body: whole });
      for (const one of fresh) this.#sent.set(nameOf(one), contentOf(one));
      return fresh;
    }
    for (const one of fresh) {
      const { integrationKey: integrationId, name, kind: type } = one.entry;
      const body = deployRequest({ kind: 'function', integrationId, name, type }, [one]);
      await this.#client.request('POST /functions/deployments/bundle', { body });
      this.#sent.set(nameOf(one), contentOf(one));
    }
    return fresh;
  }

  async #removesNothing(body: PreviewRequest): Promise<boolean> {
    const path = 'POST /functions/deployments/bundle/preview';
    return !isDestructive(await this.#client.request(path, { body }));
  }
}

const nameOf = ({ entry }: CompiledFunction): string => entry.file;
const contentOf = (one: CompiledFunction): string => JSON.stringify(flowConfig(one));
