import type { ApiClient, DeployRequest } from '../client.ts';
import type { CompiledFunction } from '../compiler/compile.ts';
import { flowConfig } from '../deploy/package.ts';
import { isDestructive } from '../deploy/plan.ts';

/**
 * Deploys functions to a gateway as they change. Adds and updates only: removal is left to `svc deploy`, which
 * asks.
 */
export class HotDeployment {
  readonly #client: ApiClient;
  /** What was deployed from here, by function. */
  readonly #sent = new Map<string, string>();

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Resolves with the functions that were new or changed for the gateway. @throws ApiError */
  async bring(functions: readonly CompiledFunction[]): Promise<CompiledFunction[]> {
    const fresh = functions.filter((one) => this.#sent.get(nameOf(one)) !== contentOf(one));
    if (fresh.length === 0) return [];
    const whole = { reconciliationScope: { kind: 'environment' }, functions } as const;
    if (fresh.length === functions.length && (await this.#removesNothing(whole))) {
      await this.#client.deploy(requestOf(whole));
      for (const one of fresh) this.#sent.set(nameOf(one), contentOf(one));
      return fresh;
    }
    for (const one of fresh) {
      const { integrationKey: integrationId, name, kind: type } = one.entry;
      const scope = { kind: 'function', integrationId, name, type } as const;
      await this.#client.deploy(requestOf({ reconciliationScope: scope, functions: [one] }));
      this.#sent.set(nameOf(one), contentOf(one));
    }
    return fresh;
  }

  async #removesNothing(deployment: Wanted): Promise<boolean> {
    return !isDestructive(await this.#client.previewDeploy(requestOf(deployment)));
  }
}

interface Wanted {
  readonly reconciliationScope: DeployRequest['reconciliationScope'];
  readonly functions: readonly CompiledFunction[];
}

const requestOf = ({ reconciliationScope, functions }: Wanted): DeployRequest => ({
  reconciliationScope,
  functions: functions.map(flowConfig),
});

const nameOf = ({ entry }: CompiledFunction): string => entry.file;
const contentOf = (one: CompiledFunction): string => JSON.stringify(flowConfig(one));
