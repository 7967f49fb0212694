import { notMapped, type RunContext } from '#ports/sandbox.ts';

/** No mapping sees any of it. */
export const mappingContext: RunContext = {
  connectionId: '',
  providerConfigKey: '',
  provider: '',
  environmentName: '',
  environmentId: 0,
  variant: 'base',
  lastSyncDate: null,
  models: [],
  loggerLevel: 'off',
  paginate: null,
  validation: 'off',
  inputValidation: 'off',
};

/**
 * Stands after the bundle of a projection and makes an action of it that maps changes: a line for each (`ChangeMapper`). It is
 * no part of the script that every realm holds. A mapping that throws on one change holds up no other.
 */
export const mappingDriver = `{
const projection = module.exports.default ?? module.exports;
const columns = Object.keys(projection.row.shape);
const check = (row) => {
  const { error } = projection.row.safeParse(row);
  if (error === undefined) return;
  const issues = error.issues.slice(0, 5).map(({ path, message }) => path.join('.') + ': ' + message);
  throw new Error('The row does not fit: ' + issues.join('; '));
};
const lineOf = (change) => {
  try {
    const rows = [projection.map(change) ?? []].flat();
    rows.forEach(check);
    return JSON.stringify(columns.map((column) => rows.map((row) => row[column] ?? null)));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return '${notMapped}' + message.replaceAll(/\\s+/g, ' ').slice(0, 500);
  }
};
module.exports = {
  type: 'action',
  exec: (svc, changes) => JSON.parse(changes).map(lineOf).join('\\n'),
};
}`;
