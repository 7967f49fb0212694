import { platform, release } from 'node:os';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import type { Services } from '#api/services.ts';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { Ports } from '#control-plane/ports.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { resumeDeletions } from '#modules/access/environments/deletion.ts';
import { keepRewrapping } from '#modules/access/root-keys/handlers.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import {
  startTokenRefreshes,
  reverifyCredentials,
} from '#modules/connections/connections/token-refresh.ts';
import { startRevocationWorker } from '#modules/connections/revocations/revocation-worker.ts';
import { extensions } from '#modules/extensions/registered.ts';
import { startLifecycleHooks } from '#modules/functions/actions/lifecycle-functions.ts';
import { startDeploymentWorker } from '#modules/functions/deployments/deployment-worker.ts';
import { functionEntity } from '#modules/functions/functions/entity.ts';
import { hasFunctions } from '#modules/functions/functions/queries.ts';
import { createTimelines } from '#modules/functions/runs/ledger/timeline.ts';
import { startFunctionRunner } from '#modules/functions/runs/runner/function-run.ts';
import { openHost } from '#modules/functions/runs/runtime/open-host.ts';
import { startSyncInstances } from '#modules/functions/syncs/reconcile.ts';
import { openOperatorRequests } from '#modules/operations/consumer-groups/handlers.ts';
import { startCommandRetries } from '#modules/operations/dead-letters/handlers.ts';
import { startIncomingWebhooks } from '#modules/webhooks/webhooks-in/incoming-webhook.ts';
import { startAuthWebhooks } from '#modules/webhooks/webhooks-out/auth-webhooks.ts';
import { startSyncWebhooks } from '#modules/webhooks/webhooks-out/sync-webhook.ts';
import { startWebhookDeliveries } from '#modules/webhooks/webhooks-out/webhook-delivery.ts';
import type { Metrics } from '#ports/metrics.ts';
import type { OperationLogs } from '#ports/operation-log.ts';
import type { FailureKind, Sandbox } from '#ports/sandbox.ts';
import type { ConsumerGroupName } from '#streams/consumer-groups.ts';
import type { Config } from '../config/config.ts';
import { version } from '../config/version.ts';
import { createFaultPoint } from '../process/fault-points.ts';
import type { ProcessContext } from '../process/process-context.ts';
import type { OpenedServices } from './open-services.ts';

const resumeEveryMs = 60_000;

/** Starts the reactors: runs, webhooks, and the completion of interrupted deletions. */
export async function startReactors(
  stack: AsyncDisposableStack,
  { config, clock, logger, log: { log, schemas } }: ProcessContext,
  opened: OpenedServices,
): Promise<void> {
  const { services } = opened;
  const { control, vault, logs, publisher, deadLetters } = services;
  const common = { log, schemas, control, vault, publisher, logs, clock, logger };
  const operatorRequests = (group: ConsumerGroupName) => openOperatorRequests(services, group);
  const { roles } = config;
  if (roles.has('webhooks')) {
    await startWebhooks(stack, services, common);
    const faultPoint = createFaultPoint(config.faultPoint);
    for (const extension of extensions) {
      const started = await extension.start?.({ ...services, faultPoint });
      if (started !== undefined) stack.use(started);
    }
  }
  if (roles.has('runner')) await startRuns(stack, opened, common, config.faultPoint);
  if (roles.has('api')) {
    const retryDeps = {
      ...common,
      deadLetters,
      operatorRequests: operatorRequests('svc.command-retries'),
    };
    stack.use(await startCommandRetries(retryDeps));
    stack.use(keepRewrapping(services));
    stack.use(startDeploymentWorker(services));
    keepFinishingDeletions(stack, services);
  }
}

interface ReactorServices extends Ports, SealedEntities {
  readonly publisher: Publisher;
  readonly logs: OperationLogs;
}

