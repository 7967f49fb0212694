import type { Client } from '#client/index.ts';
import type { CompiledFunction } from '../compiler/compile.ts';
import {
  deployRequest,
  flowConfig,
  previewRequest,
  type PreviewRequest,
} from '../deploy/package.ts';
import { isDestructive } from '../deploy/plan.ts';

/**
 * Deploys functions to a gateway as they change. Adds and updates only: removal is left to `svc deploy`, which
 * asks.
 */
export class HotDeployment {
  readonly #client: Client;
  /** What was deployed from here, by function. */
  readonly #sent = new Map<string, string>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Resolves with the functions that were new or changed for the gateway. @throws ApiError */
  async bring(functions: readonly CompiledFunction[]): Promise<CompiledFunction[]> {
    const fresh = functions.filter((one) => this.#sent.get(nameOf(one)) !== contentOf(one));
    if (fresh.length === 0) return [];
    const scope = { kind: 'environment' } as const;
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
