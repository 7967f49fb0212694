import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';

/** What is deployed: the mapping, and the table that its rows make. */
export interface ProjectionVersion {
  /** Label shown to people. */
  readonly label: string;
  /** CommonJS bundle that the sandbox evaluates. */
  readonly bundle: string;
  readonly models: readonly string[];
  /** Null = of all integrations. */
  readonly integrations: readonly string[] | null;
  /** Each with its type in ClickHouse. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly key: readonly string[];
}

/** Scope: `projections`, as the projections themselves. Path: [environment uid, name]. */
export interface CustomProjection {
  /** Names its tables: a projection that is deleted and deployed again has others. */
  readonly uid: string;
  readonly environmentUid: string;
  readonly name: string;
  /** Name of the projection among all of the service, such as `dev.contacts`. */
  readonly projection: string;
  readonly description: string;
  /** TypeScript of the entry file. */
  readonly source: string;
  /** SHA-256 of what is deployed: unchanged = no-op on deploy. */
  readonly contentHash: string;
  /** Number of the newest version: the `schemaVersion` of generations that are built with it. */
  readonly latest: number;
  /** By number: the newest one, and those of generations that exist. */
  readonly versions: Readonly<Record<string, ProjectionVersion>>;
  readonly deployedAt: Instant;
}

export type CustomProjectionEvent =
  | { readonly type: 'CustomProjectionDeployed'; readonly deployed: CustomProjection }
  | { readonly type: 'CustomProjectionDeleted' };

/** Facts that the owner adds: `at`, the versions that generations use, and the number of others. */
export type CustomProjectionCommand =
  | {
      readonly type: 'Deploy';
      /** The number that this version gets. */
      readonly number: number;
      readonly version: ProjectionVersion;
      readonly parts: Pick<
        CustomProjection,
        'uid' | 'environmentUid' | 'name' | 'projection' | 'description' | 'source' | 'contentHash'
      >;
      readonly versionsInUse: readonly number[];
      readonly othersInEnvironment: number;
      readonly at: Instant;
    }
  | { readonly type: 'Delete'; readonly at: Instant };

export const customProjection: Decider<
  CustomProjection | null,
  CustomProjectionCommand,
  CustomProjectionEvent
> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Delete') {
      if (state !== null) return [{ type: 'CustomProjectionDeleted' }];
      throw new GatewayError('not_found', { message: 'The projection does not exist.' });
    }
    const { number, version, parts, versionsInUse, at } = command;
    if (number !== (state?.latest ?? 0) + 1) {
      const message = `The projection "${parts.name}" is being deployed by another request.`;
      throw new GatewayError('conflict', { message });
    }
    if (command.othersInEnvironment >= limits.customProjectionsMax) {
      const message = `An environment has at most ${limits.customProjectionsMax} projections of projects.`;
      throw new GatewayError('resource_capped', { message });
    }
    const used = Object.entries(state?.versions ?? {}).filter(([one]) =>
      versionsInUse.includes(Number(one)),
    );
    const deployed: CustomProjection = {
      ...parts,
      uid: state?.uid ?? parts.uid,
      latest: number,
      versions: { ...Object.fromEntries(used), [number]: version },
      deployedAt: at,
    };
    return [{ type: 'CustomProjectionDeployed', deployed }];
  },

  evolve: (_state, event) => (event.type === 'CustomProjectionDeployed' ? event.deployed : null),
};