/** Runs of functions, and what creates them. */
async function startRuns(
  stack: AsyncDisposableStack,
  { services, payloads, direct }: OpenedServices,
  common: ReactorServices,
  faultPoint: Config['faultPoint'],
): Promise<void> {
  const { records } = services;
  const operatorRequests = (group: ConsumerGroupName) => openOperatorRequests(services, group);
  const sandbox = observeSandbox(await openSandboxFor(stack, common.control), services.metrics);
  const timelines = stack.use(createTimelines(common));
  const { refresher } = services;
  const refreshes = operatorRequests('svc.token-refreshes');
  const retest = (connection: Connection) => reverifyCredentials(services, connection);
  stack.use(
    await startTokenRefreshes({ ...common, refresher, retest, operatorRequests: refreshes }),
  );
  stack.use(startRevocationWorker({ ...services, faultPoint: createFaultPoint(faultPoint) }));
  stack.use(
    await startSyncInstances({
      ...common,
      operatorRequests: operatorRequests('svc.sync-instances'),
    }),
  );
  const hooks = {
    ...common,
    runs: services.runs,
    operatorRequests: operatorRequests('svc.lifecycle-hooks'),
  };
  stack.use(await startLifecycleHooks(hooks));
  stack.use(
    await startFunctionRunner({
      ...common,
      records: records.writer,
      sandbox,
      timelines,
      payloads,
      direct,
      faultPoint: createFaultPoint(faultPoint),
      coordination: services.coordination,
      operatorRequests: operatorRequests('svc.runners'),
      openHost: (run) => openHost(services, run),
    }),
  );
}

/** Without a function there is no process; it starts once a function is deployed. */
async function openSandboxFor(
  stack: AsyncDisposableStack,
  control: ControlPlane,
): Promise<Sandbox> {
  const sandbox = stack.use(await openSandbox({ isOnDemand: !hasFunctions(control) }));
  stack.defer(control.view.onChange([functionEntity], () => sandbox.warm()));
  return sandbox;
}

/** Creates the webhooks to the application and sends them. */
async function startWebhooks(
  stack: AsyncDisposableStack,
  services: Services,
  common: ReactorServices,
): Promise<void> {
  const { http, deliveries, records, coordination } = services;
  const operatorRequests = (group: ConsumerGroupName) => openOperatorRequests(services, group);
  const userAgent = `svc/${version()} (${platform()}/${release()}; node)`;
  const sending = { ...common, http, deliveries, coordination, userAgent };
  stack.use(
    await startWebhookDeliveries({
      ...sending,
      operatorRequests: operatorRequests('svc.webhook-deliveries'),
    }),
  );
  const { reader } = records;
  stack.use(
    await startSyncWebhooks({
      ...common,
      reader,
      operatorRequests: operatorRequests('svc.sync-webhooks'),
    }),
  );
  stack.use(
    await startAuthWebhooks({ ...common, operatorRequests: operatorRequests('svc.auth-webhooks') }),
  );
  const incoming = { ...services, operatorRequests: operatorRequests('svc.incoming-webhooks') };
  stack.use(await startIncomingWebhooks(incoming));
}

function keepFinishingDeletions(stack: AsyncDisposableStack, services: Services): void {
  const resume = () =>
    void resumeDeletions(services).catch((err: unknown) => {
      services.logger.warn({ err }, 'a deletion could not be finished yet');
    });
  const timer = setInterval(resume, resumeEveryMs).unref();
  stack.defer(() => clearInterval(timer));
  resume();
}

/** Failures that the sandbox causes by ending a run. */
const kills: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'memory',
  'timeout',
  'aborted',
  'limit',
  'output_too_large',
  'interrupted',
]);

/** The sandbox, with the runs that it ended counted. */
function observeSandbox(sandbox: Sandbox, metrics: Metrics): Sandbox {
  return {
    run: async (...args) => {
      const result = await sandbox.run(...args);
      if (result.status === 'error' && kills.has(result.error.kind)) {
        metrics.count('svc_sandbox_kills_total', [result.error.kind]);
      }
      return result;
    },
    describe: (...supplied) => sandbox.describe(...supplied),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}
