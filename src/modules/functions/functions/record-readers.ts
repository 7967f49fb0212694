import type { DeployPlan } from './presenter.ts';

/** Who reads records of a model, by name: as far as this gateway knows. */
export type FindRecordReaders = (
  environmentUid: string,
  integrationKey: string,
  model: string,
) => DeployPlan['breaking'][number]['readers'];
