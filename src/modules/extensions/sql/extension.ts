import { entitiesOfEnvironment } from '#modules/access/environments/dependents.ts';
import { environmentEntity } from '#modules/access/environments/entity.ts';
import { customProjectionEntity } from '#modules/operations/custom-projections/entity.ts';
import { projectionEntity } from '#modules/operations/projections/entity.ts';
import type { Extension, ExtensionServices } from '../extension.ts';
import { sqlRoutes } from './routes.ts';
import { showViews } from './run-query.ts';
import { savedQueryEntity } from './saved-queries/entity.ts';
import { savedQueryRoutes } from './saved-queries/routes.ts';
import { scopeOf } from './views.ts';

export const sql: Extension = {
  routes: [...sqlRoutes, ...savedQueryRoutes],
  environmentDependents: (control) => [
    entitiesOfEnvironment(control, savedQueryEntity, { type: 'Delete' }),
  ],
  start: keepViews,
};

/**
 * Views that exist follow their environment and the active generations: readers that connect to the server itself find
 * them without a query of the API.
 */
function keepViews({ control, tables, logger }: ExtensionServices): AsyncDisposable {
  let work = Promise.resolve();
  const refresh = async (): Promise<void> => {
    const existing = new Set(await tables.shownScopes());
    const uids = control.view.list(environmentEntity, []).map(({ state: { uid } }) => uid);
    for (const uid of uids.filter((one) => existing.has(scopeOf(one))))
      await showViews({ control, tables }, uid);
    const scopes = new Set(uids.map(scopeOf));
    for (const scope of existing) if (!scopes.has(scope)) await tables.dropViews(scope);
  };
  const then = (): void => {
    work = work.then(refresh).catch((err: unknown) => {
      // The next query or change makes them.
      logger.warn({ err }, 'the views of SQL queries could not be brought up to date');
    });
  };
  const kinds = [projectionEntity, customProjectionEntity, environmentEntity];
  const stop = control.view.onChange(kinds, then);
  then();
  return {
    async [Symbol.asyncDispose]() {
      stop();
      await work;
    },
  };
}
