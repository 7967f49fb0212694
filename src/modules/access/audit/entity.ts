import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import {
  auditChain,
  type AuditCommand,
  type AuditChainEvent,
  type AuditChain,
} from './audit-chain.ts';

export interface AuditChainEntity {
  readonly kind: 'audit-chain';
  readonly state: AuditChain;
  readonly command: AuditCommand;
  readonly event: AuditChainEvent;
  readonly topic: 'svc.audit.v1';
}

/** @param environment uid, or `account` */
export const auditChainRef = (environment: string): EntityRef<AuditChainEntity> => ({
  kind: 'audit-chain',
  scope: environment,
  path: [environment],
});

/** The owner of the environment keeps the end of its chain, and publishes each event at its position. */
export const auditChainEntity: EntityDefinition<AuditChainEntity> = {
  kind: 'audit-chain',
  decider: auditChain,

  publishes: { 'svc.audit.v1': true },
  publish({ entry, hash }) {
    const { environment, occurred_at, seq, actor: _actor, ...value } = entry;
    return [
      {
        topic: 'svc.audit.v1',
        key: environment,
        type: 'svc.audit.event',
        environmentUid: environment,
        at: occurred_at,
        value: { ...value, chain_seq: seq, chain_hash: hash },
      },
    ];
  },
};
