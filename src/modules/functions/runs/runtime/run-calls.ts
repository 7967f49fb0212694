import { GatewayError } from '../../../../kernel/errors.ts';
import type { HostCalls } from '../../../../ports/sandbox.ts';
import { parseArgs, shapes } from './arguments.ts';
import type { RuntimeDeps } from './deps.ts';

/** Maximum call depth of actions (docs/reference/limits.md#runs). */
const depthMax = 8;

type Calls = Pick<HostCalls, 'triggerAction' | 'triggerSync' | 'startSync'>;

/** The calls that start other functions of the environment. */
export function runCalls(deps: RuntimeDeps): Calls {
  const { run, syncs, signal } = deps;
  return {
    triggerAction: async (args) => {
      const { providerConfigKey, connectionId, name, input } = parseArgs(
        shapes.triggerAction,
        args,
      );
      if (run.depth >= depthMax) {
        const message = `Actions can call one another at most ${depthMax} levels deep.`;
        throw new GatewayError('resource_capped', { message });
      }
      const output = await deps.triggerAction(
        {
          integrationKey: providerConfigKey ?? run.integrationKey,
          connectionId: connectionId ?? run.connectionId,
          name,
          input,
          depth: run.depth + 1,
        },
        signal,
      );
      return JSON.stringify({ output });
    },
    triggerSync: async (args) => {
      const call = parseArgs(shapes.triggerSync, args);
      const { providerConfigKey: integrationKey, connectionId, name, variant = null } = call;
      await syncs.trigger({ integrationKey, connectionId, name, variant }, call.options);
      return 'null';
    },
    startSync: async (args) => {
      const call = parseArgs(shapes.startSync, args);
      const { providerConfigKey: integrationKey, connectionId = null } = call;
      await syncs.start({ integrationKey, connectionId }, call.names);
      return 'null';
    },
  };
}
