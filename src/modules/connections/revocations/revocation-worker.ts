import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { CommandOf } from '#control-plane/entity.ts';
import { limits } from '#kernel/limits.ts';
import type { AuditRecorder } from '#modules/access/audit/recorder.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { sealingContext } from '#modules/access/vault/vault.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { Operation, OperationLogs } from '#ports/operation-log.ts';
import { revocationEntity, revocationRef, type RevocationEntity } from './entity.ts';
import { beginOperation } from './log.ts';
import type { RevocationRequest } from './request.ts';
import type { Revocation } from './revocation.ts';
import { sendRevocation, type RevocationOutcome } from './send.ts';

export interface RevocationDeps extends SealedEntities {
  readonly http: HttpClient;
  readonly logs: OperationLogs;
  readonly audit: Pick<AuditRecorder, 'happened'>;
  readonly logger: Logger;
  readonly faultPoint?: (name: string) => void | Promise<void>;
}

/** Revocations of one node at once: a provider that is slow holds up only some of the others. */
const lanesMax = 8;
const actor = 'system';

/** Asks providers to end the access of deleted connections; several nodes share the revocations. */
export function startRevocationWorker(deps: RevocationDeps): AsyncDisposable {
  const { control, logger } = deps;
  const lanes: Promise<void>[] = Array.from({ length: lanesMax }, () => Promise.resolve());
  let isEnding = false;
  let taken = 0;
  const enqueue = (task: () => Promise<void>): void => {
    const lane = taken++ % lanesMax;
    lanes[lane] = (lanes[lane] ?? Promise.resolve())
      .then(() => (isEnding ? undefined : task()))
      .catch((err: unknown) => logger.warn({ err }, 'a revocation was left'));
  };
  const takeUp = (state: Revocation): void => {
    if (state.status === 'due') enqueue(() => attempt(deps, state));
    if (state.status === 'left') enqueue(() => forget(deps, state));
  };
  const stop = control.view.onChange([revocationEntity], (changed) => {
    for (const ref of changed) {
      const found = control.view.find(ref);
      if (found !== null) takeUp(found);
    }
  });
  for (const { state } of control.view.list(revocationEntity, [])) takeUp(state);
  return {
    async [Symbol.asyncDispose]() {
      stop();
      isEnding = true;
      await Promise.all(lanes);
    },
  };
}

/** Intent, provider, outcome. An attempt without an outcome is repeated when its lease has ended. */
async function attempt(deps: RevocationDeps, due: Revocation): Promise<void> {
  const token = randomUUID();
  const ref = revocationRef(due);
  const execute = (body: CommandOf<RevocationEntity>) => deps.control.execute(ref, body, { actor });
  const begun = await execute({ type: 'Begin', token });
  if (begun?.token !== token || begun.request === null) return;
  const operation = beginOperation(deps, begun);
  await deps.faultPoint?.('revocation:after-intent');
  const request = await openedRequest(deps, begun.uid, begun.environmentUid, begun.request);
  const outcome = await sendRevocation(deps.http, request);
  await deps.faultPoint?.('revocation:after-call');
  if (outcome.kind === 'unavailable' && begun.attempts < limits.revocationAttemptsMax) {
    operation.write('warn', `${sentenceOf(outcome)} It is asked again.`);
    await execute({ type: 'Postpone', token });
    return;
  }
  await noteEnd(deps, operation, begun, outcome);
  const ended = await execute({ type: 'End', token });
  if (ended !== null) await forget(deps, ended);
}

async function openedRequest(
  { vault }: RevocationDeps,
  uid: string,
  environmentUid: string,
  sealed: NonNullable<Revocation['request']>,
): Promise<RevocationRequest> {
  await vault.ready(uid);
  const context = sealingContext(environmentUid, uid, 'revocation');
  return vault.open(uid, sealed, context) as RevocationRequest;
}

/** Destroys the key of the request, then the rest. */
async function forget(deps: RevocationDeps, state: Revocation): Promise<void> {
  const { control, vault, faultPoint } = deps;
  const { uid } = state;
  await faultPoint?.('revocation:before-shred');
  await vault.shred(uid);
  await control.execute(revocationRef(state), { type: 'Remove', uid }, { actor });
}

async function noteEnd(
  { audit }: RevocationDeps,
  operation: Operation,
  { environmentUid, integrationKey, connectionId, provider, attempts }: Revocation,
  outcome: RevocationOutcome,
): Promise<void> {
  const isGone = outcome.kind === 'revoked' || outcome.kind === 'ended';
  operation.end(isGone ? 'success' : 'failed', sentenceOf(outcome));
  const { providerStatus: provider_status, code } = outcome;
  await audit.happened(environmentUid, {
    actor,
    action: 'connection.revoke',
    target: `${integrationKey}/${connectionId}`,
    outcome: isGone ? 'success' : `revocation_${outcome.kind}`,
    ip_prefix: null,
    details: JSON.stringify({ provider, provider_status, code, attempts }),
  });
}

function sentenceOf({ kind, providerStatus, code }: RevocationOutcome): string {
  const response = [providerStatus, code].filter((part) => part !== null).join(', ');
  const suffix = response === '' ? '' : ` (${response})`;
  switch (kind) {
    case 'revoked':
      return `The provider revoked the access${suffix}.`;
    case 'ended':
      return `The access had ended at the provider before${suffix}.`;
    case 'refused':
      return `The provider refused to revoke the access${suffix}; remove it there.`;
    case 'unavailable':
      return `The provider could not be asked to revoke the access${suffix}.`;
  }
}
